"""Routes along waypoints that each name the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    Lateral,
    PositionTarget,
    TargetError,
)
from rosflight_py_sim.autopilot.setpoint import Vector3

_REACHED = 40.0


@dataclass(frozen=True, slots=True)
class RouteWaypoint:
    """A place (NED, m) to fly to at an airspeed (m/s), its number, and that of the next one."""

    id: int
    next_id: int
    position_ned: Vector3
    airspeed: float

    def __post_init__(self) -> None:
        """Refuse what cannot be flown.

        Raises:
            TargetError: an airspeed that is not positive.
        """
        if not self.airspeed > 0.0:
            raise TargetError(f"airspeed {self.airspeed:g} m/s given; allowed: greater than 0 m/s")


class Route:
    """Leads from waypoint to waypoint, to the one whose next is not there."""

    def __init__(self, buffer: Mapping[int, RouteWaypoint], first_id: int) -> None:
        """`buffer` is looked into as the route is flown."""
        self._buffer = buffer
        self._waypoint = buffer[first_id]

    @property
    def waypoint_id(self) -> int:
        """Number of the waypoint that is flown to."""
        return self._waypoint.id

    def update(self, state: FlightState) -> FlyTarget:
        """What to fly now: straight to the waypoint, and on to the next; the last one is circled."""
        north, east, _ = self._waypoint.position_ned
        if math.dist(state.position_ned[:2], (north, east)) < _REACHED:
            self._waypoint = self._buffer.get(self._waypoint.next_id, self._waypoint)
        waypoint = self._waypoint
        north, east, down = waypoint.position_ned
        lateral: Lateral = PositionTarget(north, east)
        if waypoint.next_id in self._buffer:
            lateral = CourseTarget(math.atan2(east - state.position_ned[1], north - state.position_ned[0]))
        return FlyTarget(lateral, AirspeedTarget(waypoint.airspeed), AltitudeTarget(-down))
