"""Topics of a camera, as rows for `SimulationNode.publisher` and `subscribe`.

rclpy copies the data of an image element by element. Here rclpy serialises the fields before the data only once; a
message consists of these bytes with the stamp, followed by the unchanged data.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.ground.stamps import STAMP, STAMP_AT, pack_stamp, time_ns_of
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import Floats, StepTopic
from rosflight_py_sim.step.wire import Coders, WireFormat

_COUNT = struct.Struct("<I")


class RawImage(NamedTuple):
    """Pixels row by row, one byte each for blue, green and red (3 width height)."""

    time_ns: int
    width: int
    height: int
    pixels: bytes


class PictureFile(NamedTuple):
    """An image as a JPEG file."""

    time_ns: int
    file: bytes


class CameraPose(NamedTuple):
    """Position (m, 3) of a camera and attitude (x y z w) of its optical frame, in body axes."""

    time_ns: int
    position_body: Floats
    quaternion_xyzw: Floats


class TailWire:
    """Encodes a message that begins with a header and ends with a byte array; stamp and bytes change."""

    def __init__(self, message: Any) -> None:
        """Serialise all fields of `message` except the stamp and the data, which must be empty."""
        assert len(message.data) == 0
        self._front = serialize_message(message)[STAMP_AT + STAMP.size : -_COUNT.size]
        self._encapsulation = serialize_message(message)[:STAMP_AT]

    def encode(self, time_ns: int, data: bytes) -> bytes:
        """Serialised message with the stamp `time_ns` and the data."""
        return b"".join((self._encapsulation, pack_stamp(time_ns), self._front, _COUNT.pack(len(data)), data))


def optical_frame(camera: str) -> str:
    """frame_id of a camera's messages."""
    return f"{camera}_camera_optical_frame"


def image_topic(camera: str) -> StepTopic[RawImage]:
    """Row of a camera's uncompressed images."""

    @lru_cache(maxsize=1)
    def wire(width: int, height: int) -> TailWire:
        message = Image(height=height, width=width, encoding="bgr8", step=3 * width)
        message.header.frame_id = optical_frame(camera)
        return TailWire(message)

    def encode(image: RawImage) -> bytes:
        return wire(image.width, image.height).encode(image.time_ns, image.pixels)

    def decode(data: bytes) -> RawImage:
        message = deserialize_message(data, Image)
        return RawImage(time_ns_of(message.header.stamp), message.width, message.height, bytes(message.data))

    return StepTopic(topic_names.camera_image(camera), Image, carried=RawImage, coders=Coders(encode, decode))


def compressed_topic(camera: str) -> StepTopic[PictureFile]:
    """Row of a camera's compressed images."""
    message = CompressedImage(format="bgr8; jpeg compressed bgr8")
    message.header.frame_id = optical_frame(camera)
    wire = TailWire(message)

    def decode(data: bytes) -> PictureFile:
        message = deserialize_message(data, CompressedImage)
        return PictureFile(time_ns_of(message.header.stamp), bytes(message.data))

    coders = Coders(lambda image: wire.encode(image.time_ns, image.file), decode)
    return StepTopic(topic_names.compressed_image(camera), CompressedImage, carried=PictureFile, coders=coders)


def info_topic(camera: str) -> StepTopic[CameraInfo]:
    """Row of a camera's projection (CameraInfo)."""
    return StepTopic(topic_names.camera_info(camera), CameraInfo)


def pose_topic(camera: str) -> StepTopic[CameraPose]:
    """Row of a camera's pose on the vehicle, published when it changes."""
    paths = {"position_body": "pose.position", "quaternion_xyzw": "pose.orientation"}
    coders = WireFormat(PoseStamped, "body").coders(CameraPose, paths, {})
    return StepTopic(topic_names.camera_pose(camera), PoseStamped, LATCHED, carried=CameraPose, coders=coders)
