"""Rendering of camera images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.camera.backdrop import LAND, POOL, SEA
from rosflight_py_sim.camera.faces import Faces, brightness, faces_of
from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.camera.shading import FACE_SIZE, SCENE_SIZE, remaining_light, shade
from rosflight_py_sim.camera.visibility import FacePicture
from rosflight_py_sim.world import World

_GRASS = (104, 124, 78)


class Renderer:
    """Renders a world for cameras of one image size; the same poses give the same bytes, in every process.

    Raises:
        NoPandaError: Panda3D is not installed.
    """

    def __init__(
        self,
        world: World,
        width: int,
        height: int,
        *,
        antialiasing: bool = True,
        vehicles: Sequence[Faces] = (),
    ) -> None:
        """Build the world.

        Args:
            world: the world.
            width: of the images, pixels.
            height: of the images, pixels.
            antialiasing: whether edges have four samples per pixel.
            vehicles: faces of other vehicles, see `faces_of_triangles`.
        """
        samples = 2 if antialiasing else 1
        faces = faces_of(world)
        counts = np.cumsum([len(one.corners) for one in (faces, *vehicles)])
        self._rows = np.zeros((max(int(counts[-1]), 1), FACE_SIZE))
        self._world = _FaceRows(faces, self._rows[: counts[0]])
        self._world.rows[:, 6:9] = faces.colours
        self._vehicles = [
            _FaceRows(one, self._rows[start:end])
            for one, start, end in zip(vehicles, counts[:-1], counts[1:], strict=True)
        ]
        self._scene = _scene(world)
        attenuation = world.water.attenuation if world.water else (1.0, 1.0, 1.0)
        self._remaining, self._scene[10] = remaining_light(attenuation[::-1])
        self._numbers = FacePicture(faces, samples * width, samples * height, vehicles)
        self._picture = np.zeros((height, width, 3), dtype=np.uint8)

    def render(
        self, camera: Camera, truth: NDArray[np.float64], others: Sequence[NDArray[np.float64] | None] = ()
    ) -> NDArray[np.uint8]:
        """Image (height, width, 3), blue green red, from a camera on a vehicle with the truth vector `truth` (19,).

        `others` are the truth vectors of the other vehicles, in the order of `vehicles`; None: not drawn. The next call
        overwrites the array.
        """
        position, turned = camera.pose(truth)
        self._world.look(self._world.faces.normals, self._world.faces.centres - position, turned[:, 2])
        for index, (vehicle, other) in enumerate(zip(self._vehicles, others, strict=True)):
            if other is None or not camera.shows_sphere(turned.T @ (other[0:3] - position), vehicle.reach):
                self._numbers.hide(index)
                continue
            attitude = quat2mat(other[3:7])
            self._numbers.place(index, other[0:3], attitude)
            vehicle.look_turned(attitude, other[0:3] - position, turned[:, 2])
        numbers = self._numbers.draw(camera, position, turned)
        axes = np.ascontiguousarray(turned)
        shade(numbers, self._rows, position, axes, camera.focal_length, self._scene, self._remaining, self._picture)
        return self._picture

    def close(self) -> None:
        """Release the memory."""
        self._numbers.close()


class _FaceRows:
    """Faces, and their rows for `shade`.

    Attributes:
        faces: the faces.
        rows: part of the array of all rows.
        reach: greatest distance of a corner from the origin, m.
    """

    def __init__(self, faces: Faces, rows: NDArray[np.float64]) -> None:
        self.faces, self.rows = faces, rows
        self.reach = max((float(np.max(np.linalg.norm(corners, axis=1))) for corners in faces.corners), default=0.0)

    def look(self, normals: NDArray[np.float64], offsets: NDArray[np.float64], sight: NDArray[np.float64]) -> None:
        """Compute each face's plane relative to the camera and its nearest and farthest depth along `sight`.

        Args:
            normals: of the faces, NED (n, 3).
            offsets: from the camera to their centres, NED (n, 3), m.
            sight: unit vector along the optical axis, NED (3,).
        """
        depths = offsets @ sight
        self.rows[:, 0:3] = normals
        self.rows[:, 3] = np.einsum("ij,ij->i", normals, offsets)
        self.rows[:, 4] = np.maximum(depths - self.faces.radii, 0.0)
        self.rows[:, 5] = np.maximum(depths + self.faces.radii, 0.0)

    def look_turned(
        self, attitude: NDArray[np.float64], place: NDArray[np.float64], sight: NDArray[np.float64]
    ) -> None:
        """The same for a vehicle at `place` relative to the camera, NED (3,), m; also its colours.

        `attitude` is the rotation matrix (3, 3) from body axes to NED.
        """
        normals = self.faces.normals @ attitude.T
        self.look(normals, self.faces.centres @ attitude.T + place, sight)
        self.rows[:, 6:9] = self.faces.colours * brightness(normals)[:, None]


def _scene(world: World) -> NDArray[np.float64]:
    scene = np.zeros(SCENE_SIZE)
    basin = world.pool or world.sea_floor
    scene[0] = POOL if world.pool else SEA if world.sea_floor else LAND
    scene[1] = world.floor_down
    if world.pool:
        scene[2:4] = 0.5 * world.pool.length_north, 0.5 * world.pool.width_east
    if world.water:
        scene[4:7] = world.water.colour[::-1]
    scene[7:10] = (basin.colour if basin else _GRASS)[::-1]
    return scene
