"""Waypoint lists: content, YAML format and checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.autopilot.landing import Landing
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.ground.bounded_yaml import load_yaml

PATH_TYPES = ("line", "fillet", "dubins")
"""Ways to join waypoints: lines with corners, lines with rounded corners, and Dubins paths."""

GLIDE_SLOPE_DEG = 4.0
"""Glide slope of a landing without one, deg."""

STEEPEST_SLOPE_DEG = 15.0
"""Steepest glide slope, deg."""

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
    """Waypoints, how they are joined, and what follows the last one: a loiter, a landing or both.

    `radius` is the turn radius, m.
    """

    waypoints: tuple[Waypoint, ...]
    path_type: str
    radius: float
    loiter: Loiter | None
    landing: Landing | None = None

    def __post_init__(self) -> None:
        """Check that a path can be planned.

        Raises:
            WaypointError: fewer than two points, repeated points, neither loiter nor landing, or numbers that are not
                finite or out of range.
        """
        if self.path_type not in PATH_TYPES:
            raise WaypointError(f"path '{self.path_type}' given; allowed: {', '.join(PATH_TYPES)}")
        _require_positive("radius", self.radius)
        if self.loiter is None and self.landing is None:
            raise WaypointError("neither loiter nor landing given; allowed: one or both")
        if self.loiter is not None:
            _check_loiter(self.loiter)
        if self.landing is not None:
            _check_landing(self.landing)
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
    required = ("path", "radius", "airspeed", "waypoints")
    plan = _mapping("the file", content, required=required, optional=("loiter", "landing"))
    listed = plan["waypoints"]
    if not isinstance(listed, list):
        raise WaypointError(f"waypoints: {listed!r} given; allowed: a list")
    airspeed, radius = _number("airspeed", plan["airspeed"]), _number("radius", plan["radius"])
    points = tuple(_waypoint(index, point, airspeed) for index, point in enumerate(listed, start=1))
    landing = _landing(plan["landing"], airspeed) if "landing" in plan else None
    loiter = _loiter(plan.get("loiter", {}), radius) if "loiter" in plan or landing is None else None
    return FlightPlan(points, str(plan["path"]), radius, loiter, landing)


def _waypoint(index: int, content: object, airspeed: float) -> Waypoint:
    where = f"waypoint {index}"
    point = _mapping(where, content, required=("ned",), optional=("airspeed", "course_deg"))
    course = point.get("course_deg")
    return Waypoint(
        _place(where, point["ned"]),
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


def _landing(content: object, airspeed: float) -> Landing:
    numbers = ("glide_slope_deg", "airspeed", "height", "flare_height", "sink_rate")
    landing = _mapping("landing", content, required=("ned", "course_deg"), optional=numbers)
    given = {name: _number(f"landing: {name}", landing[name]) for name in numbers if name in landing}
    return Landing(
        position_ned=_place("landing", landing["ned"]),
        course=math.radians(_number("landing: course_deg", landing["course_deg"])),
        glide_slope=math.radians(given.pop("glide_slope_deg", GLIDE_SLOPE_DEG)),
        airspeed=given.pop("airspeed", airspeed),
        **given,
    )


def _check_loiter(loiter: Loiter) -> None:
    _require_positive("loiter radius", loiter.radius)
    _require_positive("loiter turns", loiter.turns)
    for name, value in (("centre", loiter.centre or ()), ("height", (loiter.height or 0.0,))):
        if not all(map(math.isfinite, value)):
            raise WaypointError(f"loiter {name}: {value} given; allowed: finite numbers")


def _check_landing(landing: Landing) -> None:
    if not math.isfinite(sum(landing.position_ned) + landing.course + (landing.height or 0.0)):
        raise WaypointError(f"{landing} given; allowed: finite numbers")
    slope = math.degrees(landing.glide_slope)
    if not 0.0 < slope <= STEEPEST_SLOPE_DEG:
        raise WaypointError(
            f"landing glide_slope_deg {slope:g} given; allowed: greater than 0 and at most {STEEPEST_SLOPE_DEG:g} deg"
        )
    for name, value in (
        ("airspeed", landing.airspeed),
        ("flare_height", landing.flare_height),
        ("sink_rate", landing.sink_rate),
    ):
        _require_positive(f"landing {name}", value)
    if landing.sink_rate >= landing.glide_sink:
        raise WaypointError(
            f"landing sink_rate {landing.sink_rate:g} m/s given; allowed: less than {landing.glide_sink:.2f} m/s, the "
            "sink rate on the glide slope"
        )


def _place(where: str, ned: object) -> Vector3:
    if not isinstance(ned, list) or len(ned) != 3:
        raise WaypointError(f"{where}: ned {ned!r} given; allowed: a list of 3 numbers, m")
    north, east, down = (_number(f"{where}: ned", value) for value in ned)
    return (north, east, down)


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
