"""Distance to the first reflection of a sound or light beam."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.world.scene import World


def beam_boundary(world: World) -> NDArray[np.float64]:
    """Boundary for `beam_distance` (4,): floor's down, half length and half width (m), 1 with water, else 0."""
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
    """Distance to the first reflection along the unit vector `along_...` (NED), m; +inf without one.

    The floor, the walls, both sides of the water's surface and every part (`part_array`) reflect. The distance is 0
    from a point inside a part, in a wall or under the floor.
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
    """Distance to the wall ahead, of the two at +-`half`."""
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
    """Distance to a part; 0 from inside it, +inf if the beam misses. Slab method: one pair of faces at a time."""
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
    """First and last distance along the beam between -half and half."""
    if along == 0.0:
        return (-math.inf, math.inf) if abs(place) <= half else (math.inf, -math.inf)
    one, other = (-half - place) / along, (half - place) / along
    return min(one, other), max(one, other)


@kernel
def _through_circle(radius: float, a: float, b: float, da: float, db: float) -> tuple[float, float]:
    """First and last distance along the beam inside a circle about the origin."""
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
