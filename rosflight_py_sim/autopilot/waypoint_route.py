"""Routes of waypoints chained by number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from rosflight_py_sim.autopilot.corners import corner_arc, corner_cut, direction, end_plane, is_sharp, turn_angle
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    PositionTarget,
)
from rosflight_py_sim.autopilot.path_manager import PathManager
from rosflight_py_sim.autopilot.path_segments import Arc, FieldGains, Line, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.wind_triangle import ground_speed_along
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

ROUTE_PARAMETERS = ParameterTable(
    Parameter("turn_bank", 0.6, "Roll angle for planning turns between legs", "rad", minimum=0.05, maximum=1.2),
    Parameter(
        "passing_radius",
        30.0,
        "Horizontal distance within which a waypoint counts as passed; turns between legs stay within three quarters "
        "of it, and a waypoint missed by more is flown over again",
        "m",
        minimum=10.0,
        maximum=10000.0,
    ),
)

GRAVITY = 9.81
"""Used for the turn radius, m/s^2."""

# Shape of the vector fields: chi_inf (rad) of lines, k_orbit of arcs.
_APPROACH: Final = 1.05
_ORBIT_GAIN: Final = 1.2
# Greatest share of `passing_radius` that an arc may cut off; the rest is for the error of following it.
_CUT_OFF: Final = 0.75
# Course changes below this (rad) are not corners.
_STRAIGHT: Final = 1e-3
# Smallest share of the planned radius to which short legs may tighten a turn.
_TIGHTEST: Final = 0.5
# Greatest share of a corner that a wider arc may cut off.
_SLIGHT: Final = 0.1
# Waypoints closer together than this (m) count as one position.
_ONE_PLACE: Final = 1.0
_LEAST_RADIUS: Final = 1.0
# The last waypoint, which no turn cuts off, is flown over again if it was missed by more than this (m).
_REACHED: Final = 10.0


@dataclass(frozen=True)
class RouteWaypoint:
    """Numbered waypoint, with the number of the next one.

    Attributes:
        position_ned: m from home.
        airspeed: airspeed on the way to this point, m/s.
    """

    id: int
    next_id: int
    position_ned: Vector3
    airspeed: float

    def __post_init__(self) -> None:
        """Check the waypoint.

        Raises:
            TargetError: a number is not finite, or the airspeed is not positive.
        """
        _ = self.target

    @property
    def target(self) -> FlyTarget:
        """Target for flying directly to this waypoint and staying there."""
        north, east, down = self.position_ned
        return FlyTarget(PositionTarget(north, east), AirspeedTarget(self.airspeed), AltitudeTarget(-down))


class Route:
    """Route from a waypoint along the next numbers to the waypoint without an existing next one, where it ends.

    A cycle is flown indefinitely. `waypoints` is read in each call of `update` and may change:

    - If the current waypoint is replaced, the vehicle flies to the new one from its position.
    - If the next waypoint is replaced, or one is added after the last, the vehicle flies to it from the current one.
    - If the current waypoint is removed, it becomes the last one, and the vehicle still flies to it.

    Legs are straight, and followed by the vector field of Beard and McLain, Small Unmanned Aircraft (2012), eq. 10.8,
    with k_path = 1 / R. R = V_g^2 / (g tan(phi)) is the radius of a turn with the roll angle phi, `turn_bank`, at the
    greater of the ground speeds on the two legs. Corners are rounded by an arc of that radius (algorithm 6), a tighter
    one if the legs are short, and a wider one if it stays near the corner, so that waypoints along a curve give a
    smooth path. At sharp corners, and at those whose arc would miss the waypoint by too much, the
    vehicle continues to the plane at the end of the leg (algorithm 5, `end_plane`) and overshoots the turn. A waypoint
    that was missed by more than `passing_radius`, such as one that a turn leaves beside the vehicle, is flown over
    before the route goes on; so is the last one if it was missed by more than 10 m.
    """

    def __init__(self, waypoints: Mapping[int, RouteWaypoint], first: int, values: Values) -> None:
        """Start with the waypoint `first`; `values` contains ROUTE_PARAMETERS; others are ignored.

        Raises:
            KeyError: there is no such waypoint.
        """
        self._waypoints = waypoints
        self._to = waypoints[first]
        self._after: RouteWaypoint | None = None
        self._start: Vector3 | None = None
        self._leg: PathManager | None = None
        self._has_ended = False
        self._is_missed = False
        self._closest = math.inf
        self._passing_radius = number(values, "passing_radius")
        self._turn_bank = number(values, "turn_bank")
        self._gains = _field(_LEAST_RADIUS)

    @property
    def waypoint_id(self) -> int:
        """Number of the waypoint being approached or held."""
        return self._to.id

    @property
    def has_ended(self) -> bool:
        """Whether the last waypoint has been reached, and the vehicle stays there."""
        return self._has_ended

    def update(self, state: FlightState) -> FlyTarget:
        """Current target."""
        self._read_waypoints(state)
        apart = math.dist(state.position_ned[:2], self._to.position_ned[:2])
        is_receding, self._closest = apart > self._closest, min(apart, self._closest)
        if self._is_missed and is_receding and self._closest <= self._reach:
            self._go_on(state.position_ned)
        # Each waypoint at most once, because all waypoints of a cycle may have the same position.
        for _ in range(len(self._waypoints) + 1):
            if self._has_ended or self._is_missed:
                break
            if self._leg is None:
                self._leg = PathManager(self._planned(state))
            wanted = self._leg.update(state.position_ned, state.course, self._gains)
            if not self._leg.is_over:
                course = CourseTarget(wanted.course, wanted.curvature)
                return FlyTarget(course, AirspeedTarget(wanted.airspeed), AltitudeTarget(wanted.height))
            self._is_missed = self._closest > self._reach
            if not self._is_missed:
                end = self._leg.path[-1]
                self._go_on(end.point(end.length))
        north, east, _ = self._to.position_ned
        return replace(self._to.target, lateral=PositionTarget(north, east, overfly=self._is_missed))

    @property
    def _reach(self) -> float:
        """Distance at which the waypoint counts as passed, m."""
        return self._passing_radius if self._after is not None else _REACHED

    def _read_waypoints(self, state: FlightState) -> None:
        """Apply changes of the current and the next waypoint."""
        present = self._waypoints.get(self._to.id, self._to)
        if present != self._to:
            self._approach(present, None)
        after = self._waypoints.get(self._to.next_id)
        if after is self._to:
            after = None
        if after != self._after:
            turning = self._leg is not None and isinstance(self._leg.segment, Arc)
            self._after, self._leg = after, None
            if turning:
                self._start = state.position_ned
            if self._has_ended and after is not None:
                self._go_on(None)

    def _go_on(self, start: Vector3 | None) -> None:
        """Continue to the next waypoint, from `start` or the vehicle's position; stay if there is none."""
        if self._after is None:
            self._has_ended, self._is_missed = True, False
            return
        self._approach(self._after, start)
        self._after = self._waypoints.get(self._to.next_id)
        if self._after is self._to:
            self._after = None

    def _approach(self, waypoint: RouteWaypoint, start: Vector3 | None) -> None:
        """Begin the leg to a waypoint, from `start` or the vehicle's position."""
        # A waypoint at the place of the previous one has been passed with it.
        if math.dist(waypoint.position_ned[:2], self._to.position_ned[:2]) >= _ONE_PLACE:
            self._closest = math.inf
        self._to, self._start, self._leg = waypoint, start, None
        self._has_ended = self._is_missed = False

    def _planned(self, state: FlightState) -> list[Segment]:
        """The leg to the current waypoint, and the turn at its end."""
        if self._start is None:
            self._start = state.position_ned
        start, end, speed = self._start, self._to.position_ned, self._to.airspeed
        length = math.dist(start[:2], end[:2])
        if length < _ONE_PLACE:
            # A leg of length zero.
            return [Line(end, end, (0.0, 0.0), speed)]
        along = direction(start, end)
        radius = self._radius(state, along, speed)
        after = self._after
        onward, onward_length = along, 0.0
        if after is not None and math.dist(end[:2], after.position_ned[:2]) >= _ONE_PLACE:
            onward, onward_length = direction(end, after.position_ned), math.dist(end[:2], after.position_ned[:2])
            radius = max(radius, self._radius(state, onward, after.airspeed))
        self._gains = _field(radius)
        turn = turn_angle(along, onward)
        to_end: list[Segment] = [Line(start, end, end_plane(along, onward), speed)]
        if abs(turn) <= _STRAIGHT or is_sharp(turn):
            return to_end
        # The other half of the next leg is reserved for the corner at its end.
        fitting = min(length, 0.5 * onward_length) / math.tan(0.5 * abs(turn))
        # The arc of radius 1 m misses the corner by this much.
        cut_off = 1.0 / math.cos(0.5 * turn) - 1.0
        widest = min(fitting, _CUT_OFF * self._passing_radius / cut_off)
        if widest < _TIGHTEST * radius:
            return to_end
        chosen = min(widest, max(radius, _SLIGHT * radius / cut_off))
        cut = corner_cut(turn, chosen)
        leave = (end[0] - cut * along[0], end[1] - cut * along[1], end[2])
        arc = corner_arc(leave, along, turn, chosen, speed)
        return [Line(start, leave, along, speed), arc] if length - cut > _ONE_PLACE else [arc]

    def _radius(self, state: FlightState, along: tuple[float, float], airspeed: float) -> float:
        speed = ground_speed_along(math.atan2(along[1], along[0]), airspeed, state.wind_ned)
        return max(speed * speed / (GRAVITY * math.tan(self._turn_bank)), _LEAST_RADIUS)


def _field(radius: float) -> FieldGains:
    return FieldGains(_APPROACH, 1.0 / radius, _ORBIT_GAIN)
