"""rclpy decodes markers and transforms from the fast encoders like those from its own encoder."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import Point, TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import ColorRGBA
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from rosflight_py_sim.interfaces.marker_wire import MarkerWire
from rosflight_py_sim.interfaces.transform_wire import TransformWire


# Names of every length modulo 8, which determines the alignment of the numbers.
@pytest.mark.parametrize("name", ["m" * length for length in range(1, 10)])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_marker_encoding_matches_rclpy(name: str, count: int) -> None:
    one = Marker(ns=name, id=7, type=Marker.LINE_STRIP, action=Marker.ADD, text="a", mesh_resource="bc")
    one.header.frame_id = "map"
    one.pose.orientation.w = 1.0
    one.scale.x = 0.5
    one.color = ColorRGBA(r=1.0, a=0.5)
    one.lifetime.sec = 3
    wire = MarkerWire(one)
    points = np.random.default_rng(1).normal(size=(count, 3))
    one.points = [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
    one.header.stamp.sec, one.header.stamp.nanosec = 12, 345
    coded = wire.encode(12_000_000_345, points)
    # Not byte by byte: rclpy leaves alignment bytes uninitialised.
    assert deserialize_message(coded, Marker) == one
    assert len(coded) == len(serialize_message(one))


@pytest.mark.parametrize("name", ["f" * length for length in range(1, 10)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_transform_encoding_matches_rclpy(name: str, count: int) -> None:
    frames = [(f"map{'x' * k}", f"{name}{k}") for k in range(count)]
    numbers = np.random.default_rng(2).normal(size=(count, 7)).tolist()
    message = TFMessage()
    for (parent, child), (x, y, z, qx, qy, qz, qw) in zip(frames, numbers, strict=True):
        one = TransformStamped(child_frame_id=child)
        one.header.frame_id = parent
        one.header.stamp.sec, one.header.stamp.nanosec = 3, 250_000_000
        place, turn = one.transform.translation, one.transform.rotation
        place.x, place.y, place.z = x, y, z
        turn.x, turn.y, turn.z, turn.w = qx, qy, qz, qw
        message.transforms.append(one)
    coded = TransformWire(frames).encode(3_250_000_000, numbers)
    assert deserialize_message(coded, TFMessage) == message
    assert len(coded) == len(serialize_message(message))
