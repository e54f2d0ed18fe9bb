"""Failures in a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from rosflight_py_sim.ground.topic_names import ACTIVE_FAILURES
from rosflight_py_sim.interfaces.message_definitions import message_definition, type_name_of
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.recording.recorded_failures import RecordedFailure, failures_of


def recording(namespace: str, *messages: tuple[float, str]) -> Recording:
    type_name = type_name_of(String)
    topic = Topic(f"{namespace}/{ACTIVE_FAILURES}", type_name, "cdr", "ros2msg", message_definition(type_name))
    topic.messages = [serialize_message(String(data=text)) for _, text in messages]
    topic.kept = list(range(len(messages)))
    topic.log_ns = np.array([round(time_s * 1e9) for time_s, _ in messages])
    return Recording(Path("flight.mcap"), 0, topics={topic.name: topic})


def test_each_failure_has_its_node_beginning_and_end() -> None:
    found = failures_of(
        recording(
            "/one",
            (1.0, "sensors: gnss jammed"),
            (2.0, "bridge: link lost at 2 for 3"),
            (3.0, "sensors: gnss jammed, gyro wrong by 0 0.5 0"),
            (4.0, "sensors: gyro wrong by 0 0.5 0"),
            (5.0, "bridge: none"),
            (6.0, "bridge: link lost at 2 for 3"),
        ),
        "/one",
    )
    assert found == [
        RecordedFailure(1.0, 4.0, "sensors", "gnss jammed"),
        RecordedFailure(2.0, 5.0, "bridge", "link lost at 2 for 3"),
        RecordedFailure(3.0, None, "sensors", "gyro wrong by 0 0.5 0"),
        RecordedFailure(6.0, None, "bridge", "link lost at 2 for 3"),
    ]


def test_recording_without_failures_has_none() -> None:
    assert failures_of(recording("/one", (1.0, "sensors: none")), "/one") == []
    assert failures_of(recording("/one", (1.0, "sensors: mag off")), "/two") == []
