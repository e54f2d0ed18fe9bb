"""Cameras of a vehicle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult

from rosflight_py_sim.camera import CAMERA_PARAMETERS, Camera, Faces, Gimbal, NoPandaError, Renderer, cameras
from rosflight_py_sim.coordinate_frames import OPTICAL_IN_FRD
from rosflight_py_sim.failures.failure import FAILURES, OFF, STUCK
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS
from rosflight_py_sim.nodes.vehicle_shape import faces_of_shape, vehicle_shapes
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value, number
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.stamps import set_time
from rosflight_py_sim.step.camera_topics import (
    CameraPose,
    Picture,
    PictureFile,
    compressed_topic,
    image_topic,
    info_topic,
    optical_frame,
    pose_topic,
)
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import PWM_OUTPUT, REPEATED_CLOCK, TRUTH_STATE, Floats, PulseWidths
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

    # A class attribute, because a node that fails during construction is also destroyed.
    _renderer: Renderer | None = None

    def __init__(self, **arguments: Any) -> None:
        """Build the world and subscribe to the truth states."""
        self._views: list[_View] = []
        self._is_off = self._is_stuck = False
        self._drawn: tuple[NDArray[np.float64], list[NDArray[np.float64]]] | None = None
        super().__init__(**arguments)
        around, others = surroundings(self.get_namespace(), vehicle_namespaces(self.values["vehicles"]))
        shapes = vehicle_shapes(self, arguments.get("arguments", ()), others, around)
        self._renderer = self._new_renderer([faces_of_shape(shape) for shape in shapes.values()])
        self._encoder = _JpegEncoder()
        self._pwm = self.poll(PWM_OUTPUT) if self._gimbal.camera else None
        self.follow_stamps()
        self._others = [VehicleState() for _ in others]
        self._join = StepJoin(
            JoinRule(TRUTH_STATE.name, synchronized=tuple(others), required=tuple(others)),
            self._draw,
            lambda _: None,
            lockstep=self.time_mode == "lockstep",
        )
        if self.time_mode == "lockstep":
            self.subscribe(REPEATED_CLOCK, self._join.repeat)
        for index, name in enumerate(others):
            on_other = partial(self._on_other, index, self._join.input(name))
            self.subscribe(TRUTH_STATE, on_other, f"{around}/{name}", qos=CHAIN, needed=True)
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN, needed=True)

    def configure(self, values: dict[str, Value]) -> None:
        """Apply the parameters that can change while the node runs."""
        chosen = cameras(values)
        self._gimbal = Gimbal(values, [camera.name for camera in chosen])
        self._quality = int(number(values, "jpeg_quality"))
        self._schedule = Schedule(number(values, "frame_rate"))
        if not self._views:
            self._views = [_View(self, camera) for camera in chosen]
        for view, camera in zip(self._views, chosen, strict=True):
            view.mounted = view.camera = camera

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

    def _on_truth(self, state: VehicleState) -> None:
        time_ns = state.time_ns
        self.update_clock(time_ns)
        if not self._schedule.due(time_ns):
            return
        if self.has_failures:
            self.advance_failures(time_ns)
        if self._pwm is not None and not self._is_stuck:
            self._turn_gimbal(self._pwm.take())
        for view in self._views:
            view.publish_pose(time_ns)
        self._join.trigger(time_ns, state)

    def _on_other(self, index: int, arrived: Callable[[int], None], state: VehicleState) -> None:
        self._others[index] = state
        arrived(state.time_ns)

    def _draw(self, time_ns: int, state: VehicleState) -> None:
        if self._renderer is None or self._is_off:
            return
        if self._drawn is None or not self._is_stuck:
            self._drawn = state.truth, [other.truth for other in self._others]
        for view in self._views:
            render = partial(self._renderer.render, view.camera, *self._drawn)
            view.publish(time_ns, render, self._compress)

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
        self._send_pose = node.publisher(pose_topic(camera.name))
        self._pose: tuple[Floats, Floats] | None = None

    def publish_pose(self, time_ns: int) -> None:
        """Publish the camera's pose on the vehicle if it has changed."""
        qw, *xyz = qmult(euler2quat(*self.camera.angles), OPTICAL_IN_FRD).tolist()
        pose = self.camera.position_body, (*xyz, qw)
        if pose != self._pose:
            self._pose = pose
            self._send_pose(CameraPose(time_ns, *pose))

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
