"""Proof that identification finds the parameters of simulated vehicles that differ from their file, by seed.

    python -m proof.identification [--flights 20] [--seed 1]

Each flight draws inertia, thrust, propeller torque, drag, motor lag and wind, and flies the manoeuvres of
`identification/excitation.py` with all sensors and their errors. The identification begins with the vehicle's file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proof.results import Row, publish
from rosflight_py_sim.commands.identify import subject_of
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.identification.excitation import ExcitingGuidance
from rosflight_py_sim.identification.flight_log import FlightLog, north_east_down
from rosflight_py_sim.identification.identification import identify
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import BATTERY, COMMAND, GNSS_FIX, IMU_DATA, PWM_OUTPUT, ControlCommand
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import vehicle

TITLE = "Identification"

NOTES = (
    "Inertia, thrust, propeller torque, drag and motor lag are drawn within -20 to 25 % of the vehicle's file, rotor "
    "drag from 0.02 to 0.06 s/m; wind up to 4 m/s in each direction, with turbulence (Dryden, 3 m/s at 20 ft). Sensors "
    "have their default errors; the IMU has the biases of one that was calibrated on the ground.",
    "The least standard errors (0.2 % of the value, 0.5 % for inertia, 3 % for drag) were chosen after flights of "
    "the same vehicles with other manoeuvres; without them, fewer estimates would be within three standard errors.",
)

SECONDS = 48.0
"""Simulated duration of a flight."""

HEIGHT_M = 50.0

_STEP_NS, _COMMAND_NS = 2_500_000, 20_000_000

_DRAWN = {
    "CT_0": 0.08729101,
    "CQ_0": 0.00428594,
    "Jxx": 0.08,
    "Jyy": 0.08,
    "Jzz": 0.12,
    "CD": 2.05,
    "motor_time_constant": 0.03,
}

LARGEST_ERRORS = {"CT_0": 0.02, "Jxx": 0.05, "Jyy": 0.05, "Jzz": 0.05, "CD": 0.1, "CD_induced": 0.1}
"""Largest relative errors of the estimates."""


@dataclass(frozen=True)
class Twin:
    """A flight of a vehicle whose parameters are known.

    Attributes:
        log: what a log shows of it.
        true: the parameters.
    """

    log: FlightLog
    true: Mapping[str, float]


def twin(seed: int, *, seconds: float = SECONDS, settings: Mapping[str, Value] | None = None) -> Twin:
    """Fly the manoeuvres with drawn parameters; `settings` override parameters of the nodes."""
    messages, true = flown_messages(seed, seconds=seconds, settings=settings)
    return Twin(log_of_messages(f"twin {seed}", messages), true)


def flown_messages(
    seed: int, *, seconds: float, settings: Mapping[str, Value] | None = None
) -> tuple[dict[str, list[Any]], dict[str, float]]:
    """Messages of such a flight by topic, and the parameters."""
    rng = np.random.default_rng(seed)
    true = {name: value * float(rng.uniform(0.8, 1.25)) for name, value in _DRAWN.items()}
    true["CD_induced"] = float(rng.uniform(0.02, 0.06))
    given: dict[str, Value] = {
        "seed": seed,
        "starts_in_flight": True,
        "starts_on_ground": False,
        "initial_altitude": HEIGHT_M,
        "sim_has_wind": True,
        "use_random_wind": False,
        "steady_state_wind": [*rng.uniform(-4.0, 4.0, 2).tolist(), 0.0],
        "turbulence_model": "dryden_8785c",
        "turbulence_wind_speed_20ft": 3.0,
        "gyro_bias_range": 0.01,
        "acc_bias_range": 0.1,
        "firmware_parameters": ["OFFBOARD_TIMEOUT 100000"],
        **true,
        **(settings or {}),
    }
    member = Member(vehicle("multirotor"))
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=given)
    parts = built_parts(planned_parts(member), member, sources)
    dynamics = next(part for part in parts if isinstance(part, Truth))
    taken: dict[str, list[Any]] = {row.name: [] for row in (IMU_DATA, PWM_OUTPUT, GNSS_FIX, BATTERY)}
    line = Pipeline(
        parts, _STEP_NS, [(row, taken[row.name].append) for row in (IMU_DATA, PWM_OUTPUT, GNSS_FIX, BATTERY)]
    )
    line.step()
    guidance = ExcitingGuidance(HEIGHT_M)
    while line.time_ns < seconds * NANOSECONDS:
        command = guidance.command(line.time_ns / NANOSECONDS, dynamics.compute_truth())
        line.give(COMMAND, ControlCommand(line.time_ns, 2, 0, command))
        line.run_until(line.time_ns + _COMMAND_NS)
    return taken, true


def log_of_messages(name: str, taken: Mapping[str, list[Any]]) -> FlightLog:
    """What a log with these messages shows."""
    log = FlightLog(Path(name), "ROSflight", "multirotor")

    def add(channel: str, row: str, *fields: str) -> None:
        messages = taken[row]
        time_s = np.array([one.time_ns for one in messages]) / NANOSECONDS
        values = [np.ravel([getattr(one, field) for field in fields]) for one in messages]
        log.add(channel, time_s, np.array(values))

    add("gyro", IMU_DATA.name, "gyro")
    add("accel", IMU_DATA.name, "accel")
    attitudes = taken[IMU_DATA.name]
    time_s = np.array([one.time_ns for one in attitudes]) / NANOSECONDS
    log.add("attitude", time_s, np.array([one.quaternion_xyzw for one in attitudes])[:, [3, 0, 1, 2]])
    add("outputs", PWM_OUTPUT.name, "pulse_us")
    add("velocity", GNSS_FIX.name, "velocity_north", "velocity_east", "velocity_down")
    add("battery", BATTERY.name, "voltage", "current")
    fixes = taken[GNSS_FIX.name]
    place = np.array([(one.latitude_deg, one.longitude_deg, one.altitude_msl_m) for one in fixes])
    log.altitude = float(place[0, 2])
    log.add("position", np.array([one.time_ns for one in fixes]) / NANOSECONDS, north_east_down(place))
    return log


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each step")
    options = parser.parse_args()
    subject = subject_of(vehicle("multirotor"))
    scores: list[float] = []
    worst = dict.fromkeys(LARGEST_ERRORS, 0.0)
    beyond: list[str] = []
    refused: list[str] = []
    for seed in range(options.seed, options.seed + options.flights):
        flown = twin(seed)
        result = identify(subject, [flown.log], progress=print if options.verbose else lambda _: None)
        refused += [f"flight {seed}: {one.name}" for one in result.refused]
        for one in result.estimates:
            true = flown.true[one.name]
            scores.append((one.value - true) / one.standard_error)
            error = abs(one.value / true - 1.0)
            print(f"flight {seed} {one.name}: {one.value:.5g}, true {true:.5g}, {scores[-1]:+.2f} errors", flush=True)
            if one.name in worst:
                worst[one.name] = max(worst[one.name], error)
                if error > LARGEST_ERRORS[one.name]:
                    beyond.append(f"flight {seed}: {one.name} {100.0 * error:.1f} %")
    within = np.abs(np.array(scores)) < 3.0
    share = float(within.mean())
    rows = [
        Row(
            "estimates within three standard errors",
            "at least 95 %",
            f"{int(within.sum())} of {len(scores)}, {100.0 * share:.1f} %",
            share >= 0.95,
        ),
        Row(
            "largest errors",
            "thrust 2 %, inertia 5 %, drag 10 %",
            ", ".join(f"{name} {100.0 * error:.1f} %" for name, error in worst.items())
            + (f"; beyond: {', '.join(beyond)}" if beyond else ""),
            not beyond,
        ),
        Row("parameters refused", "none", ", ".join(refused) or "none", not refused),
    ]
    sys.exit(publish("identification", TITLE, rows, NOTES))


if __name__ == "__main__":
    main()
