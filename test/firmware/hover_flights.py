"""Flights of a multirotor that holds attitude commands in still air, with ideal sensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.command import FZ
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import COMMAND, ControlCommand
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import Vehicle

Array = NDArray[np.float64]

STEP_NS = 2_500_000

# Roll and pitch angle, yaw rate, throttle.
_MODE = 2

STEP_AT_S = 1.0
"""Time at which a commanded value takes effect."""


def flown(
    vehicle: Vehicle, gains: Mapping[str, float], throttle: float, *, row: int, value: float, seconds: float
) -> tuple[Array, Array]:
    """Times (s) and truth states (n, 19) of a hover, with a step of the command of a row (QX to QZ) at `STEP_AT_S`."""
    given: dict[str, Value] = {
        "starts_in_flight": True,
        "starts_on_ground": False,
        "initial_altitude": 50.0,
        "sim_has_wind": False,
        **dict.fromkeys(("gyro_stdev", "acc_stdev", "gyro_bias_range", "acc_bias_range"), 0.0),
        "firmware_parameters": [
            "OFFBOARD_TIMEOUT 100000",
            "FILT_INIT_T 0",
            *(f"{name} {gain!r}" for name, gain in gains.items()),
        ],
    }
    member = Member(vehicle)
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=given)
    parts = built_parts(planned_parts(member), member, sources)
    dynamics = next(part for part in parts if isinstance(part, Truth))
    line = Pipeline(parts, STEP_NS, [])
    line.step()
    times, states = [], []
    while line.time_ns < seconds * NANOSECONDS:
        command = np.zeros(10)
        command[FZ] = throttle
        command[row] = value if line.time_ns >= STEP_AT_S * NANOSECONDS else 0.0
        line.give(COMMAND, ControlCommand(line.time_ns, _MODE, 0, command))
        line.run_until(line.time_ns + STEP_NS)
        times.append(line.time_ns / NANOSECONDS)
        states.append(dynamics.compute_truth()[:19].copy())
    return np.array(times), np.array(states)


def roll_response(fly: Callable[[float], tuple[Array, Array]], size: float) -> tuple[Array, Array]:
    """Times after the command (s), and the response of the roll angle to a step, per its size (rad).

    `fly` flies with the size of the step. The flight without a step is subtracted.
    """
    times, stepped = fly(size)
    _, steady = fly(0.0)
    rolls = [np.array([euler_from_quaternion(*state[3:7])[0] for state in states]) for states in (stepped, steady)]
    return times - STEP_AT_S, (rolls[0] - rolls[1]) / size


def fast_motion(times: Array, rates: Array) -> float:
    """Standard deviation of the changes of a rate from step to step, a second after the step and later."""
    return float(np.std(np.diff(rates)[times[1:] > STEP_AT_S + 1.0]))
