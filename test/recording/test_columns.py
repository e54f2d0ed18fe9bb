"""Messages as columns of numbers: the same values as from rclpy, for either byte order."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from rosflight_msgs.msg import GNSS, PwmOutput, SimState, Status
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import String

from rosflight_py_sim.interfaces.message_definitions import message_definition, type_name_of
from rosflight_py_sim.recording.columns import NoColumnsError, columns
from rosflight_py_sim.recording.mcap_file import Topic


def topic_of(messages: list[Any]) -> Topic:
    name = type_name_of(type(messages[0]))
    topic = Topic("/topic", name, "cdr", "ros2msg", message_definition(name))
    topic.messages = [serialize_message(message) for message in messages]
    topic.kept = list(range(len(messages)))
    topic.log_ns = np.arange(len(messages)) * 10**9
    return topic


def value_at(message: Any, path: str) -> Any:
    for part in path.split("."):
        message = getattr(message, part)
    return message


def filled(message: Any, seed: int) -> Any:
    """The message with different numbers in each field."""
    generator = np.random.default_rng(seed)

    def fill(one: Any) -> None:
        for field, kind in one.get_fields_and_field_types().items():
            value = getattr(one, field)
            if hasattr(value, "get_fields_and_field_types"):
                fill(value)
            elif kind in ("double", "float"):
                setattr(one, field, float(np.float32(generator.normal())))
            elif kind == "boolean":
                setattr(one, field, bool(generator.integers(2)))
            elif "int" in kind and "[" not in kind and "sequence" not in kind:
                setattr(one, field, int(generator.integers(100)))
            elif "[" in kind:
                setattr(one, field, generator.integers(100, size=len(value)).astype(value.dtype))

    fill(message)
    return message


@pytest.mark.parametrize("kind", [SimState, PwmOutput, GNSS, Imu, WrenchStamped, Status, Clock])
def test_every_number_equals_what_was_sent_in_any_message_layout(kind: Any) -> None:
    messages = [filled(kind(), seed) for seed in range(6)]
    if hasattr(messages[0], "header"):
        for message, frame in zip(messages, ("", "NED", "NED", "base_link", "x", "NED"), strict=True):
            message.header.frame_id = frame
    found = columns(topic_of(messages))
    assert found.time_s.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert len(found.values) >= 2
    for path, column in found.values.items():
        sent = [value_at(message, path) for message in messages]
        np.testing.assert_array_equal(column, np.array(sent, np.float64), err_msg=path)


def test_big_endian_messages_are_decoded() -> None:
    topic = topic_of([Clock()])
    topic.messages = [b"\x00\x00\x00\x00" + struct.pack(">iI", 7, 8)]
    found = columns(topic)
    assert found.stack("clock.sec", "clock.nanosec").tolist() == [[7.0, 8.0]]


def test_nan_is_preserved() -> None:
    state = SimState()
    state.pose.position.x = math.nan
    assert math.isnan(columns(topic_of([state])).values["pose.position.x"][0])


def test_type_without_fixed_layout_is_rejected_by_name() -> None:
    with pytest.raises(NoColumnsError, match="std_msgs/String has a field without a fixed size: string data"):
        columns(topic_of([String(data="x")]))


@pytest.mark.parametrize("cut", [3, 12, 20, 60])
def test_message_not_matching_its_type_is_rejected(cut: int) -> None:
    topic = topic_of([SimState()])
    topic.messages = [topic.messages[0][:cut]]
    with pytest.raises(NoColumnsError, match="/topic: a message"):
        columns(topic)


def test_unknown_type_or_encoding_is_rejected() -> None:
    topic = topic_of([Clock()])
    topic.definition = "not_there/Thing thing"
    with pytest.raises(NoColumnsError, match="the type not_there/Thing is not in the recording"):
        columns(topic)
    topic.schema_encoding = "ros2idl"
    with pytest.raises(NoColumnsError, match="'ros2idl'"):
        columns(topic)
