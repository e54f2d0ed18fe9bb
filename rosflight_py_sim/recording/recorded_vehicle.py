"""Vehicles of a recording, with their logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.ground.topic_names import PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.recording.columns import Array, Columns, NoColumnsError
from rosflight_py_sim.recording.known_topics import TRUTH_FIELDS, known_columns
from rosflight_py_sim.recording.mcap_file import Recording
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.vehicles import Actuator, Vehicle, vehicle
from rosflight_py_sim.world import DRY_LAND, WORLD, World, world_of

T = TypeVar("T")

ROW_RATE_HZ = 50.0
"""Largest row rate of a log made from a recording."""


class MotionLog(StateLog):
    """Log of a motion without a known mission."""

    def append(
        self, time_s: float, truth: Array, actuator_commands: Sequence[float] | Array, flow_ned: Sequence[float] | Array
    ) -> None:
        """Add one row, as `StateLog` does.

        Raises:
            ValueError: an array has the wrong length, or the time is before the last row's; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, flow_ned)


@dataclass
class RecordedVehicle:
    """Recorded data of one vehicle, at the times of its truth states, limited to ROW_RATE_HZ.

    Attributes:
        namespace: with a leading slash; empty for none.
        vehicle: vehicle of this package; None if unknown.
        time_s: shape (n,).
        truth: truth vectors (n, 19).
        wind_ned: m/s (n, 3); zeros where it was not recorded.
        pwm_us: pulse widths (n, 14); zeros where they were not recorded.
        missing: descriptions of topics that were not recorded or cannot be read.
    """

    recording: Recording
    namespace: str
    vehicle: Vehicle | None
    time_s: Array
    truth: Array
    wind_ned: Array
    pwm_us: Array
    missing: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Display name: its namespace, or the vehicle's name."""
        return self.namespace.strip("/") or (self.vehicle.name if self.vehicle else "vehicle")

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The vehicle's actuators, or each output that ever changed."""
        if self.vehicle is not None:
            return self.vehicle.actuators
        moved = np.flatnonzero(np.ptp(self.pwm_us, axis=0)) if len(self.pwm_us) else np.zeros(0)
        numbers = [int(number) for number in moved] or [0]
        return tuple(Actuator(f"output {number}", number, is_motor=False) for number in numbers)

    def columns(self, topic: str) -> Columns | None:
        """Recorded columns of one of its topics; None, with an entry in `missing`, if they are not as expected."""
        found = self.recording.named(f"{self.namespace}/{topic}")
        if found is None or not found.messages:
            return None
        try:
            return known_columns(topic, found)
        except NoColumnsError as error:
            self.missing.append(str(error))
            return None

    def held(self, topic: str, *paths: str) -> Array | None:
        """Fields of a topic at each of `time_s`, from the last message; shape (n, fields). None if not recorded."""
        found = self.columns(topic)
        if found is None or not len(found):
            return None
        rows = np.clip(np.searchsorted(found.time_s, self.time_s + 1e-9, side="right") - 1, 0, None)
        return np.asarray(found.stack(*paths)[rows])

    def wall_between(self, first_s: float, last_s: float) -> float | None:
        """System time between two times of the recording, s; None for recordings of other programs."""
        topic = self.recording.topics[f"{self.namespace}/{TRUTH_STATE}"]
        if not self.recording.facts:
            return None
        limits_ns = np.array([first_s, last_s]) * NANOSECONDS
        ends = np.clip(np.searchsorted(topic.log_ns, limits_ns), 0, len(topic.log_ns) - 1)
        return float(np.diff(topic.publish_ns[ends])[0]) / NANOSECONDS

    def commands(self) -> Array:
        """Commands of the actuators, shape (n, actuators)."""
        if not self.pwm_us.any():
            return np.zeros((len(self.time_s), len(self.actuators)))
        return np.stack([_command(one, self.pwm_us[:, one.output]) for one in self.actuators], axis=1)

    def motion(self) -> MotionLog:
        """Log of the motion."""
        log = MotionLog(self.actuators, max(1, len(self.time_s)))
        for row in zip(self.time_s.tolist(), self.truth, self.commands(), self.wind_ned, strict=True):
            log.append(*row)
        return log


def facts_of(recording: Recording, namespace: str) -> dict[str, str]:
    """Facts of a recording that apply to a vehicle: its own, and those of the first vehicle."""
    others: dict[str, object] = json_fact(recording.facts, "others", {})
    own = others.get(namespace, {})
    return {**recording.facts, **(own if isinstance(own, dict) else {})}


def json_fact(facts: Mapping[str, str], name: str, default: T) -> T:
    """A fact that is written as JSON; the default if it is missing or of another type."""
    try:
        value = json.loads(str(facts.get(name, "null")))
    except (ValueError, RecursionError):
        return default
    return value if isinstance(value, type(default)) else default


def recorded_vehicles(recording: Recording) -> list[RecordedVehicle]:
    """All vehicles with a recorded truth state."""
    namespaces = _namespaces(recording)
    recorded: list[object] = json_fact(recording.facts, "namespaces", [])
    order = {str(namespace): place for place, namespace in enumerate(recorded)}
    return [
        one
        for namespace in sorted(namespaces, key=lambda one: (order.get(one, len(order)), one))
        if len((one := _vehicle(recording, namespace)).time_s)
    ]


def unusable_states(recording: Recording) -> list[str]:
    """Why recorded topics named as true states are not those of a vehicle, such as their type."""
    return [
        reason
        for namespace in _namespaces(recording)
        if not len((one := _vehicle(recording, namespace)).time_s)
        for reason in one.missing or [f"{namespace}/{TRUTH_STATE} has no finite message"]
    ]


def _namespaces(recording: Recording) -> list[str]:
    """Namespaces with a topic named as a true state."""
    truth = f"/{TRUTH_STATE}"
    return [topic.removesuffix(truth) for topic in recording.topics if topic.endswith(truth)]


def world_of_recording(recording: Recording) -> World:
    """World around the vehicles; dry land if the recording names none, or its file no longer exists."""
    try:
        return world_of({WORLD.name: recording.facts.get("world", "")})
    except ParameterError:
        return DRY_LAND


def _known(name: str) -> Vehicle | None:
    """The vehicle with that name or file; None if it is unknown."""
    try:
        return vehicle(name)
    except ParameterError:
        return None


def _vehicle(recording: Recording, namespace: str) -> RecordedVehicle:
    """Data of a vehicle; without rows if its true state cannot be used."""
    vehicle = _known(facts_of(recording, namespace).get("vehicle", ""))
    empty = np.zeros((0, 19))
    one = RecordedVehicle(recording, namespace, vehicle, empty[:, 0], empty, empty[:, :3], empty[:, :OUTPUTS])
    recorded = one.columns(TRUTH_STATE)
    if recorded is None:
        return one
    truth = recorded.stack(*TRUTH_FIELDS)
    # Rows no later than an earlier row (after a reset of the clock) are dropped: only increasing times can be plotted.
    rows = _rows(recorded.time_s, np.asarray(np.isfinite(truth).all(axis=1)))
    if not len(rows):
        return one
    one.time_s, one.truth = recorded.time_s[rows], truth[rows]
    one.wind_ned = np.zeros((len(rows), 3))
    one.pwm_us = np.zeros((len(rows), OUTPUTS))
    wind = one.held(TRUTH_WIND, "vector.x", "vector.y", "vector.z")
    pwm = one.held(PWM_OUTPUT, "values")
    if wind is None:
        one.missing.append(f"{_absent(one, TRUTH_WIND)}: wind is assumed to be zero")
    else:
        one.wind_ned = np.nan_to_num(wind)
    if pwm is None or pwm.shape[2:] != (OUTPUTS,):
        one.missing.append(f"{_absent(one, PWM_OUTPUT)}: actuator commands are unknown")
    else:
        one.pwm_us = pwm[:, 0]
    return one


def _absent(one: RecordedVehicle, topic: str) -> str:
    name = f"{one.namespace}/{topic}"
    return f"no {name}" if one.recording.named(name) is None else f"no usable {name}"


def _rows(time_s: Array, good: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.int64]:
    """Indices of rows in order of time, at most ROW_RATE_HZ per second."""
    latest = np.maximum.accumulate(time_s)
    forward = np.r_[True, time_s[1:] > latest[:-1]] & good
    numbers = np.flatnonzero(forward)
    ticks = np.floor(time_s[numbers] * ROW_RATE_HZ + 1e-6)
    return np.asarray(numbers[np.r_[True, np.diff(ticks) > 0]] if len(numbers) else numbers, np.int64)


def _command(actuator: Actuator, pulses_us: Array) -> Array:
    return np.array([actuator.command(pulse) for pulse in pulses_us.tolist()])
