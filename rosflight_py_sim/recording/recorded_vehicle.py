"""The vehicles of a recording, as the logs that a flight leaves behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.pulse_width import OUTPUTS
from rosflight_py_sim.recording.columns import Array, Columns, NoColumnsError, columns
from rosflight_py_sim.recording.mcap_file import Recording
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.topic_names import PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.vehicles import Actuator, Vehicle, vehicle
from rosflight_py_sim.world import DRY_LAND, WORLD, World, world_of

ROW_RATE_HZ = 50.0
"""Rows of a log that is made of a recording."""


class MotionLog(StateLog):
    """Rows of a motion of which nothing else is known."""

    def append(
        self, time_s: float, truth: Array, actuator_commands: Sequence[float] | Array, flow_ned: Sequence[float] | Array
    ) -> None:
        """Add one row, as `StateLog` says.

        Raises:
            ValueError: an array of another length, or a time before the last one; nothing is added.
        """
        self._add(time_s, truth, actuator_commands, flow_ned)


@dataclass
class RecordedVehicle:
    """What a recording tells of one vehicle, at the times of its truth states, which are at most ROW_RATE_HZ.

    Attributes:
        namespace: with a slash before it; empty: none.
        vehicle: which of ours; None: not known.
        time_s: shape (n,).
        truth: truth vectors (n, 19).
        wind_ned: m/s (n, 3); zeros where it was not recorded.
        pwm_us: pulse widths (n, 14); zeros where they were not recorded.
        missing: topics that were not recorded, or cannot be read, in words.
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
        """For people: its namespace, or what it is."""
        return self.namespace.strip("/") or (self.vehicle.name if self.vehicle else "vehicle")

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """What the outputs move: the vehicle's own actuators, or any output that ever changed."""
        if self.vehicle is not None:
            return self.vehicle.actuators
        moved = np.flatnonzero(np.ptp(self.pwm_us, axis=0)) if len(self.pwm_us) else np.zeros(0)
        numbers = [int(number) for number in moved] or [0]
        return tuple(Actuator(f"output {number}", number, is_motor=False) for number in numbers)

    def columns(self, topic: str) -> Columns | None:
        """What was recorded of one of its topics; None: nothing that can be read."""
        found = self.recording.named(f"{self.namespace}/{topic}")
        if found is None or not found.messages:
            return None
        try:
            return columns(found)
        except NoColumnsError as error:
            self.missing.append(str(error))
            return None

    def held(self, topic: str, *paths: str) -> Array | None:
        """Fields of one of its topics as they were at each of `time_s`; shape (n, fields). None: not recorded."""
        found = self.columns(topic)
        if found is None or not len(found):
            return None
        rows = np.clip(np.searchsorted(found.time_s, self.time_s + 1e-9, side="right") - 1, 0, None)
        return np.asarray(found.stack(*paths)[rows])

    def wall_between(self, first_s: float, last_s: float) -> float | None:
        """System time that passed between two times of the recording, s; None: only our own recorder tells."""
        topic = self.recording.topics[f"{self.namespace}/{TRUTH_STATE}"]
        if not self.recording.facts:
            return None
        limits_ns = np.array([first_s, last_s]) * NANOSECONDS
        ends = np.clip(np.searchsorted(topic.log_ns, limits_ns), 0, len(topic.log_ns) - 1)
        return float(np.diff(topic.publish_ns[ends])[0]) * 1e-9

    def commands(self) -> Array:
        """Commands of the actuators, shape (n, actuators)."""
        if not self.pwm_us.any():
            return np.zeros((len(self.time_s), len(self.actuators)))
        return np.stack([_command(one, self.pwm_us[:, one.output]) for one in self.actuators], axis=1)

    def motion(self) -> MotionLog:
        """Its log."""
        log = MotionLog(self.actuators, max(1, len(self.time_s)))
        for row in zip(self.time_s.tolist(), self.truth, self.commands(), self.wind_ned, strict=True):
            log.append(*row)
        return log


def recorded_vehicles(recording: Recording) -> list[RecordedVehicle]:
    """All vehicles of which the truth was recorded."""
    known = _known(recording.facts.get("vehicle", ""))
    truth = f"/{TRUTH_STATE}"
    namespaces = [topic.removesuffix(truth) for topic in recording.topics if topic.endswith(truth)]
    told = json.loads(recording.facts.get("namespaces", "[]"))
    order = {namespace: place for place, namespace in enumerate(told)}
    found = (
        _vehicle(recording, namespace, known)
        for namespace in sorted(namespaces, key=lambda one: (order.get(one, len(order)), one))
    )
    return [one for one in found if one is not None]


def world_of_recording(recording: Recording) -> World:
    """The world around the vehicles; dry land where it is not told, or is a file that is not here any more."""
    try:
        return world_of({WORLD.name: recording.facts.get("world", "")})
    except ParameterError:
        return DRY_LAND


def _known(name: str) -> Vehicle | None:
    """The vehicle of that name or file; None: it is not here any more, or was never told."""
    try:
        return vehicle(name)
    except ParameterError:
        return None


def _vehicle(recording: Recording, namespace: str, vehicle: Vehicle | None) -> RecordedVehicle | None:
    empty = np.zeros((0, 19))
    one = RecordedVehicle(recording, namespace, vehicle, empty[:, 0], empty, empty[:, :3], empty[:, :OUTPUTS])
    told = one.columns(TRUTH_STATE)
    if told is None or "acceleration.angular.z" not in told.values:
        return None
    truth = told.stack(*_TRUTH_FIELDS)
    # Times that go back, after a reset of the clock, begin another recording: only what is in order can be drawn.
    rows = _rows(told.time_s, np.asarray(np.isfinite(truth).all(axis=1)))
    if not len(rows):
        return None
    one.time_s, one.truth = told.time_s[rows], truth[rows]
    one.wind_ned = np.zeros((len(rows), 3))
    one.pwm_us = np.zeros((len(rows), OUTPUTS))
    wind = one.held(TRUTH_WIND, "vector.x", "vector.y", "vector.z")
    pwm = one.held(PWM_OUTPUT, "values")
    if wind is None:
        one.missing.append(f"no {namespace}/{TRUTH_WIND}: wind is taken to be zero")
    else:
        one.wind_ned = np.nan_to_num(wind)
    if pwm is None or pwm.shape[2:] != (OUTPUTS,):
        one.missing.append(f"no {namespace}/{PWM_OUTPUT}: what the actuators did is not known")
    else:
        one.pwm_us = pwm[:, 0]
    return one


_TRUTH_FIELDS = (
    *(f"pose.position.{axis}" for axis in "xyz"),
    *(f"pose.orientation.{axis}" for axis in "wxyz"),
    *(f"twist.{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"),
    *(f"acceleration.{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"),
)


def _rows(time_s: Array, good: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.int64]:
    """Numbers of rows in order of time, at most ROW_RATE_HZ of them a second."""
    latest = np.maximum.accumulate(time_s)
    forward = np.r_[True, time_s[1:] > latest[:-1]] & good
    numbers = np.flatnonzero(forward)
    ticks = np.floor(time_s[numbers] * ROW_RATE_HZ + 1e-6)
    return np.asarray(numbers[np.r_[True, np.diff(ticks) > 0]] if len(numbers) else numbers, np.int64)


def _command(actuator: Actuator, pulses_us: Array) -> Array:
    return np.array([actuator.command(pulse) for pulse in pulses_us.tolist()])
