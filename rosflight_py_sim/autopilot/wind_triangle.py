"""Airspeed, wind and course."""

from __future__ import annotations

import math
from collections.abc import Sequence


def ground_speed_along(course: float, airspeed: float, wind_ned: Sequence[float]) -> float:
    """Speed over ground (m/s) of one that flies along a course (rad) at a horizontal airspeed (m/s).

    From |V_g c - w| = V_a: V_g = w.c + sqrt(V_a^2 - (w x c)^2) (Beard and McLain, Small Unmanned Aircraft, 2012, sec.
    2.4). Where the wind across is more than the airspeed the course cannot be held; then 0, or what the wind gives.
    """
    north, east = math.cos(course), math.sin(course)
    tail = wind_ned[0] * north + wind_ned[1] * east
    across = wind_ned[0] * east - wind_ned[1] * north
    return max(tail + math.sqrt(max(airspeed * airspeed - across * across, 0.0)), 0.0)
