"""Guidance of a fixed wing over a point, before it circles the point."""

from __future__ import annotations

import math
from typing import TypeAlias

from rosflight_py_sim.autopilot.flight_state import FlightState

Point: TypeAlias = tuple[float, float, float | None]

GRAVITY = 9.81
"""Used for the turn radius, m/s^2."""

# Distance (m) at which the point counts as passed, and lateral distance up to which the aircraft flies straight on.
_PASSED, _STRAIGHT_ON = 10.0, 5.0
# Turn radius for planning, as a multiple of that at the largest roll angle: rolling takes time.
_PLANNED = 1.3
# Turn radii by which a point must be outside of both turn circles before the aircraft turns back to it.
_CLEARANCE = 1.5


class Overflight:
    """Flies over ground towards a point, and counts it as passed at the closest approach within 10 m, height included.

    The course is the bearing of the point. A point inside of a turn circle beside the aircraft cannot be reached by
    turning, nor one that was passed at another height: the aircraft then flies straight on until the point is well
    outside, and turns back. The turn radius is R = V^2 / (g tan(phi)), with phi the largest roll angle and V the
    airspeed plus the wind speed.

    Attributes:
        point: north, east and height, m from home; the height is None if any will do.
        has_passed: whether the aircraft has passed the point.
    """

    def __init__(self, point: Point, max_roll: float) -> None:
        """`max_roll` (rad) is the largest roll angle in turns."""
        self.point = point
        self.has_passed = False
        self._tangent = math.tan(max_roll)
        self._away: float | None = None

    def course(self, state: FlightState) -> float:
        """Course over ground (rad) for now."""
        to_north, to_east, height = self.point
        north, east = to_north - state.position_ned[0], to_east - state.position_ned[1]
        above = 0.0 if height is None else state.height - height
        cos, sin = math.cos(state.course), math.sin(state.course)
        ahead, aside = north * cos + east * sin, abs(east * cos - north * sin)
        if ahead <= 0.0 and math.hypot(ahead, aside, above) <= _PASSED:
            self.has_passed = True
        speed = state.airspeed + math.hypot(*state.wind_ned[:2])
        radius = _PLANNED * speed * speed / (GRAVITY * self._tangent)
        if self._away is None and aside > _STRAIGHT_ON and math.hypot(ahead, aside - radius) < radius:
            self._away = state.course
        elif self._away is not None and math.hypot(ahead, aside - radius) >= _CLEARANCE * radius:
            self._away = None
        return math.atan2(east, north) if self._away is None else self._away
