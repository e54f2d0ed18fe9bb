"""Steered wheels: the outputs of the flight controller turn the rolling direction of contact points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.physics.contact import DOES_NOT_ROLL, ROLLING, STEERING_COSINE, STEERING_SINE
from rosflight_py_sim.physics.surface_mix import mixed, servo_weights

STEERING_PARAMETERS = ParameterTable(
    Parameter(
        "contact_steering",
        [],
        "Steering angle of each point's wheel at full command, positive to the right seen from above (negative for a "
        "tail wheel); points beyond the end of the list are not steered",
        "deg",
        minimum=-80.0,
        maximum=80.0,
        read_only=True,
    ),
    Parameter(
        "steering_mix",
        [],
        "Weight of each flight controller output, from output 0, in the steering command (-1 to 1, positive steers "
        "right); outputs beyond the end of the list have no weight",
        minimum=-100.0,
        maximum=100.0,
        read_only=True,
    ),
)


class Steering:
    """Turns the steered wheels among the contact points, without lag.

    The steering command is the sum of the servo commands (`pulse_width.py`) weighted by `steering_mix`, limited to -1
    to 1; multiplied by `contact_steering` it is the steering angle of each wheel. A wheel rolls along its own direction
    and grips across it (`contact.py`), so at low speed a vehicle turns about the point where the wheel axes intersect:
    with straight main wheels and a wheel at the distance L ahead of or behind them turned by the angle d, the midpoint
    between the main wheels moves on a circle of radius L / tan(d) (Ackermann steering).

    Attributes:
        is_used: whether any output turns any wheel.
    """

    def __init__(self, values: Values, points: NDArray[np.float64]) -> None:
        """Set up from STEERING_PARAMETERS; the steering columns of the contact points (n, 6) are written.

        Raises:
            ParameterError: a list is longer than the number of outputs or points, or a steered point does not roll.
        """
        degrees = np.array(values["contact_steering"], dtype=np.float64)
        if len(points) and len(degrees) > len(points):
            raise ParameterError(
                f"parameter 'contact_steering': {len(degrees)} numbers given; allowed: at most {len(points)}, one for "
                "each of contact_points"
            )
        steered = np.flatnonzero(degrees[: len(points)])
        for i in steered:
            if points[i, ROLLING] == DOES_NOT_ROLL:
                raise ParameterError(
                    f"parameter 'contact_steering': {degrees[i]:g} deg given for point {i}, which does not roll; "
                    "allowed: 0 deg there, or a contact_rolling_friction for that point"
                )
        weights, angles = servo_weights(values, "steering_mix"), np.zeros(len(points))
        angles[steered] = [math.radians(degrees[i]) for i in steered]
        self.is_used = bool(np.any(degrees) and np.any(weights))
        self._command = np.zeros(1)
        self._wheels = angles, self._command, points
        self._weights = weights
        self._pwm_us = np.zeros(len(weights))
        self._follow = self.bound_follow(self._pwm_us)

    @property
    def command(self) -> float:
        """The steering command, -1 to 1."""
        return float(self._command[0])

    def follow(self, pwm_us: Sequence[float]) -> None:
        """Turn the wheels according to the pulse widths of the 14 outputs, us."""
        self._pwm_us[:] = pwm_us
        self._follow()

    def bound_follow(self, pwm_us: NDArray[np.float64]) -> Callable[[], None]:
        """`follow` as a kernel for the pulse widths in an array (14,), which works on it by its memory."""
        return bound(steer, self._weights, *self._wheels, pwm_us)

    def turn(self, command: float) -> None:
        """Turn the wheels by a steering command, which is limited to -1 to 1."""
        turn_wheels(*self._wheels, command)


@kernel
def turn_wheels(
    angles: NDArray[np.float64], held: NDArray[np.float64], points: NDArray[np.float64], command: float
) -> None:
    """Turn the wheels with an angle (n,), rad, by a command, which is limited to -1 to 1 and stored in `held` (1,)."""
    held[0] = min(1.0, max(-1.0, command))
    for i in range(len(angles)):
        if angles[i] != 0.0:
            points[i, STEERING_COSINE] = math.cos(held[0] * angles[i])
            points[i, STEERING_SINE] = math.sin(held[0] * angles[i])


@kernel
def steer(
    weights: NDArray[np.float64],
    angles: NDArray[np.float64],
    held: NDArray[np.float64],
    points: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
) -> None:
    """Turn the wheels according to the pulse widths of the outputs (14,), us."""
    turn_wheels(angles, held, points, mixed(weights, pwm_us))
