"""Equal messages have equal canonical forms, whatever their padding; different messages do not."""

from __future__ import annotations

from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import Bool

from rosflight_py_sim.interfaces.canonical_messages import canonical_form, canonical_form_of_own
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState


def test_padding_is_left_out() -> None:
    convert = canonical_form("std_msgs/msg/Bool")
    assert convert(b"\0\1\0\0\1U\0\0") == convert(b"\0\1\0\0\1V\0\0") == convert(serialize_message(Bool(data=True)))
    assert convert(serialize_message(Bool(data=False))) != convert(serialize_message(Bool(data=True)))


def test_data_of_arrays_count_to_the_last_bit() -> None:
    one, other = CompressedImage(data=bytes(5000)), CompressedImage(data=bytes(4999) + b"\1")
    convert = canonical_form("sensor_msgs/msg/CompressedImage")
    assert convert(serialize_message(one)) != convert(serialize_message(other))


def test_message_of_fixed_layout_is_its_own_form() -> None:
    data = TRUTH_STATE.encode(VehicleState())
    assert canonical_form_of_own(TRUTH_STATE.message_type)(data) == data
