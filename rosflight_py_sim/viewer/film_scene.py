"""Scene of a film: vehicles with moving parts, shadows, paths and starts, drawn by the renderer of the cameras."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult, rotate_vector

from rosflight_py_sim.camera import Camera, Renderer
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO, pulse_of
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.shapes.meshes import Mesh, rod
from rosflight_py_sim.viewer.appearance import Appearance, MovingParts, part_attitude
from rosflight_py_sim.viewer.on_ground import Clearance, shadow_of, start_mark
from rosflight_py_sim.viewer.vehicle_faces import faces_of_mesh, faces_of_parts
from rosflight_py_sim.viewer.web.camera_views import VIEWS, placed
from rosflight_py_sim.world import World
from rosflight_py_sim.world.colours import Colour

_FIELD_OF_VIEW = 1.2

_SHADOW_COLOUR: Colour = (62, 76, 48)
_PATH_COLOUR: Colour = (240, 130, 40)
_WHITE: Colour = (255, 255, 255)

PAINTS = (_SHADOW_COLOUR, _PATH_COLOUR, _WHITE)
"""Colours in the images besides those of vehicles and world."""

# Lengths in sizes of the vehicle: distance of flat surfaces from each other, radius of the path, and least distance of
# the camera from the ground.
_GAP, _PATH_RADIUS, _CAMERA_HEIGHT = 0.004, 0.02, 0.2

# Least distance of the camera from walls and the water's surface, m.
_ASIDE = 0.05

# Segments of the path of one vehicle.
_SEGMENTS = 400

# Longest time over which rotors are turned between two images: beyond it, blades would seem to stop or turn backwards.
_BLADE_S = 1.0 / 30.0

_LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class FilmedVehicle:
    """Shape of a vehicle, and the log of its flight, with at least one row."""

    shape: Appearance
    log: StateLog


class FilmScene:
    """Images of flights, by a camera that follows the first vehicle."""

    def __init__(self, vehicles: Sequence[FilmedVehicle], world: World, width: int, height: int) -> None:
        """Build the scene; images have `width` by `height` pixels.

        Raises:
            NoPandaError: Panda3D is not installed.
        """
        self._world, self._size = world, vehicles[0].shape.size
        self._camera = Camera("film", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), _FIELD_OF_VIEW, width, height)
        self._vehicles = [_Drawn(one, world) for one in vehicles]
        faces = [faces for drawn in self._vehicles for faces in drawn.faces]
        self._renderer = Renderer(world, width, height, vehicles=faces)

    def draw(self, time_s: float) -> NDArray[np.uint8]:
        """Image (height, width, 3), red green blue, at a time, s; the next call overwrites the array."""
        poses = [pose for drawn in self._vehicles for pose in drawn.move(time_s)]
        return self._renderer.render(self._camera, self._view_of(self._vehicles[0].position), poses)[:, :, ::-1]

    def close(self) -> None:
        """Release the memory."""
        self._renderer.close()

    def _view_of(self, place: Array) -> Array:
        """Truth vector (19,) of a camera that looks at `place`, NED (3,), m; it stays in the pool and the water."""
        offset, look_at = placed(VIEWS["follow"], self._size)
        position = place + offset
        position[2] = min(position[2], self._world.floor_down - _CAMERA_HEIGHT * self._size)
        if pool := self._world.pool:
            half = 0.5 * np.array([pool.length_north, pool.width_east]) - _ASIDE
            position[0:2] = np.clip(position[0:2], -half, half)
        if self._world.water and place[2] > _ASIDE:
            position[2] = max(position[2], _ASIDE)
        north, east, down = place + look_at - position
        yaw, pitch = np.arctan2(east, north), np.arctan2(-down, np.hypot(north, east))
        return _pose(position, euler2quat(yaw, pitch, 0.0, "rzyx"))


class _Drawn:
    """Faces of a vehicle, its shadow, its start and its path.

    Attributes:
        faces: sets of faces; each moves as one.
        position: of the vehicle, NED (3,), m.
    """

    def __init__(self, vehicle: FilmedVehicle, world: World) -> None:
        shape, log = vehicle.shape, vehicle.log
        self._log, self._floor, self._size = log, world.floor_down, shape.size
        self._clearance, self._moving = Clearance(shape), MovingParts(shape)
        self._turning = [(k, part) for k, part in enumerate(shape.parts) if part.motion is not None]
        self._time_s = float(log.time_s[0])
        self.position = log.position_ned[0]
        self.faces = [faces_of_parts([part for part in shape.parts if part.motion is None])]
        self.faces += [faces_of_mesh(part.mesh, part.colour) for _, part in self._turning]
        self.faces.append(faces_of_mesh(shadow_of(shape), _SHADOW_COLOUR))
        still: list[Array] = []
        if world.water is None and self._floor - self.position[2] < self._size:
            mark = start_mark(shape)
            yaw = float(log.euler[0, 2])
            for layer, (mesh, colour) in enumerate(
                [(mark.surface, mark.surface_colour), (mark.paint, mark.paint_colour)], start=1
            ):
                self.faces.append(faces_of_mesh(mesh, colour))
                still.append(self._on_ground(self.position, yaw, layer))
        rows, segments = _segments(log, _PATH_RADIUS * self._size)
        self.faces += [faces_of_mesh(segment, _PATH_COLOUR) for segment in segments]
        self._still, self._passed_s = still, log.time_s[rows]

    def move(self, time_s: float) -> Iterator[Array | None]:
        """Move to a time, s; the poses of the faces as truth vectors, None for what is not drawn."""
        row = max(int(np.searchsorted(self._log.time_s, time_s, side="right")) - 1, 0)
        truth = self._log.truth[row]
        attitude = truth[3:7]
        # The shadow lies above the start's surface and paint, and the vehicle on top.
        self.position = self._clearance.above(self._floor - 4.0 * _GAP * self._size, truth)
        self._moving.move(_pulses_us(self._log, row), min(max(time_s - self._time_s, 0.0), _BLADE_S))
        self._time_s = time_s
        yield _pose(self.position, attitude)
        for k, part in self._turning:
            pivot = self.position + rotate_vector(part.pivot_frd, attitude)
            yield _pose(pivot, qmult(attitude, part_attitude(part, self._moving.angles[k])))
        yield self._on_ground(self.position, euler_from_quaternion(*attitude.tolist())[2], 3)
        yield from self._still
        for passed_s in self._passed_s.tolist():
            yield _pose(np.zeros(3), _LEVEL) if passed_s <= time_s else None

    def _on_ground(self, place: Array, yaw: float, layer: int) -> Array:
        down = self._floor - layer * _GAP * self._size
        return _pose(np.array([place[0], place[1], down]), euler2quat(yaw, 0.0, 0.0, "rzyx"))


def _pose(place: Array, attitude: Array) -> Array:
    truth = np.zeros(19)
    truth[0:3], truth[3:7] = place, attitude
    return truth


def _pulses_us(log: StateLog, row: int) -> Array:
    """Pulse widths of all outputs in a row of the log, us (14,)."""
    pulses = np.zeros(OUTPUTS)
    for actuator, command in zip(log.actuators, log.actuator_commands[row].tolist(), strict=True):
        pulses[actuator.output] = pulse_of(command, MOTOR if actuator.is_motor else SERVO)
    return pulses


def _segments(log: StateLog, radius: float) -> tuple[NDArray[np.int64], list[Mesh]]:
    """Rows at the ends of the segments of the path, and the segments, NED, m."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(log.position_ned, axis=0), axis=1))])
    count = int(min(_SEGMENTS, along[-1] / (4.0 * radius)))
    rows = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], count + 1)).clip(0, len(log) - 1))
    places = log.position_ned[rows]
    return rows[1:], [rod(start, end, radius, sides=4) for start, end in pairwise(places)]
