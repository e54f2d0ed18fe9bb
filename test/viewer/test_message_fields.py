"""Fields of messages by their names, live and recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from rosflight_msgs.msg import PwmOutput, SimState
from sensor_msgs.msg import JointState

from rosflight_py_sim.interfaces.message_definitions import message_definition
from rosflight_py_sim.recording.mcap_file import Recording, Topic
from rosflight_py_sim.viewer.recorded_messages import RecordedMessages
from rosflight_py_sim.viewer.web.message_fields import fields_of, value_of


def test_fields_are_all_numbers_of_a_message_by_name() -> None:
    state = SimState()
    state.twist.linear.x = 3.5
    fields = fields_of(state)
    assert {"header.stamp.sec", "pose.position.z", "pose.orientation.w", "twist.linear.x"} <= set(fields)
    assert not any("frame_id" in field for field in fields)
    assert value_of(state, "twist.linear.x") == 3.5
    assert all(value_of(state, field) is not None for field in fields)


def test_elements_of_arrays_are_fields() -> None:
    assert "values[13]" in fields_of(PwmOutput())
    joints = JointState(name=["one", "two"], position=[1.0, 2.0])
    fields = fields_of(joints)
    assert [field for field in fields if not field.startswith("header")] == ["position[0]", "position[1]"]
    assert value_of(joints, "position[1]") == 2.0
    # A later message may have fewer elements.
    assert value_of(JointState(), "position[1]") is None


def test_recorded_message_is_the_newest_at_a_time() -> None:
    type_name = "rosflight_msgs/msg/SimState"
    topic = Topic("/sim/truth_state", type_name, "cdr", "ros2msg", message_definition(type_name))
    for k in range(3):
        state = SimState()
        state.pose.position.x = 10.0 * k
        topic.messages.append(serialize_message(state))
    topic.kept, topic.log_ns = [0, 1, 2], np.array([100, 101, 102]) * 10**9
    image = Topic("/camera", "sensor_msgs/msg/Image", "cdr", "ros2msg", "", messages=[b""])
    messages = RecordedMessages(Recording(Path("one.mcap"), 0, topics={"/a": topic, "/camera": image}), 100.0)
    assert messages.topics() == ["/a"]
    assert messages.newest("/a", -0.1) is None
    for time_s, north in ((0.0, 0.0), (1.5, 10.0), (99.0, 20.0)):
        assert value_of(messages.newest("/a", time_s), "pose.position.x") == pytest.approx(north)
    messages.keep(set())
    assert value_of(messages.newest("/a", 0.0), "pose.position.x") == 0.0
