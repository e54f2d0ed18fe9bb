"""Judging of a recorded mission: passes the recorded messages to its judge, in the order of recording."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.message_definitions import type_name_of
from rosflight_py_sim.missions.catalogue import judge_class, mission_name
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.mission_settings import MissionSettings
from rosflight_py_sim.recording.columns import NoColumnsError
from rosflight_py_sim.recording.known_topics import require_type
from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle, recorded_vehicles
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.step.mission_topics import MISSION_SETTINGS
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.vehicles import Vehicle

# Longest gap between rows that cannot change a verdict, s: in 0.5 s the fastest vehicle flies some metres.
_GAP_S = 0.5


@dataclass
class RecordedMission:
    """Mission of a vehicle in a recording.

    Attributes:
        recording: the recording.
        namespace: namespace of the vehicle, with a leading slash; empty for none.
        recorded: data of the vehicle; None without a recorded true state.
        vehicle: the vehicle; None if unknown.
        name: name of the mission; empty if the vehicle has none or is unknown.
        was_flown: whether `fly` flew the mission, so that a missing verdict is an error.
        judge: judge that has received the recorded messages; None if no mission was flown or judging is impossible.
        problem: reason why there is no verdict; empty if there is one.
    """

    recording: Recording
    namespace: str
    recorded: RecordedVehicle | None
    vehicle: Vehicle | None = None
    name: str = ""
    was_flown: bool = False
    judge: MissionJudge | None = None
    problem: str = ""

    @property
    def vehicle_name(self) -> str:
        """Display name of the vehicle: its namespace, or its own name."""
        if self.recorded is not None:
            return self.recorded.name
        return self.namespace.strip("/") or (self.vehicle.name if self.vehicle else "vehicle")

    def full_name(self, topic: StepTopic[Any]) -> str:
        """Name of a topic, in the vehicle's namespace unless it is absolute."""
        return topic.name if topic.name.startswith("/") else f"{self.namespace}/{topic.name}"


def recorded_missions(recording: Recording) -> list[RecordedMission]:
    """The missions of a recording's vehicles, judged if possible."""
    vehicles = {one.namespace: one for one in recorded_vehicles(recording)}
    settings = f"/{MISSION_SETTINGS.name}"
    flown = [name.removesuffix(settings) for name in recording.topics if name.endswith(settings)]
    missions = [RecordedMission(recording, one, vehicles.get(one)) for one in dict.fromkeys([*vehicles, *flown])]
    for mission in missions:
        try:
            _judge(mission)
        except (ParameterError, ValueError, TypeError, LookupError) as error:
            mission.problem = str(error)
    return missions


def _judge(mission: RecordedMission) -> None:
    """Determine the vehicle's mission and judge it.

    Raises:
        ParameterError: the vehicle, its task or a parameter's value does not exist in this installation.
        ValueError: a message has wrong contents.
        TypeError: the mission's settings are of another version.
        LookupError: a parameter is missing, or a message has an unknown name.
    """
    mission.was_flown = mission.recording.named(mission.full_name(MISSION_SETTINGS)) is not None
    settings = _settings(mission)
    recorded = mission.recorded
    if settings is not None:
        mission.vehicle, mission.name = settings.flown_vehicle(), settings.mission
        if recorded is not None:
            recorded.vehicle = mission.vehicle
    elif recorded is not None and recorded.vehicle is not None:
        mission.vehicle, mission.name = recorded.vehicle, mission_name(recorded.vehicle)
    if mission.vehicle is None or not mission.name:
        return
    judge_cls = judge_class(mission.name)
    if settings is None and judge_cls.PARAMETERS:
        mission.problem = _lacking(mission, [MISSION_SETTINGS])
        return
    judge = judge_cls(mission.vehicle, settings.parameters if settings else {})
    if settings is not None:
        judge.name = settings.name
    missing = _feed(mission, judge)
    mission.problem = _lacking(mission, missing) if missing else gap(judge.log.time_s)
    if mission.was_flown or (judge.has_begun and not missing):
        mission.judge = judge


def _settings(mission: RecordedMission) -> MissionSettings | None:
    """Settings of the mission that `fly` flew; None if they were not recorded.

    Raises:
        ValueError: the topic has another type.
    """
    topic = mission.recording.named(mission.full_name(MISSION_SETTINGS))
    if topic is None or not topic.messages:
        return None
    require_type(topic, type_name_of(MISSION_SETTINGS.message_type))
    return MissionSettings.of_text(MISSION_SETTINGS.decode(topic.messages[-1]).data)


def _feed(mission: RecordedMission, judge: MissionJudge) -> list[StepTopic[Any]]:
    """Pass the recorded messages to the judge; return the topics that are missing or have another type.

    Unless `fly` flew the mission, no message is passed on if a topic is missing.

    Raises:
        ValueError: a message has wrong contents.
        LookupError: a message has an unknown name.
    """
    takers: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], None]]] = {}
    missing: list[StepTopic[Any]] = []
    for one in judge.inputs:
        name = mission.full_name(one.topic)
        recorded = mission.recording.named(name)
        if recorded is not None and recorded.type_name == type_name_of(one.topic.message_type):
            takers[name] = one.topic.decode, one.take
        elif one.needed:
            missing.append(one.topic)
    if missing and not mission.was_flown:
        return missing
    for name, system_ns, message in _in_order(mission.recording.path, takers):
        judge.system_s = partial(float, system_ns / NANOSECONDS)
        decode, take = takers[name]
        take(decode(message))
    return missing


def gap(time_s: Array) -> str:
    """Describe the longest gap between rows of a log if it can change the verdict; otherwise return an empty text."""
    spans = np.diff(time_s)
    if not len(spans) or spans.max() <= _GAP_S:
        return ""
    row = int(spans.argmax())
    return f"messages were lost: the recording has a gap from {time_s[row]:.1f} s to {time_s[row + 1]:.1f} s"


def _in_order(path: Path, names: Container[str]) -> Iterator[tuple[str, int, bytes]]:
    """All messages of these topics, in the file's order: topic, system time (ns), message."""
    whole = read_recording(path, lambda name, _: sys.maxsize if name in names else 0)
    found = [
        (place, topic.name, system_ns, message)
        for topic in whole.topics.values()
        if topic.name in names
        for place, system_ns, message in zip(topic.places, topic.publish_ns.tolist(), topic.messages, strict=True)
    ]
    for _, name, system_ns, message in sorted(found):
        yield name, system_ns, message


def _lacking(mission: RecordedMission, topics: list[StepTopic[Any]]) -> str:
    """Why topics cannot be used: they were not recorded, or have another type."""
    absent, reasons = [], []
    for topic in topics:
        name = mission.full_name(topic)
        recorded = mission.recording.named(name)
        if recorded is None:
            absent.append(name)
            continue
        try:
            require_type(recorded, type_name_of(topic.message_type))
        except NoColumnsError as error:
            reasons.append(str(error))
    if absent:
        reasons.append(f"the recording has no messages of {', '.join(absent)}")
    return "; ".join(reasons)
