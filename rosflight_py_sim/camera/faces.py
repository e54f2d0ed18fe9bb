"""Objects and vehicles as flat faces, for drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from transforms3d.euler import euler2mat

from rosflight_py_sim.world import Kind, Object, World, parts

PAINT_LIFT = 0.004
"""Height at which paint is drawn above its position, m."""

_ROUND_SIDES = 40
_RING_SIDES = 40
_TUBE_SIDES = 10

# Directional light from above and slightly south-west, and ambient light, which includes reflection from the floor.
_LIGHT = np.array([-0.25, -0.35, -1.0]) / np.linalg.norm([-0.25, -0.35, -1.0])
_AMBIENT = 0.55
_DIRECT = 0.45

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Faces:
    """Flat, convex faces: of all objects of a world, in NED, or of a vehicle, in body axes.

    Attributes:
        corners: of each face (number, 3), m, in order around the outward normal.
        normals: outward unit vectors (n, 3).
        centres: mean of the corners (n, 3), m.
        radii: greatest distance of a corner from the centre (n,), m.
        colours: blue, green, red, 0 to 255 (n, 3); of a world with lighting, of a vehicle, which turns, without.
    """

    corners: tuple[Points, ...]
    normals: NDArray[np.float64]
    centres: NDArray[np.float64]
    radii: NDArray[np.float64]
    colours: NDArray[np.float64]


def brightness(normals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Brightness of matt surfaces, up to 1: ambient light and Lambert's law for the directional light.

    `normals` is one unit vector NED (3,) or several (n, 3); the result has one number for each.
    """
    return np.asarray((_AMBIENT + _DIRECT * np.maximum(0.0, normals @ _LIGHT)) / (_AMBIENT - _DIRECT * _LIGHT[2]))


def faces_of(world: World) -> Faces:
    """Faces of all objects in the world."""
    corners: list[Points] = []
    normals, colours = [], []
    for thing in world.objects:
        for polygon in _polygons(thing):
            normal = _normal(polygon)
            corners.append(polygon)
            normals.append(normal)
            colours.append(np.array(thing.colour[::-1], dtype=np.float64) * brightness(normal))
    return _faces(corners, normals, colours)


def faces_of_triangles(corners: Points, colours: Sequence[Sequence[float]]) -> Faces:
    """Faces of a vehicle's triangles: corners (n, 3, 3) in body axes, m, and red, green, blue of each (n, 3)."""
    return _faces(list(corners), [_normal(corner) for corner in corners], [colour[::-1] for colour in colours])


def _faces(corners: Sequence[Points], normals: Sequence[Points], colours: Sequence[ArrayLike]) -> Faces:
    centres = [polygon.mean(axis=0) for polygon in corners]
    radii = [float(np.max(np.linalg.norm(p - c, axis=1))) for p, c in zip(corners, centres, strict=True)]
    return Faces(
        corners=tuple(corners),
        normals=np.array(normals).reshape(-1, 3),
        centres=np.array(centres).reshape(-1, 3),
        radii=np.array(radii),
        colours=np.array(colours, dtype=np.float64).reshape(-1, 3),
    )


def _normal(polygon: Points) -> NDArray[np.float64]:
    # The order of the corners makes this the outward normal.
    across = np.cross(polygon[1] - polygon[0], polygon[2] - polygon[0])
    return np.asarray(across / np.linalg.norm(across))


def _polygons(thing: Object) -> Iterator[Points]:
    if thing.kind is Kind.LINE:
        length, width = (0.5 * size for size in thing.size)
        yield _paint(thing, [(length, width), (length, -width), (-length, -width), (-length, width)])
    elif thing.kind is Kind.ARROW:
        tip, wing = 0.5 * thing.size[0], 0.5 * thing.size[1]
        neck, shaft = tip - 0.4 * thing.size[0], 0.4 * wing
        yield _paint(thing, [(tip, 0.0), (neck, -wing), (neck, wing)])
        yield _paint(thing, [(neck, shaft), (neck, -shaft), (-tip, -shaft), (-tip, shaft)])
    elif thing.kind is Kind.RING:
        yield from _torus(thing)
    else:
        for part in parts(thing):
            shape = _cylinder(part.half_size) if part.round else _box(part.half_size)
            yield from (_placed(polygon, part.centre_ned, part.yaw) for polygon in shape)


def _placed(polygon: Points, centre: Sequence[float], yaw: float) -> Points:
    turn = euler2mat(0.0, 0.0, yaw)
    return np.asarray(polygon @ turn.T + np.array(centre))


def _paint(thing: Object, outline: list[tuple[float, float]]) -> Points:
    flat = np.array([(x, y, -PAINT_LIFT) for x, y in outline])
    return _placed(flat, thing.position_ned, thing.yaw)


def _box(half: Sequence[float]) -> Iterator[Points]:
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        for side in (1.0, -1.0):
            polygon = np.zeros((4, 3))
            polygon[:, axis] = side * half[axis]
            polygon[:, one] = np.array([-1.0, 1.0, 1.0, -1.0]) * half[one]
            polygon[:, other] = side * np.array([-1.0, -1.0, 1.0, 1.0]) * half[other]
            yield polygon


def _cylinder(half: Sequence[float]) -> Iterator[Points]:
    angles = 2.0 * math.pi * np.arange(_ROUND_SIDES) / _ROUND_SIDES
    circle = half[0] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    bottom = np.column_stack([circle, np.full(_ROUND_SIDES, half[2])])
    top = np.column_stack([circle, np.full(_ROUND_SIDES, -half[2])])
    yield bottom
    yield top[::-1]
    for k in range(_ROUND_SIDES):
        after = (k + 1) % _ROUND_SIDES
        yield np.array([bottom[after], bottom[k], top[k], top[after]])


def _torus(thing: Object) -> Iterator[Points]:
    tube = 0.5 * thing.size[1]
    radius = 0.5 * thing.size[0] - tube

    def place(i: int, j: int) -> tuple[float, float, float]:
        around, over = 2.0 * math.pi * i / _RING_SIDES, 2.0 * math.pi * j / _TUBE_SIDES
        out = radius + tube * math.cos(over)
        return out * math.cos(around), out * math.sin(around), tube * math.sin(over)

    for i in range(_RING_SIDES):
        for j in range(_TUBE_SIDES):
            corners = np.array([place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)])
            yield _placed(corners, thing.position_ned, thing.yaw)
