"""Wheel brakes: outputs of the flight controller add to the rolling friction of contact points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.physics.contact import DOES_NOT_ROLL, ROLLING
from rosflight_py_sim.physics.surface_mix import mixed, servo_weights

BRAKE_PARAMETERS = ParameterTable(
    Parameter(
        "contact_braking_friction",
        [],
        "Friction coefficient that each point's brake adds to its rolling friction at full command; points beyond the "
        "end of the list have no brake",
        minimum=0.0,
        maximum=10.0,
        read_only=True,
    ),
    Parameter(
        "brake_mix",
        [],
        "Weight of each flight controller output, from output 0, in the brake command (0 to 1); outputs beyond the end "
        "of the list have no weight",
        minimum=-100.0,
        maximum=100.0,
        read_only=True,
    ),
    Parameter(
        "brake_offset",
        0.0,
        "Constant part of the brake command: 1 parks the vehicle; with brake_mix, the command of centred outputs",
        minimum=-100.0,
        maximum=100.0,
    ),
)


class Brakes:
    """Brakes the wheels among the contact points, without lag.

    The brake command is `brake_offset` plus the sum of the servo commands (`pulse_width.py`) weighted by `brake_mix`,
    limited to 0 to 1. The force of a braked wheel along its rolling direction is limited to (mu_r + command mu_b) f_n
    with the rolling friction mu_r, mu_b of `contact_braking_friction` and the load f_n, and like every contact force to
    Coulomb's friction cone (`contact.py`): a brake that needs more locks the wheel, which then slides.

    Attributes:
        is_used: whether any output brakes any wheel.
    """

    def __init__(self, values: Values, points: NDArray[np.float64]) -> None:
        """Set up from BRAKE_PARAMETERS; the rolling friction of the contact points (n, 6) is written.

        Raises:
            ParameterError: a list is longer than the number of outputs or points, or a braked point does not roll.
        """
        frictions = np.array(values["contact_braking_friction"], dtype=np.float64)
        if len(points) and len(frictions) > len(points):
            raise ParameterError(
                f"parameter 'contact_braking_friction': {len(frictions)} numbers given; allowed: at most "
                f"{len(points)}, one for each of contact_points"
            )
        braked = np.flatnonzero(frictions[: len(points)])
        for i in braked:
            if points[i, ROLLING] == DOES_NOT_ROLL:
                raise ParameterError(
                    f"parameter 'contact_braking_friction': {frictions[i]:g} given for point {i}, which does not roll; "
                    "allowed: 0 there, or a contact_rolling_friction for that point"
                )
        weights, of_points = servo_weights(values, "brake_mix"), np.zeros((len(points), 2))
        of_points[:, 0] = points[:, ROLLING]
        of_points[braked, 1] = frictions[braked]
        self.is_used = bool(np.any(frictions) and np.any(weights))
        self._weights = weights
        # The sum of the outputs, and the command.
        self._held = np.zeros(2)
        self._wheels = number(values, "brake_offset"), of_points, self._held, points
        self._pwm_us = np.zeros(len(weights))
        self._follow = self.bound_follow(self._pwm_us)
        self.release()

    @property
    def command(self) -> float:
        """The brake command, 0 to 1."""
        return float(self._held[1])

    def follow(self, pwm_us: Sequence[float]) -> None:
        """Brake according to the pulse widths of the 14 outputs, us."""
        self._pwm_us[:] = pwm_us
        self._follow()

    def bound_follow(self, pwm_us: NDArray[np.float64]) -> Callable[[], None]:
        """`follow` as a kernel for the pulse widths in an array (14,), which works on it by its memory."""
        return bound(brake, self._weights, *self._wheels, pwm_us)

    def release(self) -> None:
        """Brake as without outputs: by the constant part of the command."""
        press_brakes(*self._wheels, 0.0)

    def adopt(self, other: Brakes) -> None:
        """Brake by the outputs that the other brakes followed last."""
        press_brakes(*self._wheels, float(other._held[0]))


@kernel
def press_brakes(
    offset: float,
    wheels: NDArray[np.float64],
    held: NDArray[np.float64],
    points: NDArray[np.float64],
    outputs: float,
) -> None:
    """Brake the wheels (n, 2), rolling and braking friction, by a sum of outputs; store sum and command in `held`."""
    held[0], held[1] = outputs, min(1.0, max(0.0, offset + outputs))
    for i in range(wheels.shape[0]):
        if wheels[i, 1] != 0.0:
            points[i, ROLLING] = wheels[i, 0] + held[1] * wheels[i, 1]


@kernel
def brake(
    weights: NDArray[np.float64],
    offset: float,
    wheels: NDArray[np.float64],
    held: NDArray[np.float64],
    points: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
) -> None:
    """Brake according to the pulse widths of the outputs (14,), us."""
    press_brakes(offset, wheels, held, points, mixed(weights, pwm_us))
