"""Proof that compiled steps give the flight of steps by messages: random flights, each flown in both ways.

    python -m proof.compiled_steps [--flights 40] [--seed 1]

Vehicle, parameters, services and commands of a flight are drawn. States of vehicle and firmware are compared at the end
of each step in which Python acted, and at the end the log of the flight.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from rosflight_msgs.srv import ParamSet, SetSimState

from proof.results import Row, publish
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.physics.dynamics import StateDivergedError
from rosflight_py_sim.step.pipeline import Pipeline, UnconnectedError
from rosflight_py_sim.step.topics import (
    AUX_COMMAND,
    COMMAND,
    EXTERNAL_ATTITUDE,
    AttitudeEstimate,
    AuxiliaryCommand,
    ControlCommand,
)
from rosflight_py_sim.step.vehicle_state import message_of_truth
from rosflight_py_sim.sweep.pipeline_flight import PipelineFlight
from rosflight_py_sim.vehicles import vehicle

VEHICLES = ("multirotor", "hexarotor", "octorotor", "fixedwing", "aerosonde", "anaconda")
"""Vehicles with ROSflight's firmware."""

SECONDS = 9.0
"""Simulated duration of a flight."""

TITLE = "Compiled steps"

NOTES = (
    "Each flight draws the step size (1.25 to 20 ms), wind, earth, rates and latencies of sensors, RC and commands, "
    "and the quirks of the firmware. Up to five times, one of these happens: a new state, a reset, a reboot, a "
    "calibration, a switch, a changed parameter of the firmware, a command, auxiliary outputs, an external attitude.",
    "Half of the multirotors fly a square that they complete within the flight.",
    "Compared are the true state, the firmware's air data, battery, magnetic field and status, and each row of the log "
    "by which the flight is judged.",
    "Half of the flights have up to three failures. Only vehicles with ROSflight's firmware are drawn.",
)

# A firmware that knows the biases of its IMU, so that the pilot arms at once.
CALIBRATED: dict[str, Value] = {
    "acc_bias_range": 0.0,
    "gyro_bias_range": 0.0,
    "firmware_parameters": ["FILT_INIT_T 0", "GYRO_X_BIAS 0.003", "GYRO_Y_BIAS -0.002", "GYRO_Z_BIAS 0.001"],
}

_CHOICES: dict[str, list[Value]] = {
    "earth": ["flat", "wgs84", "sphere", "rotating_sphere"],
    "baro_latency": [0.0, 0.013],
    "mag_latency": [0.0, 0.02],
    "baro_update_frequency": [100.0, 77.0, 200.0],
    "battery_update_frequency": [200.0, 50.0, 31.0],
    "mag_update_frequency": [50.0, 100.0],
    "imu_temperature_update_frequency": [50.0, 9.0],
    "rc_frequency": [50.0, 100.0, 33.0, 400.0],
    "as_rosflight": [False, True],
    "offboard_without_rc": [False, True],
    "link_latency": [0.006, 0.0, 0.02],
    "command_frequency": [100.0, 50.0, 200.0],
    "truth_battery_frequency": [50.0, 13.0],
}

# A square that takes some seconds.
_SMALL_SQUARE: dict[str, Value] = {"square_height": 0.5, "square_side": 0.4, "corner_pause": 0.0, "descent_speed": 2.0}

_FIRMWARE = {
    "PID_ROLL_ANG_P": 4.0,
    "FILT_GYRO_ALPHA": 0.2,
    "BATT_VOLT_LPF": 0.5,
    "DIFF_PRESS_BIAS": 3.0,
    "MAG_X_BIAS": 1e-6,
    "RC_OVRD_LAG_T": 300.0,
    "OFFBOARD_TIMEOUT": 50.0,
    "PRIMARY_MIXER": 3.0,
    "TAKE_MIN_THR": 1.0,
    "RC_ARM_CHN": 255.0,
    "RC_ATT_OVRD_CHN": 4.0,
}

_SERVICES = (
    *("toggle_arm", "toggle_override", "calibrate_baro", "calibrate_mag", "calibrate_airspeed", "calibrate_imu"),
    *("calibrate_gyro", "forces_and_moments/reset", "dynamics/reset", "reboot", "param_write", "autopilot/start"),
)

_FAILURES = (
    *("gyro noisy 0.01 0.02 0.01", "accel drift 0.02 0 0.01", "thermometer off", "mag off", "baro drift 5", "gnss off"),
    *("battery stuck", "airspeed wrong by 30", "range off", "wind front 2 -1 0", "rc lost", "command lost"),
)
_OF_MULTIROTORS = ("motor 1 wrong by -20", "motor 2 noisy 15")

Acts = Mapping[float, Callable[[Pipeline], object]]
"""What happens between two steps, by time (s)."""


def drawn_settings(name: str, rng: random.Random) -> dict[str, Value]:
    """Parameters of a vehicle's flight."""
    settings: dict[str, Value] = {"seed": rng.randrange(1000)}
    settings["step_size"] = rng.choice([0.0025, 0.0025, 0.00125, 0.002, 0.004, 0.005, 0.01, 0.02])
    if rng.random() < 0.8:
        settings |= CALIBRATED
    if name.endswith("rotor") and rng.random() < 0.5:
        settings |= _SMALL_SQUARE
    if rng.random() < 0.6:
        settings |= {"sim_has_wind": True, "use_random_wind": False, "turbulence_model": "dryden_8785c"}
        settings["rotational_gusts"] = rng.random() < 0.5
        settings["steady_state_wind"] = [rng.uniform(-5.0, 5.0), rng.uniform(-5.0, 5.0), 0.0]
    if rng.random() < 0.5:
        settings["failures"] = [_drawn_failure(name, rng) for _ in range(rng.randrange(1, 4))]
    return settings | {name: rng.choice(values) for name, values in _CHOICES.items() if rng.random() < 0.25}


def _drawn_failure(name: str, rng: random.Random) -> str:
    text = rng.choice(_FAILURES + (_OF_MULTIROTORS if name.endswith("rotor") else ()))
    begin = f" at {rng.uniform(0.0, SECONDS):.3f}" if rng.random() < 0.9 else ""
    return f"{text}{begin} for {rng.uniform(0.01, 4.0):.3f}"


def drawn_acts(rng: random.Random) -> Acts:
    """What happens in a flight, at most five things."""
    return {round(rng.uniform(0.5, SECONDS - 0.5), 3): _drawn_act(rng) for _ in range(rng.randrange(6))}


def _drawn_act(rng: random.Random) -> Callable[[Pipeline], object]:
    kind = rng.randrange(10)
    if kind == 0:
        truth = np.zeros(19)
        truth[2], truth[3], truth[7], truth[10] = -rng.uniform(1, 50), 1.0, rng.uniform(0, 20), rng.uniform(-1, 1)
        request = SetSimState.Request(state=message_of_truth(truth))
        return lambda line: line.call("dynamics/set_sim_state", request)
    if kind == 1:
        name, value = rng.choice(list(_FIRMWARE.items()))
        return lambda line: line.call("param_set", ParamSet.Request(name=name, value=value))
    if kind == 2:
        mode, ignored, values = rng.randrange(3), rng.randrange(64), tuple(rng.uniform(-0.3, 0.3) for _ in range(10))
        # The second stamp is that of another clock.
        is_present = rng.random() < 0.8
        return lambda line: line.give(COMMAND, ControlCommand(line.time_ns if is_present else 0, mode, ignored, values))
    if kind == 3:
        types, outputs = (*[0] * 10, 1, 2, 1, 2), (*[0.0] * 10, 0.3, 0.4, -0.2, 0.7)
        return lambda line: line.give(AUX_COMMAND, AuxiliaryCommand(line.time_ns, types, outputs))
    if kind == 4:
        still = (0.0, 0.0, 0.0)
        return lambda line: line.give(EXTERNAL_ATTITUDE, AttitudeEstimate(line.time_ns, (0.0, 0.0, 0.1, 0.995), still))
    service = rng.choice(_SERVICES)

    def call(line: Pipeline) -> None:
        # Not every vehicle offers each of them.
        with contextlib.suppress(UnconnectedError):
            line.call(service)

    return call


def flight(name: str, settings: Mapping[str, Value]) -> PipelineFlight:
    """A vehicle at its start."""
    chosen = vehicle(name)
    member = Member(chosen, executables=(chosen.autopilot,), flight_controller=chosen.autopilot_flight_controller)
    sources = parameter_sources([member], observers=(), files=[], weakest={"device": "none"}, settings=settings)
    return PipelineFlight(member, sources)


def states(one: PipelineFlight, until_s: float, acts: Acts) -> dict[int, Any]:
    """States of vehicle and firmware after each call of `advance`, by time (ns)."""
    seen: dict[int, Any] = {}
    line, left, end_ns = one.pipeline, dict(acts), round(until_s * NANOSECONDS)
    while line.time_ns < end_ns:
        for time_s in [time_s for time_s in left if line.time_ns >= round(time_s * NANOSECONDS)]:
            left.pop(time_s)(line)
        line.advance(min([end_ns, *(round(time_s * NANOSECONDS) for time_s in left)]))
        firmware = one.board.firmware
        received = bytes(firmware.air) + bytes(firmware.battery) + firmware.magnetic_field.tobytes()
        status = firmware.status
        seen[line.time_ns] = (
            one.state.truth.tobytes() + received,
            (status.armed, status.failsafe, status.error_code, status.rc_override, status.offboard),
        )
    return seen


def rows_of(one: PipelineFlight) -> bytes:
    """Rows of the log of a flight."""
    log = one.judge.log
    columns = (log.time_s, log.truth, log.setpoint_ned, log.wind_ned, log.battery_voltage, log.battery_current)
    return b"".join(part.tobytes() for part in (*columns, log.phase, log.error_code, log.actuator_commands))


def flown(one: PipelineFlight, acts: Acts) -> tuple[dict[int, Any], str]:
    """States of a flight, and its log, or how it ended if its state diverged."""
    try:
        return states(one, SECONDS, acts), f"{len(one.judge.log)} rows, {sha256(rows_of(one)).hexdigest()}"
    except StateDivergedError as error:
        return {}, f"{error} at {one.pipeline.time_ns} ns"


def differs(name: str, seed: int) -> tuple[bool, bool]:
    """Whether a random flight by compiled steps differs from that by messages, and whether its steps were compiled."""
    rng = random.Random(f"{name} {seed}")
    settings, acts = drawn_settings(name, rng), drawn_acts(rng)
    compiled, by_messages = flight(name, settings), flight(name, settings)
    by_messages.pipeline.compiles = False
    seen, end = flown(compiled, acts)
    expected, expected_end = flown(by_messages, acts)
    is_equal = end == expected_end and all(expected.get(time_ns) == state for time_ns, state in seen.items())
    return not is_equal, compiled.pipeline.is_compiled


def rows(flights: int, seed: int) -> Iterator[Row]:
    """One row per vehicle."""
    for name in VEHICLES:
        found = [differs(name, seed + number) for number in range(flights)]
        different = [seed + number for number, (is_different, _) in enumerate(found) if is_different]
        compiled = sum(is_compiled for _, is_compiled in found)
        measured = f"{flights} flights, {compiled} of them compiled at the end; {len(different)} differ"
        measured += f" (seeds {', '.join(map(str, different))})" if different else ""
        holds = not different and compiled > 0
        yield Row(name, "compiled steps give the states of steps by messages, to the bit", measured, holds)


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m proof.compiled_steps", description=TITLE)
    parser.add_argument("--flights", type=int, default=40, help="random flights per vehicle")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first flight of each vehicle")
    options = parser.parse_args()
    sys.exit(publish("compiled_steps", TITLE, rows(options.flights, options.seed), NOTES))


if __name__ == "__main__":
    main()
