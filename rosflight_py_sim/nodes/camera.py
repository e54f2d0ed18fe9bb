"""Cameras of a vehicle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, Gimbal, NoPandaError, Renderer, cameras
from rosflight_py_sim.interfaces.camera_topics import (
    Picture,
    PictureFile,
    compressed_topic,
    image_topic,
    info_topic,
    optical_frame,
)
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import PWM_OUTPUT, TRUTH_STATE, PulseWidths
from rosflight_py_sim.interfaces.ticks import Schedule
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.stamps import set_time
from rosflight_py_sim.world import world_of

Pixels: TypeAlias = NDArray[np.uint8]
"""An image (height, width, 3), blue green red."""


class CameraNode(SimulationNode):
    """Publishes images of the vehicle's cameras, rendered without a display.

    An image is rendered from the truth state with its stamp, and only if its topic has a subscription. No step waits
    for it: a camera node in its own process that is too slow skips images.
    """

    DEFAULT_NAME: ClassVar[str] = "camera"
    PARAMETERS: ClassVar[ParameterTable] = CAMERA_PARAMETERS

    # A class attribute, because a node that fails during construction is also destroyed.
    _renderer: Renderer | None = None

    def __init__(self, **arguments: Any) -> None:
        """Build the world and subscribe to the truth state."""
        self._views: list[_View] = []
        super().__init__(**arguments)
        self._renderer = self._new_renderer()
        self._encoder = _JpegEncoder()
        self._pwm = self.poll(PWM_OUTPUT) if self._gimbal.camera else None
        self.follow_stamps()
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN, needed=True)

    def configure(self, values: dict[str, Value]) -> None:
        """Apply the parameters that can change while the node runs."""
        chosen = cameras(values)
        gimbal = Gimbal(values, [camera.name for camera in chosen])
        if not self._views:
            self._views = [_View(self, camera) for camera in chosen]
        for view, camera in zip(self._views, chosen, strict=True):
            view.mounted = view.camera = camera
        self._gimbal = gimbal
        self._quality = int(number(values, "jpeg_quality"))
        self._schedule = Schedule(number(values, "frame_rate"))

    def destroy_node(self) -> None:
        """Also free the renderer."""
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
        self.update_clock(time_ns)
        if not self._schedule.due(time_ns) or self._renderer is None:
            return
        if self._pwm is not None:
            self._turn_gimbal(self._pwm.take())
        for view in self._views:
            view.publish(time_ns, partial(self._renderer.render, view.camera, state.truth), self._compress)

    def _turn_gimbal(self, pwm: PulseWidths | None) -> None:
        for view in self._views:
            if pwm is not None and view.mounted.name == self._gimbal.camera:
                view.camera = self._gimbal.turned(view.mounted, pwm.pulse_us)

    def _compress(self, pixels: Pixels) -> bytes:
        return self._encoder.encode(pixels, self._quality)


class _JpegEncoder:
    """JPEG encoder of OpenCV."""

    def __init__(self) -> None:
        try:
            import cv2
        except ImportError as error:
            raise ParameterError(
                f"OpenCV, which compresses the images, is not installed ({error}); install it with `pip install "
                "opencv-python-headless` (or this package's extra 'auv'), or leave the cameras out"
            ) from error
        self._cv2 = cv2

    def encode(self, image: Pixels, quality: int) -> bytes:
        """Bytes of a JPEG file of the image."""
        done, data = self._cv2.imencode(".jpg", image, [self._cv2.IMWRITE_JPEG_QUALITY, quality])
        assert done
        return bytes(data)


class _View:
    """The topics of one camera.

    Attributes:
        mounted: mounting and optics of the camera.
        camera: the same, as the gimbal turns it.
    """

    def __init__(self, node: SimulationNode, camera: Camera) -> None:
        self.mounted = self.camera = camera
        # The compressed topic first: a recording may leave out images that also exist compressed.
        self._send_file = node.lazy_publisher(compressed_topic(camera.name))
        self._send_picture = node.lazy_publisher(image_topic(camera.name))
        self._send_info = node.lazy_publisher(info_topic(camera.name))

    def publish(self, time_ns: int, render: Callable[[], Pixels], compress: Callable[[Pixels], bytes]) -> None:
        """Publish the image in the formats that have subscriptions, and the projection."""
        pixels = cache(render)
        camera = self.camera
        self._send_picture(lambda: Picture(time_ns, camera.width, camera.height, pixels().tobytes()))
        self._send_file(lambda: PictureFile(time_ns, compress(pixels())))
        self._send_info(lambda: self._info(time_ns))

    def _info(self, time_ns: int) -> CameraInfo:
        info = camera_info(self.camera)
        set_time(info.header.stamp, time_ns)
        return info


def camera_info(camera: Camera) -> CameraInfo:
    """sensor_msgs/CameraInfo of a camera, at time 0."""
    f, (cx, cy) = camera.focal_length, camera.centre
    return CameraInfo(
        header=Header(frame_id=optical_frame(camera.name)),
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
