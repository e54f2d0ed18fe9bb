"""Flight in a recording, for tests of programs that run in processes of their own, such as those of launch_testing."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.message_definitions import message_class, type_name_of
from rosflight_py_sim.missions.recorded_mission import RecordedMission, recorded_missions
from rosflight_py_sim.recording.mcap_file import NotMcapError, Recording, read_recording
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.sweep.fly_run import outcome_of, rows_of
from rosflight_py_sim.sweep.pipeline_flight import Sent
from rosflight_py_sim.testing.flown import FlownSimulation

# Topics with images are read only if a test wants them.
_PICTURES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")


def recorded_flight(file: str | Path, topics: Sequence[str] = ()) -> FlownSimulation:
    """The flight in a recording, with the same requirements as a flight of the fixture `simulation`.

    Args:
        file: MCAP file, or folder of `ros2 bag record -s mcap`.
        topics: names of the topics whose messages are kept, for `require_rate` and `require_within`; with the vehicle's
            name and a slash before it if the vehicle has a namespace.

    Raises:
        ParameterError: the file cannot be read, has no mission, or lacks a topic.
    """
    wanted = {f"/{name}" for name in topics}

    def kept_of(name: str, type_name: str) -> int:
        return sys.maxsize if name in wanted or type_name not in _PICTURES else 0

    try:
        recording = read_recording(Path(file), kept_of)
    except NotMcapError as error:
        raise ParameterError(str(error)) from error
    missions = recorded_missions(recording)
    if not missions:
        raise ParameterError(f"{file}: a recording without a vehicle given; allowed: recordings of flights")
    judges = [one.judge for one in missions if one.judge is not None]
    names, reasons = outcome_of(judges, math.inf, several=len(missions) > 1)
    # A mission without a verdict is not completed.
    reasons += [f"{one.vehicle_name}: {one.problem}" for one in missions if one.problem]
    reasons += [f"{one.vehicle_name}: no mission" for one in missions if one.judge is None and not one.problem]
    rows = _rows(missions)
    messages = {name: _messages(recording, name, rows) for name in topics}
    title = f"{', '.join(one.vehicle_name for one in missions)}, {Path(file).name}"
    return FlownSimulation(title, recording.span_ns[1] / NANOSECONDS, names, reasons, messages)


def _rows(missions: Sequence[RecordedMission]) -> Mapping[str, Sent]:
    """Topics of the vehicles' own nodes, by full name."""
    rows: dict[str, Sent] = {}
    for one in missions:
        if one.vehicle is not None:
            autopilots = (one.vehicle.autopilot,) if one.vehicle.autopilot else ()
            rows |= rows_of([Member(one.vehicle, one.namespace.strip("/"), executables=autopilots)])
    return rows


def _messages(recording: Recording, name: str, rows: Mapping[str, Sent]) -> list[tuple[float, Any]]:
    """Time (s) and content of each message: as nodes of this package receive it, or the ROS message."""
    topic = recording.named(f"/{name}")
    if topic is None:
        recorded = ", ".join(sorted(one.removeprefix("/") for one in recording.topics))
        raise ParameterError(f"topic '{name}' given; allowed, as recorded: {recorded}")
    row = rows.get(topic.name)
    if row is not None and type_name_of(row.topic.message_type) == topic.type_name:
        known = row.topic
    else:
        known = StepTopic(name, message_class(topic.type_name))
    return list(zip(topic.kept_s.tolist(), map(known.decode, topic.messages), strict=True))
