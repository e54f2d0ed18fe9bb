"""Solids for contact: ground or floor, pool walls, and the solid objects of the world.

A row of `solids` has nine numbers. Parts of objects are rows of `world.part_array`: 1 for a cylinder or 0 for a box,
then centre, half sizes, cosine and sine of yaw. A plane (a solid half-space) is PLANE, the unit vector NED that points
into it, and at OFFSET the depth of the origin in it (m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.world import World, part_array

PLANE = 2.0
OFFSET = 4


@dataclass(frozen=True)
class Solids:
    """Solids by name; the first is the floor, or the ground of a world without water.

    Attributes:
        names: one for each row.
        rows: (s, 9).
    """

    names: tuple[str, ...]
    rows: NDArray[np.float64]

    @property
    def floor(self) -> Solids:
        """Only the first solid: the floor or the ground."""
        return Solids(self.names[:1], self.rows[:1])

    @property
    def without_floor(self) -> Solids:
        """All others."""
        return Solids(self.names[1:], self.rows[1:])


def solids_of(values: Values, world: World) -> Solids:
    """Floor, walls and solid objects of a world; on dry land the ground is at the parameter `ground_altitude`.

    The walls of a pool extend upwards without end.
    """
    if world.water is None:
        found = [("ground", _plane((0.0, 0.0, 1.0), number(values, "ground_altitude")))]
    else:
        found = [("floor", _plane((0.0, 0.0, 1.0), -world.floor_down))]
    if world.pool is not None:
        length, width = 0.5 * world.pool.length_north, 0.5 * world.pool.width_east
        found += [
            ("north wall", _plane((1.0, 0.0, 0.0), -length)),
            ("south wall", _plane((-1.0, 0.0, 0.0), -length)),
            ("east wall", _plane((0.0, 1.0, 0.0), -width)),
            ("west wall", _plane((0.0, -1.0, 0.0), -width)),
        ]
    for thing in world.objects:
        if thing.solid:
            found += [(f"object '{thing.name}'", row) for row in part_array([thing])]
    return Solids(tuple(name for name, _ in found), np.array([row for _, row in found]))


def _plane(into: tuple[float, float, float], offset: float) -> NDArray[np.float64]:
    return np.array([PLANE, *into, offset, 0.0, 0.0, 0.0, 0.0])


@kernel
def depth_in_part(
    part: NDArray[np.float64], north: float, east: float, down: float
) -> tuple[float, float, float, float]:
    """Depth of a point in a part (m), and the unit vector NED away from the nearest face.

    Outside, the depth is negative, and the distance to the part is at least as long.
    """
    cosine, sine = part[7], part[8]
    dn, de, dd = north - part[1], east - part[2], down - part[3]
    depth, into_n, into_e, into_d = part[6] - abs(dd), 0.0, 0.0, -math.copysign(1.0, dd)
    if part[0] != 0.0:
        radius = math.sqrt(dn * dn + de * de)
        if part[4] - radius < depth:
            # On the axis all directions are equivalent.
            into_n, into_e = (-dn / radius, -de / radius) if radius > 0.0 else (1.0, 0.0)
            depth, into_d = part[4] - radius, 0.0
        return depth, into_n, into_e, into_d
    a, b = cosine * dn + sine * de, cosine * de - sine * dn
    if part[4] - abs(a) < depth:
        sign = -math.copysign(1.0, a)
        depth, into_n, into_e, into_d = part[4] - abs(a), sign * cosine, sign * sine, 0.0
    if part[5] - abs(b) < depth:
        sign = -math.copysign(1.0, b)
        depth, into_n, into_e, into_d = part[5] - abs(b), -sign * sine, sign * cosine, 0.0
    return depth, into_n, into_e, into_d
