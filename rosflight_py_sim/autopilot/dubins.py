"""Dubins paths: shortest paths between two poses for a vehicle with a minimum turn radius."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

from rosflight_py_sim.autopilot.path_segments import Horizontal

RIGHT, LEFT = 1, -1
CASES = {"RSR": (RIGHT, RIGHT), "RSL": (RIGHT, LEFT), "LSR": (LEFT, RIGHT), "LSL": (LEFT, LEFT)}
"""The four turn-straight-turn paths: senses of the first and of the last turn."""

# A turn this close to a full circle is zero, up to rounding.
_WHOLE_TURN = 2.0 * math.pi - 1e-9


class UnreachableError(ValueError):
    """No such path exists; the text gives the reason."""


@dataclass(frozen=True)
class DubinsPath:
    """Turn, straight, turn: L = R (first_sweep + last_sweep) + straight.

    Attributes:
        case: RSR, RSL, LSR or LSL.
        radius: turn radius, m.
        first_centre, last_centre: of the circles, north and east, m.
        first_turn, last_turn: 1 clockwise seen from above, -1 counter-clockwise.
        first_start, last_start: directions from the centres to the beginnings of the arcs, rad from north.
        first_sweep, last_sweep: angles of the arcs, rad.
        straight: length of the line between them, m.
    """

    case: str
    radius: float
    first_centre: Horizontal
    first_turn: int
    first_start: float
    first_sweep: float
    straight: float
    last_centre: Horizontal
    last_turn: int
    last_start: float
    last_sweep: float

    @property
    def length(self) -> float:
        """Length of the whole path, m."""
        return self.radius * (self.first_sweep + self.last_sweep) + self.straight


def shortest_dubins_path(
    start: Horizontal, start_course: float, end: Horizontal, end_course: float, radius: float
) -> DubinsPath:
    """Shortest of the four turn-straight-turn paths (Beard and McLain, 2012, sec. 11.2.2 and algorithm 7).

    Positions in m, courses in rad. Paths of three turns are never shorter if the positions are at least 3 R apart.

    Raises:
        UnreachableError: the positions are closer than 3 R.
    """
    apart = math.dist(start, end)
    if apart < 3.0 * radius:
        raise UnreachableError(
            f"{apart:.1f} m apart; allowed for turns of {radius:g} m: at least 3 radii, {3.0 * radius:g} m"
        )
    return shortest_straight_path(start, start_course, end, end_course, radius)


def shortest_straight_path(
    start: Horizontal, start_course: float, end: Horizontal, end_course: float, radius: float
) -> DubinsPath:
    """Shortest turn-straight-turn path at any distance; at less than 3 R, one of three turns may be shorter."""
    paths = []
    for case in CASES:
        # At 3 to 4 radii, circles of opposite sense may overlap and then have no inner tangent; outer tangents always
        # exist.
        with contextlib.suppress(UnreachableError):
            paths.append(dubins_path(case, start, start_course, end, end_course, radius))
    return min(paths, key=lambda path: path.length)


def dubins_path(
    case: str, start: Horizontal, start_course: float, end: Horizontal, end_course: float, radius: float
) -> DubinsPath:
    """One of the four paths, by the lengths of eq. 11.9 (RSR), 11.10 (RSL), 11.11 (LSR) and 11.12 (LSL).

    The turns' circles have their centres abeam of the ends (eq. 11.5 to 11.8). With theta the direction from the
    first centre to the last one, the straight part of an outer tangent (same sense) runs along theta and is as long
    as the centres are apart, l; that of an inner tangent runs at asin(2 R / l) to it and is sqrt(l^2 - 4 R^2) long.

    Raises:
        UnreachableError: an inner tangent where the circles overlap.
    """
    first, last = CASES[case]
    first_centre = _abeam(start, start_course, first, radius)
    last_centre = _abeam(end, end_course, last, radius)
    north, east = last_centre[0] - first_centre[0], last_centre[1] - first_centre[1]
    apart = math.hypot(north, east)
    straight, heading = apart, math.atan2(east, north)
    if first != last:
        if apart < 2.0 * radius:
            raise UnreachableError(f"{case}: the circles are {apart:.1f} m apart; allowed: at least {2.0 * radius:g} m")
        straight = math.sqrt(apart * apart - 4.0 * radius * radius)
        heading += first * math.asin(2.0 * radius / apart)
    return DubinsPath(
        case=case,
        radius=radius,
        first_centre=first_centre,
        first_turn=first,
        first_start=start_course - first * math.pi / 2.0,
        first_sweep=_sweep(start_course, heading, first),
        straight=straight,
        last_centre=last_centre,
        last_turn=last,
        last_start=heading - last * math.pi / 2.0,
        last_sweep=_sweep(heading, end_course, last),
    )


def _abeam(place: Horizontal, course: float, turn: int, radius: float) -> Horizontal:
    return place[0] - turn * radius * math.sin(course), place[1] + turn * radius * math.cos(course)


def _sweep(from_course: float, to_course: float, turn: int) -> float:
    """Angle (rad, 0 to 2 pi) from one course to another in the sense `turn`."""
    sweep = (turn * (to_course - from_course)) % (2.0 * math.pi)
    return 0.0 if sweep > _WHOLE_TURN else sweep
