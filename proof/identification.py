"""Proof that identification finds the parameters of simulated vehicles that differ from their file, by seed.

    python -m proof.identification [--vehicle multirotor] [--flights 20] [--seed 1]

Each flight draws the vehicle's parameters and the wind, and flies the manoeuvres of the vehicle's excitation with all
sensors and their errors. The identification begins with the vehicle's file.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from proof.results import Row, publish
from rosflight_py_sim.commands.identify import excitation_of, subject_of
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import Value, number
from rosflight_py_sim.ground.process_environment import prepare_environment
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.identification.fitted_parameters import DEFAULTS
from rosflight_py_sim.identification.flight_log import FlightLog, FlightLogError, north_east_down
from rosflight_py_sim.identification.identification import Subject, identify
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import (
    BATTERY,
    COMMAND,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU_DATA,
    PWM_OUTPUT,
    ControlCommand,
    StepTopic,
)
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import Vehicle, vehicle
from rosflight_py_sim.vehicles.physics_model import VehicleClass

TITLE = "Identification"

NOTES = (
    "Wind up to 4 m/s in each direction. Sensors have their default errors; the IMU has the biases of one that was "
    "calibrated on the ground.",
    "The least standard errors (0.2 % of the value, 0.5 % for inertia, 3 % for drag) were chosen after flights of "
    "the same vehicles with other manoeuvres; without them, fewer estimates would be within three standard errors.",
)

TURBULENCE = 3.0
"""Wind at 20 ft of the turbulence, m/s."""

_COMMAND_NS = 20_000_000

_TAKEN: Sequence[StepTopic[Any]] = (IMU_DATA, PWM_OUTPUT, GNSS_FIX, BATTERY, DIFF_PRESSURE)


@dataclass(frozen=True)
class Kind:
    """A vehicle, and how its flights are drawn and judged.

    Attributes:
        drawn: parameters drawn within -20 to 25 % of the vehicle's file.
        between: parameters drawn between two values.
        largest_errors: largest relative errors of estimates.
        height_m: height of the flight above the origin.
        step_ns: step of the simulation.
        fits: parameters of each fit; empty for the default ones.
        note: what is drawn, in words.
    """

    drawn: Sequence[str]
    between: Mapping[str, tuple[float, float]]
    largest_errors: Mapping[str, float]
    height_m: float
    step_ns: int
    fits: Sequence[Sequence[str]]
    note: str


_INERTIA = ("Jxx", "Jyy", "Jzz")

KINDS = {
    "multirotor": Kind(
        ("CT_0", "CQ_0", "Jxx", "Jyy", "Jzz", "CD", "motor_time_constant"),
        {"CD_induced": (0.02, 0.06)},
        {"CT_0": 0.02, "Jxx": 0.05, "Jyy": 0.05, "Jzz": 0.05, "CD": 0.1, "CD_induced": 0.1},
        50.0,
        2_500_000,
        ((),),
        "Inertia, thrust, propeller torque, drag and motor lag are drawn within -20 to 25 % of the vehicle's file, "
        "rotor drag from 0.02 to 0.06 s/m.",
    ),
    **{
        name: Kind(
            (*DEFAULTS[VehicleClass.FIXED_WING], *_INERTIA),
            {},
            {"CT_0": 0.02, "C_D_O": 0.1, **dict.fromkeys(_INERTIA, 0.05)},
            200.0,
            5_000_000,
            ((), _INERTIA),
            "Thrust, inertia, derivatives are drawn within -20 to 25 % of the vehicle's file. A flight shows moments "
            "over inertia: one fit takes the inertia as known, as it is from a measurement on the ground, another the "
            "aerodynamics.",
        )
        for name in ("anaconda", "aerosonde")
    },
}
"""Vehicles of the proof, by name."""


@dataclass(frozen=True)
class Twin:
    """A flight of a vehicle whose parameters are known.

    Attributes:
        log: what a log shows of it.
        true: the parameters.
    """

    log: FlightLog
    true: Mapping[str, float]


def twin(
    seed: int, *, name: str = "multirotor", seconds: float | None = None, settings: Mapping[str, Value] | None = None
) -> Twin:
    """Fly the manoeuvres of a vehicle with drawn parameters; `settings` override parameters of the nodes."""
    messages, true = flown_messages(seed, name=name, seconds=seconds, settings=settings)
    return Twin(log_of_messages(f"twin {seed}", messages), true)


def flown_messages(
    seed: int, *, name: str = "multirotor", seconds: float | None = None, settings: Mapping[str, Value] | None = None
) -> tuple[dict[str, list[Any]], dict[str, float]]:
    """Messages of such a flight by topic, and the parameters."""
    rng, chosen, kind = np.random.default_rng(seed), vehicle(name), KINDS[name]
    values = subject_of(chosen).values
    true = {one: number(values, one) * float(rng.uniform(0.8, 1.25)) for one in kind.drawn}
    true.update({one: float(rng.uniform(*bounds)) for one, bounds in kind.between.items()})
    given: dict[str, Value] = {
        "seed": seed,
        "starts_in_flight": True,
        "starts_on_ground": False,
        "initial_altitude": kind.height_m,
        "sim_has_wind": True,
        "use_random_wind": False,
        "steady_state_wind": [*rng.uniform(-4.0, 4.0, 2).tolist(), 0.0],
        "turbulence_model": "dryden_8785c",
        "turbulence_wind_speed_20ft": TURBULENCE,
        "gyro_bias_range": 0.01,
        "acc_bias_range": 0.1,
        "firmware_parameters": ["OFFBOARD_TIMEOUT 100000"],
        **true,
        **(settings or {}),
    }
    line, taken, dynamics = _recorded(chosen, kind.step_ns, given)
    excitation = excitation_of(chosen, kind.height_m)
    if excitation.start_airspeed:
        start = dynamics.compute_truth().copy()
        start[7] += excitation.start_airspeed
        dynamics.set_sim_state(start)
    end_s = excitation.SECONDS if seconds is None else seconds
    while line.time_ns < end_s * NANOSECONDS:
        truth, wind = dynamics.compute_truth(), dynamics.compute_wind_truth()
        command = excitation.command(line.time_ns / NANOSECONDS, truth, wind)
        line.give(COMMAND, ControlCommand(line.time_ns, excitation.MODE, 0, command))
        line.run_until(line.time_ns + _COMMAND_NS)
    return taken, true


def messages_at_rest(seed: int, *, seconds: float, settings: Mapping[str, Value] | None = None) -> dict[str, list[Any]]:
    """Messages of a multirotor that stands on the ground, by topic."""
    line, taken, _ = _recorded(vehicle("multirotor"), KINDS["multirotor"].step_ns, {"seed": seed, **(settings or {})})
    line.run_until(round(seconds * NANOSECONDS))
    return taken


def _recorded(
    chosen: Vehicle, step_ns: int, given: Mapping[str, Value]
) -> tuple[Pipeline, dict[str, list[Any]], Truth]:
    """A vehicle after its first step, the messages that are taken from it by topic, and its dynamics."""
    member = Member(chosen)
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=given)
    parts = built_parts(planned_parts(member), member, sources)
    taken: dict[str, list[Any]] = {row.name: [] for row in _TAKEN}
    line = Pipeline(parts, step_ns, [(row, taken[row.name].append) for row in _TAKEN])
    line.step()
    return line, taken, next(part for part in parts if isinstance(part, Truth))


def log_of_messages(name: str, taken: Mapping[str, list[Any]]) -> FlightLog:
    """What a log with these messages shows."""
    log = FlightLog(Path(name), "ROSflight")

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
    if taken[DIFF_PRESSURE.name]:
        add("airspeed", DIFF_PRESSURE.name, "velocity")
    log.add("position", np.array([one.time_ns for one in fixes]) / NANOSECONDS, north_east_down(place))
    return log


class Scored(NamedTuple):
    """An estimate of a flight.

    Attributes:
        seed: of the flight.
        name: of the parameter.
        value: estimate; NaN if the parameter or the whole fit was refused.
        standard_error: of the estimate.
        true: value of the vehicle that flew.
    """

    seed: int
    name: str
    value: float
    standard_error: float
    true: float

    @property
    def errors(self) -> float:
        """Error over the standard error."""
        return (self.value - self.true) / self.standard_error

    @property
    def share(self) -> float:
        """Error over the value."""
        return abs(self.value / self.true - 1.0)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"flight {self.seed} {self.name}: refused"
        return f"flight {self.seed} {self.name}: {self.value:.5g}, true {self.true:.5g}, {self.errors:+.2f} errors"


def scored(seed: int, name: str, turbulence: float) -> list[Scored]:
    """Estimates of a flight of a vehicle; prints why a fit is refused."""
    flown = twin(seed, name=name, settings={"turbulence_wind_speed_20ft": turbulence})
    subject = subject_of(vehicle(name))
    found = []
    for fit in KINDS[name].fits:
        # Parameters that are not fitted are known.
        fitted = fit or DEFAULTS[subject.forces.VEHICLE_CLASS]
        try:
            result = identify(with_values(subject, flown.true, fitted), [flown.log], fit)
        except FlightLogError as error:
            print(error, flush=True)
            found += [Scored(seed, one, math.nan, math.nan, flown.true[one]) for one in fitted]
            continue
        found += [
            Scored(seed, one.name, one.value, one.standard_error, flown.true[one.name]) for one in result.estimates
        ]
        found += [Scored(seed, one.name, math.nan, math.nan, flown.true[one.name]) for one in result.refused]
    return found


def with_values(subject: Subject, values: Mapping[str, float], without: Sequence[str] = ()) -> Subject:
    """The vehicle with values of parameters, except for those of some names."""
    forces, dynamics = (
        {**given, **{name: one for name, one in values.items() if name in given and name not in without}}
        for given in (subject.forces_values, subject.dynamics_values)
    )
    return replace(subject, forces_values=forces, dynamics_values=dynamics)


def rows_of(found: Sequence[Scored], largest: Mapping[str, float]) -> list[Row]:
    """Rows of the proof's table."""
    refused = [one for one in found if math.isnan(one.value)]
    estimated = [one for one in found if not math.isnan(one.value)]
    within = np.abs(np.array([one.errors for one in estimated])) < 3.0
    worst = {name: max((one.share for one in estimated if one.name == name), default=0.0) for name in largest}
    beyond = [one for one in estimated if one.share > largest.get(one.name, math.inf)]
    return [
        Row(
            "estimates within three standard errors",
            "at least 95 %",
            f"{int(within.sum())} of {len(within)}, {100.0 * float(within.mean()):.1f} %",
            float(within.mean()) >= 0.95,
        ),
        Row(
            "largest errors",
            "thrust 2 %, inertia 5 %, drag 10 %",
            ", ".join(f"{name} {100.0 * error:.1f} %" for name, error in worst.items())
            + "".join(f"; beyond: flight {one.seed}, {one.name} {100.0 * one.share:.1f} %" for one in beyond),
            not beyond,
        ),
        Row(
            "parameters refused",
            "at most 5 %",
            ", ".join(f"flight {one.seed}: {one.name}" for one in refused) or "none",
            len(refused) <= 0.05 * len(found),
        ),
    ]


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vehicle", choices=KINDS, default="multirotor", help="vehicle (default: multirotor)")
    parser.add_argument("--flights", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--turbulence", type=float, default=TURBULENCE, help="wind at 20 ft, m/s (default: 3)")
    options = parser.parse_args()
    name, kind = options.vehicle, KINDS[options.vehicle]
    # The processes share the cores: a thread of numpy that waits for a core holds up each product of small matrices.
    prepare_environment()
    found: list[Scored] = []
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for of_flight in pool.map(
            partial(scored, name=name, turbulence=options.turbulence),
            range(options.seed, options.seed + options.flights),
        ):
            found += of_flight
            print(*of_flight, sep="\n", flush=True)
    rows = rows_of(found, kind.largest_errors)
    air = f"Turbulence (Dryden) of {options.turbulence:g} m/s at 20 ft. "
    notes = (air + kind.note, *NOTES)
    sys.exit(publish("identification", f"{TITLE} of the {name}", rows, notes, case=name))


if __name__ == "__main__":
    main()
