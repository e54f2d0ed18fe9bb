"""Waypoint lists: valid files, and refusals with their reasons."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from rosflight_py_sim.autopilot.waypoints import WaypointError, flight_plan, read_flight_plan

LANDING = {"ned": [0.0, 20.0, -0.3], "course_deg": 90.0}


def content(**changes: Any) -> dict[str, Any]:
    whole = {
        "path": "fillet",
        "radius": 60.0,
        "airspeed": 18.0,
        "waypoints": [{"ned": [0, 0, -50]}, {"ned": [300.0, 0.0, -60.0], "airspeed": 20.0, "course_deg": 90.0}],
        "loiter": {"turns": 2, "direction": "left"},
    }
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def test_file_defines_positions_speeds_courses_and_loiter(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(content()), encoding="utf-8")
    plan = read_flight_plan(file)
    first, second = plan.waypoints
    assert (first.position_ned, first.airspeed, first.course) == ((0.0, 0.0, -50.0), 18.0, None)
    assert (second.position_ned, second.airspeed) == ((300.0, 0.0, -60.0), 20.0)
    assert second.course == pytest.approx(math.pi / 2.0)
    assert (plan.path_type, plan.radius) == ("fillet", 60.0)
    loiter = plan.loiter
    assert loiter is not None
    assert (loiter.radius, loiter.turns, loiter.turn, loiter.centre, loiter.height) == (60.0, 2.0, -1, None, None)


def test_landing_has_defaults_and_replaces_the_loiter() -> None:
    plan = flight_plan(content(landing=LANDING, loiter=None))
    landing = plan.landing
    assert plan.loiter is None
    assert landing is not None
    assert landing.position_ned == (0.0, 20.0, -0.3)
    assert landing.course == pytest.approx(math.pi / 2.0)
    assert landing.glide_slope == pytest.approx(math.radians(4.0))
    assert (landing.airspeed, landing.height, landing.flare_height, landing.sink_rate) == (18.0, None, 3.0, 0.4)
    both = flight_plan(content(landing=LANDING))
    assert both.landing == landing
    assert both.loiter is not None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"waypoints": []}, "0 waypoints given; allowed: at least 2"),
        ({"waypoints": [{"ned": [0, 0, -50]}]}, "1 waypoints given; allowed: at least 2"),
        ({"waypoints": [{"ned": [0, 0, -50]}, {"ned": [1, math.nan, -50]}]}, "waypoint 2: ned nan given"),
        ({"waypoints": [{"ned": [0, 0, -50]}, {"ned": [1, math.inf, -50]}]}, "waypoint 2: ned inf given"),
        ({"waypoints": [{"ned": [0, 0]}, {"ned": [1, 2, 3]}]}, r"waypoint 1: ned \[0, 0\] given; allowed: a list of 3"),
        ({"waypoints": [{"ned": [0, 0, "up"]}]}, "waypoint 1: ned 'up' given; allowed: a finite number"),
        ({"waypoints": [{"ned": [5, 5, -50]}, {"ned": [5, 5, -80]}]}, "waypoint 2 has the same position as waypoint 1"),
        ({"waypoints": [{"place": [0, 0, 0]}]}, "waypoint 1: key 'place' given; allowed: ned, airspeed, course_deg"),
        ({"waypoints": [{"ned": [0, 0, -5], "airspeed": -3}]}, None),
        ({"waypoints": 3}, "waypoints: 3 given; allowed: a list"),
        ({"waypoints": [7, 8]}, "waypoint 1: 7 given"),
        ({"path": "spline"}, "path 'spline' given; allowed: line, fillet, dubins"),
        ({"radius": 0.0}, "radius 0 given"),
        ({"radius": math.nan}, "radius nan given"),
        ({"airspeed": 0.0}, "waypoint 1: airspeed 0 given"),
        ({"airspeed": None}, "key 'airspeed' is missing"),
        ({"speed": 3}, "key 'speed' given; allowed: path, radius, airspeed, waypoints, loiter"),
        ({"loiter": {"turns": -1}}, "loiter turns -1 given"),
        ({"loiter": {"radius": 0}}, "loiter radius 0 given"),
        ({"loiter": {"direction": "up"}}, "direction 'up' given; allowed: right, left"),
        ({"loiter": {"centre": [1, 2, 3]}}, "centre .* given; allowed: a list of 2"),
        ({"loiter": {"height": math.nan}}, "height nan given"),
        ({"landing": {"ned": [0, 0, 0]}}, "landing: key 'course_deg' is missing"),
        ({"landing": {"ned": [0, 0], "course_deg": 0}}, r"landing: ned \[0, 0\] given; allowed: a list of 3"),
        (
            {"landing": {**LANDING, "glide_slope_deg": 0}},
            "glide_slope_deg 0 given; allowed: greater than 0 and at most 15",
        ),
        ({"landing": {**LANDING, "glide_slope_deg": 16}}, "glide_slope_deg 16 given"),
        ({"landing": {**LANDING, "airspeed": 0}}, "landing airspeed 0 given"),
        ({"landing": {**LANDING, "flare_height": 0}}, "landing flare_height 0 given"),
        ({"landing": {**LANDING, "sink_rate": 1.3}}, r"landing sink_rate 1.3 m/s given; allowed: less than 1\.26 m/s"),
        ({"landing": {**LANDING, "speed": 3}}, "landing: key 'speed' given; allowed: ned, course_deg, glide_slope_deg"),
    ],
)
def test_unflyable_plan_is_rejected_with_reason(changes: dict[str, Any], reason: str | None) -> None:
    with pytest.raises(WaypointError, match=reason):
        flight_plan(content(**changes))


@pytest.mark.parametrize("text", ["path: [", "- 1\n- 2\n", "", "\x00"])
def test_file_that_is_not_a_plan_is_rejected_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WaypointError, match=r"waypoint file '.*odd\.yaml'"):
        read_flight_plan(file)


def test_missing_file_is_rejected_by_name(tmp_path: Path) -> None:
    with pytest.raises(WaypointError, match=r"waypoint file '.*none\.yaml' cannot be read"):
        read_flight_plan(tmp_path / "none.yaml")
