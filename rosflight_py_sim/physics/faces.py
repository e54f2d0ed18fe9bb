"""Faces of parts: the one through which a moving point enters, and the depth of a point below it.

A point that has entered a part belongs to the face of its entry until it has left through that face, or has slid past
the edges of the face. It is pushed back through that face even where another face is nearer, and even where it has
already come out on the other side of a thin part.

Faces of a box are numbered 1 and 2 (north and south at yaw 0), 3 and 4 (east and west), 5 and 6 (bottom and top); those
of a cylinder SIDE, 5 and 6. The side of a cylinder turns with the place: `side_north` and `side_east` are the
horizontal unit vector out of it where the point is. Parts are rows of `world.part_array`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel

FREE, SIDE, BOTTOM, TOP = 0.0, 1.0, 5.0, 6.0


@kernel
def entry(
    part: NDArray[np.float64],
    from_north: float,
    from_east: float,
    from_down: float,
    north: float,
    east: float,
    down: float,
) -> tuple[float, float, float]:
    """Face through which the straight path between two points enters a part, FREE if it does not enter.

    Also `side_north` and `side_east`. A path that begins inside enters through the face nearest to its beginning. Slab
    method, as in `world/beam.py`: the path is inside a convex part while it is between each pair of faces.
    """
    cosine, sine = part[7], part[8]
    n0, e0, d0 = from_north - part[1], from_east - part[2], from_down - part[3]
    n1, e1, d1 = north - part[1], east - part[2], down - part[3]
    first, last, face = _between(part[6], d0, d1, BOTTOM)
    side_north, side_east = 1.0, 0.0
    if part[0] != 0.0:
        enters, leaves = _through_circle(part[4], n0, e0, n1 - n0, e1 - e0)
        if enters > first:
            first, face = enters, SIDE
            side_north, side_east = _direction(n0 + enters * (n1 - n0), e0 + enters * (e1 - e0))
        last = min(last, leaves)
    else:
        a0, b0 = cosine * n0 + sine * e0, cosine * e0 - sine * n0
        a1, b1 = cosine * n1 + sine * e1, cosine * e1 - sine * n1
        enters, leaves, side = _between(part[4], a0, a1, 1.0)
        if enters > first:
            first, face = enters, side
        last = min(last, leaves)
        enters, leaves, side = _between(part[5], b0, b1, 3.0)
        if enters > first:
            first, face = enters, side
        last = min(last, leaves)
    if first >= last or first > 1.0 or last <= 0.0:
        return FREE, 1.0, 0.0
    if first < 0.0:
        return _nearest(part, n0, e0, d0)
    return face, side_north, side_east


@kernel
def depth_below(
    part: NDArray[np.float64],
    face: float,
    side_north: float,
    side_east: float,
    north: float,
    east: float,
    down: float,
) -> tuple[float, float, float, float, bool]:
    """Depth of a point below a face (m), the unit vector NED into the part, and whether it is between the face's edges.

    The depth grows without end behind the face. Below the side of a cylinder it is measured towards the axis, and
    beyond half the radius along the direction of entry.
    """
    cosine, sine = part[7], part[8]
    n, e, d = north - part[1], east - part[2], down - part[3]
    a, b = cosine * n + sine * e, cosine * e - sine * n
    if face >= BOTTOM:
        sign = 1.0 if face == BOTTOM else -1.0
        within = n * n + e * e <= part[4] * part[4] if part[0] != 0.0 else abs(a) <= part[4] and abs(b) <= part[5]
        return part[6] - sign * d, 0.0, 0.0, -sign, within
    within = abs(d) <= part[6]
    if part[0] != 0.0:
        radius = math.sqrt(n * n + e * e)
        along = side_north * n + side_east * e
        if along > 0.0 and radius > 0.5 * part[4]:
            return part[4] - radius, -n / radius, -e / radius, 0.0, within
        within = within and abs(side_north * e - side_east * n) <= part[4]
        return part[4] - along, -side_north, -side_east, 0.0, within
    if face < 3.0:
        sign = 1.0 if face == 1.0 else -1.0
        return part[4] - sign * a, -sign * cosine, -sign * sine, 0.0, within and abs(b) <= part[5]
    sign = 1.0 if face == 3.0 else -1.0
    return part[5] - sign * b, sign * sine, -sign * cosine, 0.0, within and abs(a) <= part[4]


@kernel
def _nearest(part: NDArray[np.float64], n: float, e: float, d: float) -> tuple[float, float, float]:
    """Face nearest to a point inside, given from the centre (m), and `side_north` and `side_east`."""
    depth, face = part[6] - abs(d), BOTTOM if d > 0.0 else TOP
    if part[0] != 0.0:
        side_north, side_east = _direction(n, e)
        return SIDE if part[4] - math.sqrt(n * n + e * e) < depth else face, side_north, side_east
    a, b = part[7] * n + part[8] * e, part[7] * e - part[8] * n
    if part[4] - abs(a) < depth:
        depth, face = part[4] - abs(a), 1.0 if a > 0.0 else 2.0
    if part[5] - abs(b) < depth:
        face = 3.0 if b > 0.0 else 4.0
    return face, 1.0, 0.0


@kernel
def _direction(north: float, east: float) -> tuple[float, float]:
    """Unit vector along a horizontal one; north on the axis, where all directions are equivalent."""
    length = math.sqrt(north * north + east * east)
    return (north / length, east / length) if length > 0.0 else (1.0, 0.0)


@kernel
def _between(half: float, start: float, end: float, positive: float) -> tuple[float, float, float]:
    """Shares of the path at which it enters and leaves the space between -half and half, and the face of entry."""
    along = end - start
    if along == 0.0:
        return (-math.inf, math.inf, positive) if abs(start) < half else (math.inf, -math.inf, positive)
    reach = math.copysign(half, along)
    return (-reach - start) / along, (reach - start) / along, positive if along < 0.0 else positive + 1.0


@kernel
def _through_circle(radius: float, n: float, e: float, along_n: float, along_e: float) -> tuple[float, float]:
    """Shares of the path at which it enters and leaves a circle about the origin."""
    squared = along_n * along_n + along_e * along_e
    excess = n * n + e * e - radius * radius
    if squared == 0.0:
        return (-math.inf, math.inf) if excess < 0.0 else (math.inf, -math.inf)
    middle = -(n * along_n + e * along_e) / squared
    discriminant = middle * middle - excess / squared
    if discriminant <= 0.0:
        return math.inf, -math.inf
    half = math.sqrt(discriminant)
    return middle - half, middle + half
