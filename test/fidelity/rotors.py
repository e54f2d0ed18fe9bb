"""Rotors of the multirotor against closed forms: momentum theory, and the papers that docs/physics.md names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.parameters import Value, number
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.pulse_width import MOTOR, pulse_of
from rosflight_py_sim.vehicles import vehicle

TITLE = "rotors"

HOVER = 0.5
"""Throttle near that of hovering flight."""
DT = 0.0025
CALM = np.zeros(3)
FAR = 1000.0


@cache
def file_values() -> dict[str, Value]:
    """Values of the multirotor's parameter file."""
    arguments = ["--ros-args", "--params-file", str(vehicle("multirotor").parameter_file)]
    return given_values(MULTIROTOR_PARAMETERS, arguments, "forces_and_moments", "", "none")


def multirotor(**given: Value) -> Multirotor:
    """The multirotor of the file, at constant density, with `given` values changed."""
    return Multirotor({**file_values(), "use_standard_atmosphere": False, "battery_capacity_mah": 0.0, **given})


def truth(height: float = FAR) -> NDArray[np.float64]:
    """A level vehicle at rest at `height` (m)."""
    state = np.zeros(19)
    state[2], state[3] = -height, 1.0
    return state


def ground_effect(height: float) -> tuple[float, float]:
    """Thrust over that far from the ground with the hubs at `height` (m): simulated, and Cheeseman and Bennett's."""
    body = truth(height)
    # The hubs may lie above the centre of mass.
    positions = np.array(file_values()["rotor_positions"] or [0.0] * 3).reshape(-1, 3)
    body[2] -= positions[0, 2]
    rotors = multirotor()
    throttles = np.full(rotors.outputs, HOVER)
    thrusts = [-rotors.steady_wrench(state, CALM, throttles)[2] for state in (body, truth())]
    radius = 0.5 * number(file_values(), "D_prop")
    return thrusts[0] / thrusts[1], 1.0 / (1.0 - (radius / (4.0 * height)) ** 2)


def spool_up(**given: Value) -> NDArray[np.float64]:
    """Total battery current (A) of each step after the throttles jump from 5 % to 90 %."""
    rotors = multirotor(**given)
    currents = []
    for k in range(260):
        throttle = 0.05 if k < 100 else 0.9
        pwm_us = np.full(14, 1000.0)
        pwm_us[: rotors.outputs] = pulse_of(np.full(rotors.outputs, throttle), MOTOR)
        rotors.update(truth(), CALM, pwm_us, DT)
        currents.append(rotors.current_a)
    return np.array(currents[100:])


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for share in (1.0, 2.0):
        simulated, expected = ground_effect(share * 0.5 * number(file_values(), "D_prop"))
        yield Comparison(
            f"thrust {share:g} radius above the ground over thrust far from it",
            f"{simulated:.4f}",
            f"{expected:.4f} (Cheeseman and Bennett 1955)",
            f"{100.0 * abs(simulated / expected - 1.0):.3f} %",
        )
    limit = number(file_values(), "esc_current_limit")
    largest, free = spool_up().max(), spool_up(esc_current_limit=0.0).max()
    rotors = multirotor().outputs
    yield Comparison(
        "largest battery current after a throttle step from 5 % to 90 %",
        f"{largest:.0f} A; {free:.0f} A without a limit",
        f"at most {rotors} x {limit:g} A (the controllers' data)",
        "within" if largest <= rotors * limit else "exceeded",
    )


def draw(figure: Figure) -> None:
    """Ground effect and currents."""
    left, right = figure.subplots(1, 2)
    radius = 0.5 * number(file_values(), "D_prop")
    heights = np.linspace(0.5, 4.0, 60) * radius
    simulated, expected = np.array([ground_effect(float(height)) for height in heights]).T
    left.plot(heights / radius, expected, label="Cheeseman and Bennett 1955")
    left.plot(heights / radius, simulated, ".", label="simulation")
    left.set(title="Ground effect in hover", xlabel="height of the hub / radius", ylabel="thrust / thrust far away")
    left.legend()
    times = DT * np.arange(160)
    right.plot(times, spool_up(esc_current_limit=0.0), label="without limit")
    right.plot(times, spool_up(), label="with the limit")
    right.set(title="Battery current after a throttle step from 5 % to 90 %", xlabel="s", ylabel="A")
    right.legend()
