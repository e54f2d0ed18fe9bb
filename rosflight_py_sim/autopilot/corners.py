"""Corners between two legs of a path, seen from above."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.path_segments import Arc, Horizontal
from rosflight_py_sim.autopilot.setpoint import Vector3

SHARP = math.radians(100.0)
"""Course change (rad) above which a corner is flown over, because an arc would miss it by half of its radius and more.

More than a right angle, so that a circuit's right angles stay rounded when the aircraft joins it a little askew.
"""

# Course changes below this (rad) are not corners.
_STRAIGHT = 1e-6


def corner_cut(turn_rad: float, radius: float) -> float:
    """Distance from a corner to the ends of the arc tangent to both legs, m.

    In a corner of the angle rho between the legs that is R / tan(rho / 2) (Beard and McLain, Small Unmanned Aircraft,
    2012, eq. 11.2); with the course changing by c = pi - rho it is R tan(c / 2).
    """
    return radius * math.tan(abs(turn_rad) / 2.0) if abs(turn_rad) > _STRAIGHT else 0.0


def corner_arc(begin_ned: Vector3, before: Horizontal, turn_rad: float, radius: float, airspeed: float) -> Arc:
    """Level arc that leaves the direction `before` at `begin_ned` and turns by `turn_rad`, positive to the right."""
    turn = int(math.copysign(1.0, turn_rad))
    north, east = before
    centre = (begin_ned[0] - turn * radius * east, begin_ned[1] + turn * radius * north, begin_ned[2])
    return Arc(centre, radius, turn, math.atan2(east, north) - turn * math.pi / 2.0, abs(turn_rad), airspeed)


def direction(start: Vector3, end: Vector3) -> Horizontal:
    north, east = end[0] - start[0], end[1] - start[1]
    length = math.hypot(north, east)
    return north / length, east / length


def turn_angle(before: Horizontal, after: Horizontal) -> float:
    """Change of course between two directions, rad, positive to the right."""
    return wrap_angle(math.atan2(after[1], after[0]) - math.atan2(before[1], before[0]))


def end_plane(before: Horizontal, after: Horizontal) -> Horizontal:
    """Normal of the plane at a corner that ends the leg before it.

    Up to a right angle it is the plane that bisects the corner, with the normal (q_{i-1} + q_i) / |...| of eq. 11.1. At
    a sharper corner that plane leans towards the leg, in a reversal it contains the leg: a vehicle a metre beside the
    leg would have crossed it long before the corner. There the plane is normal to the leg, q_{i-1}.
    """
    if before[0] * after[0] + before[1] * after[1] < 0.0:
        return before
    north, east = before[0] + after[0], before[1] + after[1]
    length = math.hypot(north, east)
    return north / length, east / length


def is_sharp(turn_rad: float) -> bool:
    """Whether a course changes by so much that the corner is flown over and never rounded."""
    return abs(turn_rad) > SHARP
