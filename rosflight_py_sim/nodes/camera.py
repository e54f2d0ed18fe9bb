"""The cameras of a vehicle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from rosflight_py_sim import topic_names
from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, NoPandaError, Renderer, cameras
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import TRUTH_STATE
from rosflight_py_sim.interfaces.tail_wire import TailWire
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.stamps import set_time
from rosflight_py_sim.world import world_of


class CameraNode(SimulationNode):
    """Publishes what the vehicle's cameras see of the world, drawn without a display.

    A picture is made of the truth state of its stamp, and only of what somebody listens to. Nobody waits for it: a
    camera in a process of its own that is too slow leaves pictures out.
    """

    DEFAULT_NAME: ClassVar[str] = "camera"
    PARAMETERS: ClassVar[ParameterTable] = CAMERA_PARAMETERS

    # Here because a node that refuses its parameters is destroyed, too.
    _renderer: Renderer | None = None

    def __init__(self, **arguments: Any) -> None:
        """Build the world and start listening to the truth state."""
        self._outlets: list[_Outlet] = []
        super().__init__(**arguments)
        self._renderer = self._new_renderer()
        self._encoder = _JpegEncoder()
        self.follow_stamps()
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN, needed=True)

    def configure(self, values: dict[str, Value]) -> None:
        """Take over what can be changed while it runs."""
        chosen = cameras(values)
        if not self._outlets:
            self._outlets = [_Outlet(self, camera) for camera in chosen]
        for outlet, camera in zip(self._outlets, chosen, strict=True):
            outlet.look_through(camera)
        self._quality = int(number(values, "jpeg_quality"))
        self._schedule = Schedule(number(values, "frame_rate"))

    def destroy_node(self) -> None:
        """Give the pictures' memory back, too."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        super().destroy_node()

    def _new_renderer(self) -> Renderer:
        size = int(number(self.values, "image_width")), int(number(self.values, "image_height"))
        world = world_of(self.values)
        try:
            return Renderer(world, *size, antialiasing=bool(self.values["antialiasing"]))
        except NoPandaError as error:
            raise ParameterError(f"{error}; or leave the cameras out") from error

    def _on_truth(self, state: VehicleState) -> None:
        time_ns = state.time_ns
        self.tell_time(time_ns)
        if not self._schedule.due(time_ns) or self._renderer is None:
            return
        for outlet in self._outlets:
            if outlet.wants_picture:
                picture = self._renderer.render(outlet.camera, state.truth)
                outlet.publish(time_ns, picture, self._encoder, self._quality)
            outlet.publish_info(time_ns)


class _JpegEncoder:
    """OpenCV's."""

    def __init__(self) -> None:
        try:
            import cv2
        except ImportError as error:
            raise ParameterError(
                f"OpenCV, which compresses the pictures, is not installed ({error}); `pip install "
                "opencv-python-headless` (or this package's extra 'auv') brings it; or leave the cameras out"
            ) from error
        self._cv2 = cv2

    def encode(self, picture: NDArray[np.uint8], quality: int) -> bytes:
        """A JPEG file's bytes of a picture (height, width, 3), blue green red."""
        done, data = self._cv2.imencode(".jpg", picture, [self._cv2.IMWRITE_JPEG_QUALITY, quality])
        assert done
        return bytes(data)


class _Outlet:
    """The topics of one camera."""

    def __init__(self, node: SimulationNode, camera: Camera) -> None:
        image, compressed = topic_names.camera_image(camera.name), topic_names.compressed_image(camera.name)
        info = topic_names.camera_info(camera.name)
        self._raw: Publisher[Image] = node.create_publisher(Image, image, CHAIN)
        self._compressed: Publisher[CompressedImage] = node.create_publisher(CompressedImage, compressed, CHAIN)
        self._info: Publisher[CameraInfo] = node.create_publisher(CameraInfo, info, CHAIN)
        self.look_through(camera)

    def look_through(self, camera: Camera) -> None:
        """Be the outlet of this camera from now on."""
        self.camera = camera
        frame = f"{camera.name}_camera_optical_frame"
        width, height = camera.width, camera.height
        raw = Image(height=height, width=width, encoding="bgr8", step=3 * width)
        compressed = CompressedImage(format="bgr8; jpeg compressed bgr8")
        info = camera_info(camera)
        for message in (raw, compressed, info):
            message.header.frame_id = frame
        self._raw_wire, self._compressed_wire = TailWire(raw), TailWire(compressed)
        self._info_message = info

    @property
    def wants_picture(self) -> bool:
        """Whether anybody listens to pictures."""
        return self._raw.get_subscription_count() > 0 or self._compressed.get_subscription_count() > 0

    def publish(self, time_ns: int, picture: NDArray[np.uint8], encoder: _JpegEncoder, quality: int) -> None:
        """Send the picture in the forms that somebody listens to."""
        if self._raw.get_subscription_count() > 0:
            self._raw.publish(self._raw_wire.encode(time_ns, picture.tobytes()))
        if self._compressed.get_subscription_count() > 0:
            self._compressed.publish(self._compressed_wire.encode(time_ns, encoder.encode(picture, quality)))

    def publish_info(self, time_ns: int) -> None:
        """Send how the camera projects, if somebody listens."""
        if self._info.get_subscription_count() == 0:
            return
        set_time(self._info_message.header.stamp, time_ns)
        self._info.publish(serialize_message(self._info_message))


def camera_info(camera: Camera) -> CameraInfo:
    """sensor_msgs/CameraInfo, without a header, of a camera."""
    f, (cx, cy) = camera.focal_length, camera.centre
    return CameraInfo(
        height=camera.height,
        width=camera.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def main() -> None:
    """Run the node."""
    run(CameraNode)


if __name__ == "__main__":
    main()
