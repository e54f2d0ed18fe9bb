"""Cameras of a vehicle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, Faces, Gimbal, NoPandaError, Renderer, cameras
from rosflight_py_sim.failures.failure import FAILURES, OFF, STUCK
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.coordinate_frames import OPTICAL_IN_FRD
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS
from rosflight_py_sim.nodes.vehicle_shape import faces_of_shape, vehicle_shapes
from rosflight_py_sim.step.camera_topics import (
    CameraPose,
    PictureFile,
    RawImage,
    compressed_topic,
    image_topic,
    info_topic,
    optical_frame,
    pose_topic,
)
from rosflight_py_sim.step.ports import each, output, polled, repeated, synchronized, trigger
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import PWM_OUTPUT, TRUTH_STATE, Floats, PulseWidths
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.viewer.appearance import APPEARANCE
from rosflight_py_sim.world import world_of

Pixels: TypeAlias = NDArray[np.uint8]
"""An image (height, width, 3), blue green red."""


class CameraNode(PartNode):
    """Publishes images of the vehicle's cameras, rendered without a display.

    An image is rendered from the truth states with its stamp, of the vehicle and of all others in the simulation, and
    only if its topic has a subscription. In lockstep it waits for the states of the others. No step waits for an image:
    a camera node in its own process that is too slow skips images.
    """

    DEFAULT_NAME: ClassVar[str] = "camera"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            TIME_MODE,
            VEHICLES.overridden(
                "for the camera, of all vehicles in the simulation, relative to the simulation's namespace: images "
                "show all but its own"
            ),
            APPEARANCE,
            FAILURES,
        )
        + CAMERA_PARAMETERS
    )
    FALLIBLE: ClassVar[tuple[str, ...]] = ("camera",)
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = ParameterTable(APPEARANCE, PHYSICS)
    SERVES_ALL: ClassVar[bool] = False

    # The compressed images first: a recording may leave out images that also exist compressed.
    send_file = each("names", lambda camera: output(compressed_topic(camera), lazy=True))
    send_picture = each("names", lambda camera: output(image_topic(camera), lazy=True))
    send_info = each("names", lambda camera: output(info_topic(camera), lazy=True))
    send_pose = each("names", lambda camera: output(pose_topic(camera)))
    others = each("other_vehicles", lambda vehicle: synchronized(TRUTH_STATE, required=True, at=vehicle, qos=CHAIN))
    states = trigger(TRUTH_STATE, needed=True, qos=CHAIN)
    repetition = repeated()
    take_pwm = polled(PWM_OUTPUT, when="has_gimbal")

    # A class attribute, because a node that fails during construction is also destroyed.
    _renderer: Renderer | None = None

    def initialise(self) -> None:
        """Set the state before the first image."""
        super().initialise()
        self._is_off = self._is_stuck = False
        self._drawn: tuple[NDArray[np.float64], list[NDArray[np.float64]]] | None = None
        self._poses: dict[str, tuple[Floats, Floats]] = {}

    def configure(self, values: dict[str, Value]) -> None:
        """Apply the parameters that can change while the node runs."""
        mounted = cameras(values)
        self.names = [camera.name for camera in mounted]
        self._gimbal = Gimbal(values, self.names)
        self._quality = int(number(values, "jpeg_quality"))
        self._schedule = Schedule(number(values, "frame_rate"))
        # As mounted, and as the gimbal turns them.
        self._mounted, self._cameras = mounted, list(mounted)

    def begin(self) -> None:
        """Build the world."""
        self._encoder = _JpegEncoder()
        around, others = self._surroundings
        shapes = vehicle_shapes(self, others, around)
        self._renderer = self._new_renderer([faces_of_shape(shape) for shape in shapes.values()])

    @cached_property
    def _surroundings(self) -> tuple[str, list[str]]:
        return surroundings(self.get_namespace(), vehicle_namespaces(self.values["vehicles"]))

    @property
    def other_vehicles(self) -> list[str]:
        """Full namespaces of the other vehicles."""
        around, others = self._surroundings
        return [f"{around}/{name}" for name in others]

    def has_gimbal(self) -> bool:
        """Whether outputs of the flight controller turn a camera."""
        return bool(self._gimbal.camera)

    def fail(self, signals: Signals) -> None:
        """Let the cameras fail."""
        signal = signals.get(("camera", 0))
        self._is_off = signal is not None and signal.has(OFF)
        self._is_stuck = signal is not None and signal.has(STUCK)

    def destroy_node(self) -> None:
        """Also free the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        super().destroy_node()

    def _new_renderer(self, vehicles: Sequence[Faces]) -> Renderer:
        size = int(number(self.values, "image_width")), int(number(self.values, "image_height"))
        world = world_of(self.values)
        try:
            return Renderer(world, *size, antialiasing=bool(self.values["antialiasing"]), vehicles=vehicles)
        except NoPandaError as error:
            raise ParameterError(f"{error}; or leave the cameras out") from error

    def answer(self, time_ns: int, content: VehicleState) -> None:
        """Send the images that are due, in the formats that have subscriptions, and the poses that have changed."""
        if not self._schedule.due(time_ns):
            return
        if not self._is_stuck:
            self._turn_gimbal(self.take_pwm())
        for camera in self._cameras:
            self._send_changed_pose(time_ns, camera)
        if self._renderer is None or self._is_off:
            return
        if self._drawn is None or not self._is_stuck:
            self._drawn = content.truth, [other.truth for other in self.others.values()]
        for camera in self._cameras:
            self._send_image(time_ns, camera, partial(self._renderer.render, camera, *self._drawn))

    def _turn_gimbal(self, pwm: PulseWidths | None) -> None:
        if pwm is not None:
            turned = self._gimbal.camera
            self._cameras = [
                self._gimbal.turned(one, pwm.pulse_us) if one.name == turned else one for one in self._mounted
            ]

    def _send_changed_pose(self, time_ns: int, camera: Camera) -> None:
        """Send the camera's pose on the vehicle if it has changed."""
        qw, *xyz = qmult(euler2quat(*camera.angles), OPTICAL_IN_FRD).tolist()
        pose = camera.position_body, (*xyz, qw)
        if pose != self._poses.get(camera.name):
            self._poses[camera.name] = pose
            self.send_pose[camera.name](CameraPose(time_ns, *pose))

    def _send_image(self, time_ns: int, camera: Camera, render: Callable[[], Pixels]) -> None:
        pixels = cache(render)
        name = camera.name

        def info() -> CameraInfo:
            message = camera_info(camera)
            set_time(message.header.stamp, time_ns)
            return message

        self.send_picture[name](lambda: RawImage(time_ns, camera.width, camera.height, pixels().tobytes()))
        self.send_file[name](lambda: PictureFile(time_ns, self._encoder.encode(pixels(), self._quality)))
        self.send_info[name](info)


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


def surroundings(namespace: str, vehicles: Sequence[str]) -> tuple[str, list[str]]:
    """Full namespace of the simulation, and the vehicles in it other than the node's own, in alphabetical order.

    Args:
        namespace: full namespace of a node of one vehicle.
        vehicles: namespaces of all vehicles, relative to the simulation's.

    Raises:
        ParameterError: no vehicle has the node's namespace.
    """
    own = [vehicle for vehicle in vehicles if f"{namespace}/".endswith(f"/{vehicle}/") or not vehicle]
    if not own:
        raise ParameterError(
            f"parameter 'vehicles': {list(vehicles)} given; allowed: namespaces that include the node's, {namespace}"
        )
    longest = max(own, key=len)
    around = namespace.removesuffix(longest).rstrip("/")
    return around, sorted(set(vehicles) - {longest})


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
