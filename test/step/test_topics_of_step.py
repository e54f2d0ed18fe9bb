"""The table of step topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from rosflight_py_sim.step.topics import (
    AUTOPILOT_PROGRESS,
    CLOCK,
    IMU,
    IMU_DATA,
    RANGE,
    STEP_TOPICS,
    TRUTH_ERRORS,
    TRUTH_STATE,
    TRUTH_WIND,
    ImuEstimate,
    ImuSample,
    NamedNumbers,
    RangeSample,
    StepTopic,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth

STAMPED = {row.name: row for row in STEP_TOPICS if issubclass(row.carried, tuple)}


def filled(row: StepTopic[Any]) -> Any:
    """A message with a different number in each place, all exact in float32 and valid as integers."""
    numbers = iter(range(1, 100))
    fields = [
        tuple(type(x)(next(numbers)) for x in field) if isinstance(field, tuple) else type(field)(next(numbers))
        for field in zeros(row)[1:]
    ]
    return row.carried(5_000_000_007, *fields)


def zeros(row: StepTopic[Any]) -> Any:
    """The message that is decoded from a ROS message of zeros."""
    return row.decode(serialize_message(row.message_type()))


def test_each_topic_is_listed_once() -> None:
    names = [row.name for row in STEP_TOPICS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", STAMPED)
def test_message_survives_round_trip(name: str) -> None:
    row = STAMPED[name]
    message = filled(row)
    assert row.decode(row.encode(message)) == message
    ros = deserialize_message(row.encode(message), row.message_type)
    assert (ros.header.stamp.sec, ros.header.stamp.nanosec) == (5, 7)
    assert ros.header.frame_id == row.frame_id


def test_fields_map_to_ros_fields_of_same_meaning() -> None:
    ros = deserialize_message(IMU.encode(ImuSample(0, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))), IMU.message_type)
    assert (ros.angular_velocity.x, ros.angular_velocity.z) == (1.0, 3.0)
    assert (ros.linear_acceleration.x, ros.linear_acceleration.z) == (4.0, 6.0)
    # REP 145: -1 marks an IMU without an orientation.
    assert ros.orientation_covariance[0] == -1.0
    estimate = ImuEstimate(0, (0.1, 0.2, 0.3, 0.9), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    ros = deserialize_message(IMU_DATA.encode(estimate), IMU_DATA.message_type)
    assert (ros.orientation.x, ros.orientation.w, ros.orientation_covariance[0]) == (0.1, 0.9, 0.0)
    ros = deserialize_message(RANGE.encode(RangeSample(0, 0.5, 1.0, 2.0, 1.5)), RANGE.message_type)
    assert (ros.radiation_type, ros.field_of_view, ros.min_range, ros.max_range, ros.range) == (0, 0.5, 1.0, 2.0, 1.5)


@pytest.mark.parametrize("count", range(1, 6))
def test_named_numbers_are_those_of_a_joint_state(count: int) -> None:
    names = tuple("abcdef"[: number + 1] for number in range(count))
    message = NamedNumbers(5_000_000_007, names, tuple(float(number) for number in range(count)))
    data = TRUTH_ERRORS.encode(message)
    assert TRUTH_ERRORS.decode(data) == message
    ros = JointState(name=list(names), position=message.numbers)
    ros.header.stamp.sec, ros.header.stamp.nanosec = 5, 7
    assert deserialize_message(data, JointState) == ros


def test_truth_message_carries_the_truth_vector() -> None:
    truth = np.arange(1.0, 20.0)
    data = TRUTH_STATE.encode(VehicleState(3, truth))
    message = message_of_truth(truth)
    message.header.stamp.nanosec, message.header.frame_id = 3, "NED"
    assert deserialize_message(data, TRUTH_STATE.message_type) == message
    state = TRUTH_STATE.decode(data)
    assert state.time_ns == 3
    np.testing.assert_array_equal(state.truth, truth)
    np.testing.assert_array_equal(state.velocity_body, truth[7:10])


def test_rows_with_float_fields_have_a_rounding_function() -> None:
    for row in STAMPED.values():
        has_floats = any("float" in kind for kind in row.message_type.get_fields_and_field_types().values())
        assert (row.as_received is None) != has_floats, row


@pytest.mark.parametrize("name", STAMPED)
def test_message_as_received_equals_decoded_message(name: str) -> None:
    row = STAMPED[name]
    message = row.carried._make(filled(row)[:1] + tuple(in_thirds(field) for field in filled(row)[1:]))
    received = row.as_received(message) if row.as_received is not None else message
    assert received == row.decode(row.encode(message))


def in_thirds(field: Any) -> Any:
    """Numbers that float32 cannot represent exactly; integers and flags unchanged."""
    if isinstance(field, tuple):
        return tuple(map(in_thirds, field))
    return field / 3.0 if isinstance(field, float) else field


def test_clock_and_plain_messages_survive_round_trip() -> None:
    assert CLOCK.decode(CLOCK.encode(12_000_000_345)) == 12_000_000_345
    assert AUTOPILOT_PROGRESS.decode(AUTOPILOT_PROGRESS.encode(Float64(data=0.25))).data == 0.25


def test_subscription_qos_is_no_stricter_than_the_time_mode_needs() -> None:
    for mode in ("wall", "paced", "gated"):
        assert CLOCK.requested_qos(mode).reliability == ReliabilityPolicy.BEST_EFFORT
        assert TRUTH_WIND.requested_qos(mode).durability == DurabilityPolicy.VOLATILE
        assert IMU.requested_qos(mode).durability == DurabilityPolicy.VOLATILE
    assert CLOCK.requested_qos("lockstep").reliability == ReliabilityPolicy.RELIABLE
    assert TRUTH_WIND.requested_qos("lockstep").durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert IMU.requested_qos("lockstep").durability == DurabilityPolicy.TRANSIENT_LOCAL


def test_renamed_topic_differs_only_in_name() -> None:
    other = RANGE.renamed("elsewhere")
    assert (other.name, other.is_exclusive) == ("elsewhere", False)
    assert RANGE.name == "sim/sensors/range"
    assert other.decode(RANGE.encode(filled(RANGE))) == filled(RANGE)
