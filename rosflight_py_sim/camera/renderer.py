"""Rendering of camera images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.camera.backdrop import LAND, POOL, SEA
from rosflight_py_sim.camera.faces import faces_of
from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.camera.shading import FACE_SIZE, SCENE_SIZE, remaining_light, shade
from rosflight_py_sim.camera.visibility import FacePicture
from rosflight_py_sim.world import World

_GRASS = (104, 124, 78)


class Renderer:
    """Renders a world for cameras of one image size; the same pose gives the same bytes, in every process.

    Raises:
        NoPandaError: Panda3D is not installed.
    """

    def __init__(self, world: World, width: int, height: int, *, antialiasing: bool = True) -> None:
        samples = 2 if antialiasing else 1
        self._faces = faces_of(world)
        self._seen = np.zeros((max(len(self._faces.corners), 1), FACE_SIZE))
        self._seen[: len(self._faces.corners), 6:9] = self._faces.colours
        self._scene = _scene(world)
        attenuation = world.water.attenuation if world.water else (1.0, 1.0, 1.0)
        self._remaining, self._scene[10] = remaining_light(attenuation[::-1])
        self._numbers = FacePicture(self._faces, samples * width, samples * height)
        self._picture = np.zeros((height, width, 3), dtype=np.uint8)

    def render(self, camera: Camera, truth: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Image (height, width, 3), blue green red, from a camera on a vehicle with the truth vector `truth` (19,).

        The next call overwrites the array.
        """
        position, turned = camera.pose(truth)
        numbers = self._numbers.draw(camera, position, turned)
        self._look_from(position, turned[:, 2])
        axes = np.ascontiguousarray(turned)
        shade(numbers, self._seen, position, axes, camera.focal_length, self._scene, self._remaining, self._picture)
        return self._picture

    def close(self) -> None:
        """Release the memory."""
        self._numbers.close()

    def _look_from(self, position: NDArray[np.float64], sight: NDArray[np.float64]) -> None:
        """Compute each face's plane relative to `position` and its nearest and farthest depth along `sight`."""
        faces = self._faces
        count = len(faces.corners)
        if count == 0:
            return
        offsets = faces.centres - position
        depths = offsets @ sight
        self._seen[:count, 0:3] = faces.normals
        self._seen[:count, 3] = np.einsum("ij,ij->i", faces.normals, offsets)
        self._seen[:count, 4] = np.maximum(depths - faces.radii, 0.0)
        self._seen[:count, 5] = np.maximum(depths + faces.radii, 0.0)


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
