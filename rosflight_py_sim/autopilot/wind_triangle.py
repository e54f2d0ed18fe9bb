"""Wind triangle: airspeed, wind and course."""

from __future__ import annotations

import math
from collections.abc import Sequence


def ground_speed_along(course: float, airspeed: float, wind_ned: Sequence[float]) -> float:
    """Ground speed (m/s) along a course (rad) at a horizontal airspeed (m/s).

    From |V_g c - w| = V_a: V_g = w.c + sqrt(V_a^2 - (w x c)^2) (Beard and McLain, Small Unmanned Aircraft, 2012, sec.
    2.4). If the crosswind exceeds the airspeed, the course cannot be held; the result is then 0 or the wind along the
    course.
    """
    north, east = math.cos(course), math.sin(course)
    tail = wind_ned[0] * north + wind_ned[1] * east
    across = wind_ned[0] * east - wind_ned[1] * north
    return max(tail + math.sqrt(max(airspeed * airspeed - across * across, 0.0)), 0.0)
