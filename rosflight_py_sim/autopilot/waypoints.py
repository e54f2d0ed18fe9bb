"""Waypoint lists: content, YAML format and checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.bounded_yaml import load_yaml

PATH_TYPES = ("line", "fillet", "dubins")
"""Ways to join waypoints: lines with corners, lines with rounded corners, and Dubins paths."""

_DIRECTIONS = {"right": 1, "left": -1}


class WaypointError(ValueError):
    """Invalid waypoint list; the text names the part, the value given and the values allowed."""


@dataclass(frozen=True)
class Waypoint:
    """Waypoint to fly over.

    Attributes:
        position_ned: m from the origin.
        airspeed: airspeed on the way to this point, m/s.
        course: direction over ground at the point (rad, from north), used by Dubins paths; None: towards the next
            point.
    """

    position_ned: Vector3
    airspeed: float
    course: float | None = None


@dataclass(frozen=True)
class Loiter:
    """The loiter circle at the end.

    Attributes:
        radius: m.
        turns: number of turns after which the mission is done; the vehicle keeps circling.
        turn: 1 clockwise seen from above, -1 counter-clockwise.
        centre: north and east, m; None: abeam of the last waypoint, so that the circle continues the path.
        height: m above the origin; None: that of the last waypoint.
    """

    radius: float
    turns: float = 1.0
    turn: int = 1
    centre: tuple[float, float] | None = None
    height: float | None = None


@dataclass(frozen=True)
class FlightPlan:
    """Waypoints, how they are joined, and the loiter after the last one; `radius` is the turn radius, m."""

    waypoints: tuple[Waypoint, ...]
    path_type: str
    radius: float
    loiter: Loiter

    def __post_init__(self) -> None:
        """Check that a path can be planned.

        Raises:
            WaypointError: fewer than two points, repeated points, or numbers that are not finite or out of range.
        """
        if self.path_type not in PATH_TYPES:
            raise WaypointError(f"path '{self.path_type}' given; allowed: {', '.join(PATH_TYPES)}")
        _require_positive("radius", self.radius)
        _require_positive("loiter radius", self.loiter.radius)
        _require_positive("loiter turns", self.loiter.turns)
        for name, value in (("centre", self.loiter.centre or ()), ("height", (self.loiter.height or 0.0,))):
            if not all(map(math.isfinite, value)):
                raise WaypointError(f"loiter {name}: {value} given; allowed: finite numbers")
        if len(self.waypoints) < 2:
            raise WaypointError(f"{len(self.waypoints)} waypoints given; allowed: at least 2")
        for index, point in enumerate(self.waypoints, start=1):
            if not all(map(math.isfinite, point.position_ned)):
                raise WaypointError(f"waypoint {index}: position {point.position_ned} given; allowed: finite numbers")
            _require_positive(f"waypoint {index}: airspeed", point.airspeed)
            if point.course is not None and not math.isfinite(point.course):
                raise WaypointError(f"waypoint {index}: course {point.course} given; allowed: a finite number")
        for index in range(1, len(self.waypoints)):
            here, before = self.waypoints[index].position_ned, self.waypoints[index - 1].position_ned
            if math.dist(here[:2], before[:2]) < 1e-3:
                raise WaypointError(f"waypoint {index + 1} has the same position as waypoint {index}; allowed: another")


def read_flight_plan(path: Path | str) -> FlightPlan:
    """Flight plan from a YAML file; docs/autopilot.md explains the keys.

    Raises:
        WaypointError: the file cannot be read, is not YAML, or is rejected by `flight_plan`.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WaypointError(f"waypoint file '{path}' cannot be read: {error}") from error
    try:
        content = load_yaml(text)
    except yaml.YAMLError as error:
        raise WaypointError(f"waypoint file '{path}' is not YAML: {' '.join(str(error).split())}") from error
    try:
        return flight_plan(content)
    except WaypointError as error:
        raise WaypointError(f"waypoint file '{path}': {error}") from error


def flight_plan(content: object) -> FlightPlan:
    """Flight plan from a mapping with the content of a YAML file.

    Raises:
        WaypointError: a key is unknown or missing, or a value is not allowed.
    """
    plan = _mapping("the file", content, required=("path", "radius", "airspeed", "waypoints"), optional=("loiter",))
    listed = plan["waypoints"]
    if not isinstance(listed, list):
        raise WaypointError(f"waypoints: {listed!r} given; allowed: a list")
    airspeed, radius = _number("airspeed", plan["airspeed"]), _number("radius", plan["radius"])
    points = tuple(_waypoint(index, point, airspeed) for index, point in enumerate(listed, start=1))
    return FlightPlan(points, str(plan["path"]), radius, _loiter(plan.get("loiter", {}), radius))


def _waypoint(index: int, content: object, airspeed: float) -> Waypoint:
    where = f"waypoint {index}"
    point = _mapping(where, content, required=("ned",), optional=("airspeed", "course_deg"))
    ned = point["ned"]
    if not isinstance(ned, list) or len(ned) != 3:
        raise WaypointError(f"{where}: ned {ned!r} given; allowed: a list of 3 numbers, m")
    north, east, down = (_number(f"{where}: ned", value) for value in ned)
    course = point.get("course_deg")
    return Waypoint(
        (north, east, down),
        _number(f"{where}: airspeed", point.get("airspeed", airspeed)),
        None if course is None else math.radians(_number(f"{where}: course_deg", course)),
    )


def _loiter(content: object, radius: float) -> Loiter:
    loiter = _mapping("loiter", content, required=(), optional=("radius", "turns", "direction", "centre", "height"))
    direction = loiter.get("direction", "right")
    if direction not in _DIRECTIONS:
        raise WaypointError(f"loiter: direction {direction!r} given; allowed: {', '.join(_DIRECTIONS)}")
    centre, height = loiter.get("centre"), loiter.get("height")
    if centre is not None and (not isinstance(centre, list) or len(centre) != 2):
        raise WaypointError(f"loiter: centre {centre!r} given; allowed: a list of 2 numbers, north and east, m")
    return Loiter(
        radius=_number("loiter: radius", loiter.get("radius", radius)),
        turns=_number("loiter: turns", loiter.get("turns", 1.0)),
        turn=_DIRECTIONS[direction],
        centre=None if centre is None else (_number("loiter: centre", centre[0]), _number("loiter: centre", centre[1])),
        height=None if height is None else _number("loiter: height", height),
    )


def _mapping(where: str, content: object, required: tuple[str, ...], optional: tuple[str, ...]) -> Mapping[str, Any]:
    allowed = (*required, *optional)
    if not isinstance(content, dict):
        raise WaypointError(f"{where}: {content!r} given; allowed: keys {', '.join(allowed)}")
    for key in content:
        if key not in allowed:
            raise WaypointError(f"{where}: key '{key}' given; allowed: {', '.join(allowed)}")
    for key in required:
        if key not in content:
            raise WaypointError(f"{where}: key '{key}' is missing")
    return content


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise WaypointError(f"{where} {value!r} given; allowed: a finite number")
    return float(value)


def _require_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0.0):
        raise WaypointError(f"{name} {value:g} given; allowed: a finite number greater than 0")
