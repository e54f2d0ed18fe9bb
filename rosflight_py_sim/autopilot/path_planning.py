"""Path planning: a gapless sequence of lines and arcs from waypoints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from rosflight_py_sim.autopilot.corners import corner_arc, corner_cut, direction, end_plane, is_sharp, turn_angle
from rosflight_py_sim.autopilot.dubins import (
    DubinsPath,
    UnreachableError,
    shortest_dubins_path,
    shortest_straight_path,
)
from rosflight_py_sim.autopilot.landing import Landing
from rosflight_py_sim.autopilot.path_segments import Arc, Horizontal, Line, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoints import FlightPlan, Loiter, Waypoint, WaypointError

# Turn radii of a leg within which an aircraft that overshoots a right angle is back on the leg.
_TO_RETURN = 3.0
# Turn radii after a sharp corner within which a turn back onto the leg ends, if the leg is that long.
_TO_TURN_BACK = 4.0


def planned_path(plan: FlightPlan) -> tuple[Segment, ...]:
    """Segments from the first waypoint to the loiter or the landing; the last segment is the loiter or the glide slope.

    Arcs are level, at the height of their waypoint; height changes along lines. A loiter with a given centre is reached
    along the tangent from the last waypoint, as if the tangent's end were an additional waypoint.

    Raises:
        WaypointError: a turn cannot be flown, the last waypoint is inside the loiter circle, or the circuit ends too
            near to the final approach or too low for it.
    """
    circuit = _circuit(plan)
    return (*circuit, *_approach(circuit, plan.landing, plan.radius)) if plan.landing else circuit


def circuit_length(plan: FlightPlan) -> int:
    """Number of segments of the planned path before the approach, the loiter included."""
    return len(_circuit(plan))


def _circuit(plan: FlightPlan) -> tuple[Segment, ...]:
    points, loiter = list(plan.waypoints), plan.loiter
    if loiter is not None and loiter.centre is not None:
        points.append(_tangent_point(points[-1], loiter))
    segments = {"line": _lines, "fillet": _fillets, "dubins": _dubins}[plan.path_type](points, plan.radius)
    return tuple(segments) if loiter is None else (*segments, _loiter(segments, points[-1], loiter))


def _approach(circuit: Sequence[Segment], landing: Landing, radius: float) -> list[Segment]:
    """Dubins path from the end of the circuit to the beginning of the final approach, and the glide slope."""
    end = circuit[-1]
    start = end.point(end.length)
    down = start[2] if landing.height is None else -landing.height
    height = landing.height_above((0.0, 0.0, down))
    if height <= landing.flare_height:
        raise WaypointError(
            f"the final approach begins {height:g} m above the touch-down; allowed: more than the flare height, "
            f"{landing.flare_height:g} m"
        )
    aim = landing.aim_ned
    back = height / math.tan(landing.glide_slope)
    along = (math.cos(landing.course), math.sin(landing.course))
    begin = (aim[0] - back * along[0], aim[1] - back * along[1], down)
    try:
        leg = _dubins_leg(start, _end_course(end), begin, landing.course, radius, landing.airspeed)
    except UnreachableError as error:
        raise WaypointError(f"the end of the circuit and the beginning of the final approach are {error}") from error
    return [*leg, Line(begin, aim, along, landing.airspeed)]


def joined_path(plan: FlightPlan, position_ned: Vector3, course: float) -> tuple[Segment, ...]:
    """The planned path, preceded by segments from the vehicle's position `position_ned` (m) and `course` (rad).

    The vehicle's position becomes an additional waypoint. If it is too near for that, a turn, a straight line and
    another turn lead to the beginning of the path.

    Raises:
        WaypointError: as for `planned_path`.
    """
    path = planned_path(plan)
    here = Waypoint(position_ned, plan.waypoints[0].airspeed, course)
    try:
        return planned_path(replace(plan, waypoints=(here, *plan.waypoints)))
    except WaypointError:
        start, onward = path[0].point(0.0), _start_course(path[0])
    way = shortest_straight_path(position_ned[:2], course, start[:2], onward, plan.radius)
    return (*_segments(way, position_ned[2], start[2], here.airspeed), *path)


def polyline(path: Sequence[Segment], spacing: float) -> list[Vector3]:
    """Points along the path: ends of lines, and points at most `spacing` (m) apart on arcs; one turn of orbits."""
    points: list[Vector3] = []
    for segment in path:
        length, steps = segment.length, 1
        if isinstance(segment, Arc):
            length = min(length, 2.0 * math.pi * segment.radius)
            steps = max(1, math.ceil(length / spacing))
        points += [segment.point(length * k / steps) for k in range(steps + 1)]
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


def _lines(points: Sequence[Waypoint], radius: float) -> list[Segment]:
    """Corner to corner; each line ends at the plane of its corner (algorithm 5, eq. 11.1)."""
    return _straight_legs(points, radius, [0.0] * len(points))


def _fillets(points: Sequence[Waypoint], radius: float) -> list[Segment]:
    """Lines with corners rounded by tangent arcs (algorithm 6; eq. 11.2 to 11.4), except sharp ones."""
    directions = [direction(a.position_ned, b.position_ned) for a, b in itertools.pairwise(points)]
    turns = [turn_angle(a, b) for a, b in itertools.pairwise(directions)]
    return _straight_legs(
        points, radius, [0.0, *(0.0 if is_sharp(turn) else corner_cut(turn, radius) for turn in turns), 0.0]
    )


def _straight_legs(points: Sequence[Waypoint], radius: float, cuts: Sequence[float]) -> list[Segment]:
    """Lines along the legs; `cuts` are the distances from each point to the ends of the arc that rounds its corner, m.

    An aircraft overshoots a corner that is not rounded. Where the corner is sharp, or the leg too short to return to
    it, a turn back is planned that ends on the leg. The course of the first point, if any, is that of a leg before it.
    """
    directions = [direction(a.position_ned, b.position_ned) for a, b in itertools.pairwise(points)]
    course = points[0].course
    before = directions[0] if course is None else (math.cos(course), math.sin(course))
    segments: list[Segment] = []
    for index, along in enumerate(directions):
        start, end, speed = points[index].position_ned, points[index + 1].position_ned, points[index + 1].airspeed
        length, after = math.dist(start[:2], end[:2]), cuts[index + 1]
        if cuts[index] + after > length:
            raise WaypointError(
                f"waypoints {index + 1} and {index + 2} are {length:.1f} m apart; allowed for fillets of {radius:g} m "
                f"at their corners: at least {cuts[index] + after:.1f} m"
            )
        begin, leave = cuts[index], length - after
        if begin == 0.0 and _needs_turn_back(turn_angle(before, along), radius, leave):
            begin = min(_TO_TURN_BACK * radius, leave)
            entry = _ahead(start, along, begin)
            courses = math.atan2(before[1], before[0]), math.atan2(along[1], along[0])
            back = shortest_straight_path(start[:2], courses[0], entry[:2], courses[1], radius)
            segments += _segments(back, start[2], start[2] if begin < leave else end[2], speed)
        onward = directions[index + 1] if index + 1 < len(directions) else along
        enter, corner = _ahead(start, along, begin), _ahead(end, along, -after)
        if begin < leave:
            segments.append(Line(enter, corner, along if after > 0.0 else end_plane(along, onward), speed))
        if after > 0.0:
            segments.append(corner_arc(corner, along, turn_angle(along, onward), radius, speed))
        before = along
    return segments


def _ahead(place: Vector3, along: Horizontal, distance: float) -> Vector3:
    """The point a distance (m) ahead of another one, at its height."""
    return place[0] + distance * along[0], place[1] + distance * along[1], place[2]


def _needs_turn_back(turn_rad: float, radius: float, length: float) -> bool:
    """Whether an aircraft that overshoots a corner does not return to the next leg within its length (m)."""
    return is_sharp(turn_rad) or length < _TO_RETURN * radius * math.tan(0.5 * abs(turn_rad))


def _dubins(points: Sequence[Waypoint], radius: float) -> list[Segment]:
    """Dubins paths from course to course (algorithm 8); a missing course is towards the next point."""
    courses = [_course(points, index) for index in range(len(points))]
    segments: list[Segment] = []
    for index, (start, end) in enumerate(itertools.pairwise(points)):
        here, there = start.position_ned, end.position_ned
        try:
            segments += _dubins_leg(here, courses[index], there, courses[index + 1], radius, end.airspeed)
        except UnreachableError as error:
            raise WaypointError(f"waypoints {index + 1} and {index + 2} are {error}") from error
    return segments


def _dubins_leg(
    start: Vector3, start_course: float, end: Vector3, end_course: float, radius: float, airspeed: float
) -> list[Segment]:
    return _segments(
        shortest_dubins_path(start[:2], start_course, end[:2], end_course, radius), start[2], end[2], airspeed
    )


def _segments(path: DubinsPath, start_down: float, end_down: float, airspeed: float) -> list[Segment]:
    """Segments of a Dubins path: the turns are level, the line between them climbs or descends."""
    first = Arc(
        (*path.first_centre, start_down), path.radius, path.first_turn, path.first_start, path.first_sweep, airspeed
    )
    last = Arc((*path.last_centre, end_down), path.radius, path.last_turn, path.last_start, path.last_sweep, airspeed)
    leave, enter = first.point(first.length), last.point(0.0)
    pieces: list[Segment] = [first, last]
    if path.straight > 1e-6:
        pieces.insert(1, Line(leave, enter, direction(leave, enter), airspeed))
    return [piece for piece in pieces if piece.length > 1e-6]


def _start_course(segment: Segment) -> float:
    """Course at the start of a segment, rad."""
    if isinstance(segment, Line):
        return segment.course
    return segment.start_angle + segment.turn * math.pi / 2.0


def _end_course(segment: Segment) -> float:
    """Course at the end of a segment, rad."""
    if isinstance(segment, Line):
        return segment.course
    return segment.start_angle + segment.turn * (segment.sweep + math.pi / 2.0)


def _loiter(segments: Sequence[Segment], last: Waypoint, loiter: Loiter) -> Arc:
    """Loiter circle after the last waypoint."""
    course = _end_course(segments[-1])
    north, east, down = last.position_ned
    centre = loiter.centre or (
        north - loiter.turn * loiter.radius * math.sin(course),
        east + loiter.turn * loiter.radius * math.cos(course),
    )
    down = down if loiter.height is None else -loiter.height
    start = course - loiter.turn * math.pi / 2.0
    sweep = 2.0 * math.pi * loiter.turns
    return Arc((*centre, down), loiter.radius, loiter.turn, start, sweep, last.airspeed)


def _tangent_point(last: Waypoint, loiter: Loiter) -> Waypoint:
    """Point where the tangent from the last waypoint touches the loiter circle, in its sense of turning."""
    assert loiter.centre is not None
    north, east = loiter.centre[0] - last.position_ned[0], loiter.centre[1] - last.position_ned[1]
    apart = math.hypot(north, east)
    if apart <= loiter.radius + 1e-3:
        raise WaypointError(
            f"the last waypoint is {apart:.1f} m from the centre of the loiter; allowed: more than its radius, "
            f"{loiter.radius:g} m"
        )
    # The centre lies to the right of the tangent where the circle is flown clockwise.
    course = math.atan2(east, north) - loiter.turn * math.asin(loiter.radius / apart)
    along = math.sqrt(apart * apart - loiter.radius * loiter.radius)
    down = last.position_ned[2] if loiter.height is None else -loiter.height
    place = (last.position_ned[0] + along * math.cos(course), last.position_ned[1] + along * math.sin(course), down)
    return Waypoint(place, last.airspeed, course)


def _course(points: Sequence[Waypoint], index: int) -> float:
    given = points[index].course
    if given is not None:
        return given
    a, b = (index, index + 1) if index + 1 < len(points) else (index - 1, index)
    north, east = direction(points[a].position_ned, points[b].position_ned)
    return math.atan2(east, north)
