"""Volumes of objects as boxes and upright cylinders, for contact and beams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.world.scene import Kind, Object, Vector, World

BIN_WALL = 0.02
"""Thickness of a bin's walls and floor, m."""

RING_SEGMENTS = 16


@dataclass(frozen=True)
class Primitive:
    """Box turned about the vertical, or upright cylinder.

    Attributes:
        round: whether it is a cylinder; its radius is in both of the first two half sizes.
        centre_ned: centre, m.
        half_size: half sizes along north, east and down at yaw 0, m.
        yaw: about the vertical, clockwise seen from above, rad.
    """

    round: bool
    centre_ned: Vector
    half_size: Vector
    yaw: float


def parts(thing: Object) -> tuple[Primitive, ...]:
    """Parts of the object's volume; none for paint."""
    return tuple(_PARTS[thing.kind](thing)) if thing.kind.has_bulk else ()


PART_SIZE = 9
"""Length of a row of `part_array`: 1 for a cylinder, else 0; centre NED; half sizes; cosine and sine of yaw."""


def part_array(objects: Iterable[Object]) -> NDArray[np.float64]:
    """Parts of the objects (n, PART_SIZE), for kernels."""
    rows = [
        (float(part.round), *part.centre_ned, *part.half_size, math.cos(part.yaw), math.sin(part.yaw))
        for thing in objects
        for part in parts(thing)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, PART_SIZE)


def distances_to_boundary(world: World, position_ned: Vector) -> dict[str, float]:
    """Distances of a position from floor (or ground) and walls, by name, m; negative outside."""
    north, east, down = position_ned
    distances = {"floor" if world.water else "ground": world.floor_down - down}
    if world.pool:
        distances["north and south walls"] = 0.5 * world.pool.length_north - abs(north)
        distances["east and west walls"] = 0.5 * world.pool.width_east - abs(east)
    return distances


@kernel
def distance_to_part(part: NDArray[np.float64], north: float, east: float, down: float) -> float:
    """Distance of a point from the surface of a part (PART_SIZE,), m; negative inside."""
    dn, de, along_down = north - part[1], east - part[2], abs(down - part[3]) - part[6]
    if part[0] > 0.0:
        first, second = math.sqrt(dn * dn + de * de) - part[4], -math.inf
    else:
        first = abs(part[7] * dn + part[8] * de) - part[4]
        second = abs(part[7] * de - part[8] * dn) - part[5]
    inside = max(first, max(second, along_down))
    if inside < 0.0:
        return float(inside)
    a, b, c = max(first, 0.0), max(second, 0.0), max(along_down, 0.0)
    return float(math.sqrt(a * a + b * b + c * c))


def _placed(thing: Object, offset: Vector, half_size: Vector, yaw: float = 0.0) -> Primitive:
    """Box at `offset` (m) in the object's axes, turned by a further `yaw` (rad)."""
    cosine, sine = math.cos(thing.yaw), math.sin(thing.yaw)
    north, east, down = thing.position_ned
    a, b, c = offset
    return Primitive(
        False, (north + cosine * a - sine * b, east + sine * a + cosine * b, down + c), half_size, thing.yaw + yaw
    )


def _box(thing: Object) -> Iterator[Primitive]:
    length, width, height = thing.size
    yield _placed(thing, (0.0, 0.0, 0.0), (0.5 * length, 0.5 * width, 0.5 * height))


def _cylinder(thing: Object) -> Iterator[Primitive]:
    diameter, height = thing.size
    yield Primitive(True, thing.position_ned, (0.5 * diameter, 0.5 * diameter, 0.5 * height), thing.yaw)


def _bin(thing: Object) -> Iterator[Primitive]:
    length, width, height = thing.size
    t = 0.5 * min(BIN_WALL, 0.25 * min(thing.size))
    yield _placed(thing, (0.0, 0.0, 0.5 * height - t), (0.5 * length, 0.5 * width, t))
    for side in (-1.0, 1.0):
        yield _placed(thing, (side * (0.5 * length - t), 0.0, -t), (t, 0.5 * width, 0.5 * height - t))
        yield _placed(thing, (0.0, side * (0.5 * width - t), -t), (0.5 * length - 2.0 * t, t, 0.5 * height - t))


def _gate(thing: Object) -> Iterator[Primitive]:
    width, height, bar = thing.size
    for side in (-1.0, 1.0):
        yield _placed(thing, (0.0, side * 0.5 * (width + bar), 0.0), (0.5 * bar, 0.5 * bar, 0.5 * height))
    yield _placed(thing, (0.0, 0.0, -0.5 * (height + bar)), (0.5 * bar, 0.5 * width + bar, 0.5 * bar))


def _ring(thing: Object) -> Iterator[Primitive]:
    diameter, thickness = thing.size
    radius = 0.5 * (diameter - thickness)
    half_length = (radius + 0.5 * thickness) * math.tan(math.pi / RING_SEGMENTS)
    for k in range(RING_SEGMENTS):
        angle = 2.0 * math.pi * k / RING_SEGMENTS
        offset = (radius * math.cos(angle), radius * math.sin(angle), 0.0)
        yield _placed(thing, offset, (0.5 * thickness, half_length, 0.5 * thickness), angle)


_PARTS = {Kind.BOX: _box, Kind.CYLINDER: _cylinder, Kind.BIN: _bin, Kind.GATE: _gate, Kind.RING: _ring}
