"""Frames and markers of one vehicle for the visualizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from rosflight_py_sim.ground.coordinate_frames import (
    BASE_LINK,
    MAP,
    swap_attitude,
    swap_frd_flu,
    swap_mounting,
    swap_ned_enu,
)
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.ground.topic_names import absolute_name, camera_pose
from rosflight_py_sim.interfaces.marker_wire import MarkerWire
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.transform_wire import TransformWire
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.step.camera_topics import CameraPose, optical_frame, pose_topic
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import polled
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.viewer.appearance import Appearance, DrawnPart, MovingParts, part_attitude
from rosflight_py_sim.viewer.frame_tree import prefixed, transform, transform_of_mounting
from rosflight_py_sim.viewer.trail import Trail
from rosflight_py_sim.world.colours import Colour

# Shorter arrows are not drawn, m.
_SHORTEST = 0.01

_PATH_COLOUR, _FORCE_COLOUR, _WIND_COLOUR = (240, 120, 20), (220, 40, 40), (40, 170, 220)


def marker(frame: str, namespace: str, number: int, kind: int, colour: Colour, opacity: float = 1.0) -> Marker:
    """A marker without points, drawn at the newest pose of its frame."""
    one = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD, frame_locked=True)
    one.header.frame_id = frame
    one.pose.orientation.w = 1.0
    one.scale.x = one.scale.y = one.scale.z = 1.0
    red, green, blue = (part / 255.0 for part in colour)
    one.color = ColorRGBA(r=red, g=green, b=blue, a=opacity)
    return one


class DrawnVehicle(Part):
    """Takes the newest messages of a vehicle, and encodes its transforms and markers.

    Attributes:
        name: name in the markers' `ns`: the vehicle's namespace, or "vehicle" if it has none.
        state: the newest truth state.
    """

    take_truth, take_pwm = polled(TRUTH_STATE), polled(PWM_OUTPUT)
    take_wrench, take_wind = polled(FORCES_AND_MOMENTS), polled(TRUTH_WIND)

    def __init__(self, node: SimulationNode, vehicle: str, shape: Appearance) -> None:
        """Build the part of a vehicle.

        Args:
            node: node that subscribes to the poses of cameras.
            vehicle: namespace of the vehicle, relative to the node's; empty: the node's.
            shape: appearance of the vehicle.
        """
        super().__init__({})
        self.state = VehicleState()
        self._node, self._vehicle = node, vehicle
        self._namespace = absolute_name(node.get_namespace(), vehicle)[1:]
        self.name = self._namespace or "vehicle"
        self._shape = shape
        self._moving = MovingParts(shape)
        self._pwm_us: tuple[float, ...] = (0.0,) * OUTPUTS
        self._force_body, self._wind_ned = np.zeros(3), np.zeros(3)
        self._trail = Trail(2, 0.0)
        self.base_link = prefixed(self._namespace, BASE_LINK)

        turning = [(k, part) for k, part in enumerate(shape.parts) if part.motion is not None]
        self._turning = [(k, part, swap_frd_flu(part.pivot_frd)) for k, part in turning]
        self._cameras: dict[str, tuple[float, ...] | None] = {}
        self._transforms = self._transform_wire()
        path = marker(MAP, self.name, 0, Marker.LINE_STRIP, _PATH_COLOUR)
        path.scale.x = 0.03 * shape.size
        path.frame_locked = False
        self._path = MarkerWire(path)

    def keep_path(self, limit: int, spacing: float) -> None:
        """Start a path of at most `limit` points that are at least `spacing` (m) apart."""
        self._trail = Trail(limit, spacing)

    @property
    def namespace(self) -> str:
        """Full namespace of the vehicle, without the leading slash."""
        return self._namespace

    def poll(self, dt: float) -> bool:
        """Take the newest messages, `dt` s after the last call; return whether there is a new state."""
        state = self.take_truth()
        if state is None:
            return False
        self.state = state
        pwm, wrench, wind = self.take_pwm(), self.take_wrench(), self.take_wind()
        if pwm is not None:
            self._pwm_us = tuple(pwm.pulse_us)
        if wrench is not None:
            self._force_body[:] = wrench.force
        if wind is not None:
            self._wind_ned[:] = wind.velocity_ned
        self._moving.move(self._pwm_us, dt)
        return True

    def meshes(self) -> Iterator[bytes]:
        """Markers of all parts; each moving part has its own frame on tf."""
        for number, part in enumerate(self._shape.parts):
            one = marker(self._frame_of(part), self.name, number, Marker.TRIANGLE_LIST, part.colour)
            corners = part.mesh.corners.reshape(-1, 3)
            if part.motion is None:
                corners = corners + np.array(part.pivot_frd)
            yield MarkerWire(one).encode(0, swap_frd_flu(corners))

    def transforms(self) -> bytes:
        """Serialised transforms of the vehicle on the map, and of its moving parts and cameras on the vehicle."""
        state = self.state
        placed = [transform(swap_ned_enu(state.position_ned), swap_attitude(state.quaternion))]
        for k, part, pivot in self._turning:
            placed.append(transform(pivot, swap_mounting(part_attitude(part, self._moving.angles[k]))))
        placed += filter(None, self._cameras.values())
        return self._transforms.encode(state.time_ns, placed)

    def find_cameras(self, topics: Iterable[str]) -> None:
        """Subscribe to the poses of the vehicle's cameras, given the names of all topics of the graph."""
        pattern = re.compile(re.escape(f"/{self._namespace}/".replace("//", "/")) + camera_pose(r"(\w+)"))
        for match in filter(None, map(pattern.fullmatch, topics)):
            if match[1] not in self._cameras:
                self._cameras[match[1]] = None
                self._node.subscribe(pose_topic(match[1]), partial(self._on_pose, match[1]), self._vehicle)

    def _on_pose(self, camera: str, pose: CameraPose) -> None:
        x, y, z, w = pose.quaternion_xyzw
        is_new = self._cameras[camera] is None
        self._cameras[camera] = transform_of_mounting(pose.position_body, (w, x, y, z))
        if is_new:
            self._transforms = self._transform_wire()

    def _transform_wire(self) -> TransformWire:
        names = [self._frame_of(part) for _, part, _ in self._turning]
        names += [prefixed(self._namespace, optical_frame(name)) for name, pose in self._cameras.items() if pose]
        return TransformWire([(MAP, self.base_link), *((self.base_link, name) for name in names)])

    def follow(self) -> None:
        """Extend the path to the vehicle's position."""
        state = self.state
        speed = float(np.linalg.norm(state.velocity_body))
        self._trail.add(state.time_ns, swap_ned_enu(state.position_ned), speed)

    def path(self) -> bytes:
        """Marker of the path."""
        return self._path.encode(self.state.time_ns, self._trail.points)

    def arrows(self, metres_per_newton: float, seconds: float) -> list[Marker]:
        """Arrows of force and wind at the centre of mass, in the given scales."""
        force_ned = np.array(rotate_to_inertial(*self.state.quaternion.tolist(), *self._force_body.tolist()))
        return [
            self._arrow("force", 0, force_ned * metres_per_newton, _FORCE_COLOUR),
            self._arrow("wind", 1, self._wind_ned * seconds, _WIND_COLOUR),
        ]

    def _arrow(self, name: str, number: int, along_ned: NDArray[np.float64], colour: Colour) -> Marker:
        one = marker(MAP, f"{self.name} {name}", number, Marker.ARROW, colour)
        one.frame_locked = False
        set_time(one.header.stamp, self.state.time_ns)
        if np.linalg.norm(along_ned) < _SHORTEST:
            one.action = Marker.DELETE
            return one
        one.points = [
            _point(swap_ned_enu(place)) for place in (self.state.position_ned, self.state.position_ned + along_ned)
        ]
        thickness = 0.03 * self._shape.size
        one.scale.x, one.scale.y, one.scale.z = thickness, 2.0 * thickness, 3.0 * thickness
        return one

    def _frame_of(self, part: DrawnPart) -> str:
        return self.base_link if part.motion is None else prefixed(self._namespace, part.name.replace(" ", "_"))


def _point(place: Iterable[float]) -> Point:
    x, y, z = (float(one) for one in place)
    return Point(x=x, y=y, z=z)
