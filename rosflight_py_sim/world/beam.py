"""How far a beam (of sound, or light) goes before it meets something."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.world.scene import World


def beam_boundary(world: World) -> NDArray[np.float64]:
    """What bounds the world, for `beam_distance` (4,): floor's depth, half length and width, 1 where there is water."""
    pool = world.pool
    half = (0.5 * pool.length_north, 0.5 * pool.width_east) if pool else (math.inf, math.inf)
    return np.array([world.floor_down, *half, float(world.water is not None)])


@kernel
def beam_distance(
    boundary: NDArray[np.float64],
    parts: NDArray[np.float64],
    north: float,
    east: float,
    down: float,
    along_north: float,
    along_east: float,
    along_down: float,
) -> float:
    """Distance along the unit vector `along_...` to what the beam meets first, m; +inf: nothing.

    Floor, walls, the water's surface from both sides, and every part (`part_array`) reflect. A beam that starts within
    a part, in a wall or under the floor has no way to go: 0.
    """
    floor, half_length, half_width, has_water = boundary
    if down > floor:
        return 0.0
    nearest = math.inf
    in_water = has_water > 0.0 and down > 0.0
    bottom = floor if in_water or has_water == 0.0 else 0.0
    if along_down > 0.0:
        nearest = (bottom - down) / along_down
    elif along_down < 0.0 and in_water:
        nearest = -down / along_down
    if in_water:
        nearest = min(nearest, _to_wall(half_length, north, along_north))
        nearest = min(nearest, _to_wall(half_width, east, along_east))
    for part in parts:
        nearest = min(nearest, _to_part(part, north, east, down, along_north, along_east, along_down))
    return float(max(nearest, 0.0))


@kernel
def _to_wall(half: float, place: float, along: float) -> float:
    """Distance to the one of two walls at +-`half` to which the beam goes."""
    if along == 0.0:
        return math.inf
    return float((math.copysign(half, along) - place) / along)


@kernel
def _to_part(
    part: NDArray[np.float64],
    north: float,
    east: float,
    down: float,
    along_north: float,
    along_east: float,
    along_down: float,
) -> float:
    """Distance to a part; 0 from within, +inf past it. The beam is cut by one pair of faces after the other."""
    cosine, sine = part[7], part[8]
    a, b = cosine * (north - part[1]) + sine * (east - part[2]), cosine * (east - part[2]) - sine * (north - part[1])
    da, db = cosine * along_north + sine * along_east, cosine * along_east - sine * along_north
    enters, leaves = _between(part[6], down - part[3], along_down)
    if part[0] > 0.0:
        first, last = _through_circle(part[4], a, b, da, db)
        enters, leaves = max(enters, first), min(leaves, last)
    else:
        first, last = _between(part[4], a, da)
        enters, leaves = max(enters, first), min(leaves, last)
        first, last = _between(part[5], b, db)
        enters, leaves = max(enters, first), min(leaves, last)
    if enters > leaves or leaves < 0.0:
        return math.inf
    return max(enters, 0.0)


@kernel
def _between(half: float, place: float, along: float) -> tuple[float, float]:
    """Where along the beam it is between -half and half: from, to."""
    if along == 0.0:
        return (-math.inf, math.inf) if abs(place) <= half else (math.inf, -math.inf)
    one, other = (-half - place) / along, (half - place) / along
    return min(one, other), max(one, other)


@kernel
def _through_circle(radius: float, a: float, b: float, da: float, db: float) -> tuple[float, float]:
    """Where along the beam it is within a circle about the origin: from, to."""
    squared = da * da + db * db
    excess = a * a + b * b - radius * radius
    if squared == 0.0:
        return (-math.inf, math.inf) if excess <= 0.0 else (math.inf, -math.inf)
    middle = -(a * da + b * db) / squared
    discriminant = middle * middle - excess / squared
    if discriminant < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(discriminant)
    return middle - half, middle + half
