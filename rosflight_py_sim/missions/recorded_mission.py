"""Judging of a recorded mission: the recorded messages go to the judge in the order in which they were recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rosflight_py_sim.interfaces.message_definitions import type_name_of
from rosflight_py_sim.interfaces.step_topics import StepTopic
from rosflight_py_sim.missions.catalogue import judge_of
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.missions.mission_topics import MISSION_SETTINGS
from rosflight_py_sim.parameters import ParameterError, Values
from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle, recorded_vehicles
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import Vehicle, vehicle


@dataclass
class RecordedMission:
    """Mission of a vehicle in a recording.

    Attributes:
        one: the recorded vehicle.
        name: of the mission; empty if the vehicle has none, or is unknown.
        was_flown: whether `fly` flew the mission, so that a missing verdict is an error.
        judge: judge that has received the recorded messages; None if the mission was not judged.
        problem: why it was not; empty otherwise.
    """

    one: RecordedVehicle
    name: str = ""
    was_flown: bool = False
    judge: MissionJudge | None = None
    problem: str = ""


def recorded_missions(recording: Recording) -> list[RecordedMission]:
    """The mission of each vehicle of a recording, judged if possible."""
    return [_mission(one) for one in recorded_vehicles(recording)]


def _mission(one: RecordedVehicle) -> RecordedMission:
    mission = RecordedMission(one)
    try:
        flown = _settings(one)
        mission.was_flown = flown is not None
        one.vehicle, values = flown or (one.vehicle, {})
        chosen = judge_of(one.vehicle) if one.vehicle is not None else None
        if one.vehicle is None or chosen is None:
            return mission
        mission.name, judge_class = chosen
        if judge_class.PARAMETERS and flown is None:
            mission.problem = _lacking([_full_name(one, MISSION_SETTINGS)])
            return mission
        judge = judge_class(one.vehicle, values)
        mission.problem = _feed(one, judge)
    except (ParameterError, ValueError, LookupError) as error:
        mission.problem = str(error)
        return mission
    if not mission.problem and (judge.has_begun or mission.was_flown):
        mission.judge = judge
    return mission


def _settings(one: RecordedVehicle) -> tuple[Vehicle, Values] | None:
    """Vehicle and parameters of the mission that `fly` flew; None if they were not recorded.

    Raises:
        ParameterError: there is no such vehicle.
    """
    topic = one.recording.named(_full_name(one, MISSION_SETTINGS))
    if topic is None or not topic.messages:
        return None
    settings = json.loads(MISSION_SETTINGS.decode(topic.messages[-1]).data)
    return vehicle(settings["vehicle"]), settings["parameters"]


def _feed(one: RecordedVehicle, judge: MissionJudge) -> str:
    """Pass the recorded messages to the judge; return the reason if topics are missing, else an empty text.

    Raises:
        ValueError: a message does not fit.
    """
    takers: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], None]]] = {}
    missing = []
    for topic, take, needed in judge.inputs:
        name = _full_name(one, topic)
        recorded = one.recording.named(name)
        if recorded is not None and recorded.type_name == type_name_of(topic.message_type):
            takers[name] = topic.decode, take
        elif needed:
            missing.append(name)
    if missing:
        return _lacking(missing)
    for name, system_ns, message in _in_order(one.recording.path, takers):
        judge.system_s = partial(float, system_ns / NANOSECONDS)
        decode, take = takers[name]
        take(decode(message))
    return ""


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


def _full_name(one: RecordedVehicle, topic: StepTopic[Any]) -> str:
    return topic.name if topic.name.startswith("/") else f"{one.namespace}/{topic.name}"


def _lacking(names: list[str]) -> str:
    return f"the recording has no messages of {', '.join(names)}"
