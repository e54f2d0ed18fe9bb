"""Vector fields lead to lines and orbits from any start, and the manager advances along the path."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosflight_py_sim.autopilot.path_manager import PathManager
from rosflight_py_sim.autopilot.path_planning import planned_path
from rosflight_py_sim.autopilot.path_segments import Arc, FieldGains, Line, Segment
from rosflight_py_sim.autopilot.waypoints import FlightPlan, Loiter, Waypoint

GAINS = FieldGains(1.05, 0.02, 1.2)
SPEED = 20.0
DT = 0.05
NORTHWARD = Line((0.0, 0.0, -50.0), (1e5, 0.0, -50.0), (1.0, 0.0), SPEED)


def flown(segment: Segment, place: tuple[float, float], course: float, seconds: float) -> tuple[float, float, float]:
    """End (north, east, course) of a vehicle that follows its commanded course with a lag of a second."""
    north, east = place
    for _ in range(round(seconds / DT)):
        wanted = segment.commanded_course((north, east, -50.0), course, GAINS)
        course += (wanted - course) * (1.0 - math.exp(-DT))
        north, east = north + SPEED * DT * math.cos(course), east + SPEED * DT * math.sin(course)
    return north, east, course


@given(st.floats(-300.0, 300.0), st.floats(-math.pi, math.pi))
@settings(max_examples=50, deadline=None)
def test_line_is_joined_from_anywhere_in_its_direction(offset: float, course: float) -> None:
    _, east, course = flown(NORTHWARD, (0.0, offset), course, 120.0)
    assert abs(east) < 0.5
    assert math.cos(course) > 0.999


@given(st.floats(-400.0, 400.0), st.floats(-400.0, 400.0), st.floats(-math.pi, math.pi), st.sampled_from([1, -1]))
@settings(max_examples=50, deadline=None)
def test_orbit_is_joined_from_anywhere_in_its_direction(north: float, east: float, course: float, turn: int) -> None:
    orbit = Arc((0.0, 0.0, -50.0), 80.0, turn, 0.0, math.tau, SPEED)
    north, east, course = flown(orbit, (north, east), course, 120.0)
    # The course lags by a second: V / d. The field compensates for that where atan(k (d - rho) / rho) is equal.
    distance = math.hypot(north, east)
    assert GAINS.orbit * (distance - 80.0) / 80.0 == pytest.approx(math.tan(SPEED / distance), abs=0.02)
    assert math.sin(course - math.atan2(east, north)) * turn > 0.9


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-20.0, 20.0))
@settings(max_examples=50, deadline=None)
def test_commanded_course_is_within_half_a_turn_of_current_course(north: float, east: float, course: float) -> None:
    for segment in (NORTHWARD, Arc((0.0, 0.0, -50.0), 80.0, 1, 0.0, 1.0, SPEED)):
        commanded = segment.commanded_course((north, east, -50.0), course, GAINS)
        # The field adds up to chi_inf to the direction along the line.
        assert abs(commanded - course) <= math.pi + GAINS.approach


def test_line_is_approached_at_approach_angle_and_then_followed() -> None:
    assert NORTHWARD.commanded_course((0.0, 1e6, -50.0), 0.0, GAINS) == pytest.approx(-1.05, abs=1e-3)
    assert NORTHWARD.commanded_course((0.0, 0.0, -50.0), 0.0, GAINS) == 0.0


def test_course_on_orbit_is_tangent() -> None:
    orbit = Arc((0.0, 0.0, -50.0), 80.0, -1, 0.0, math.tau, SPEED)
    assert orbit.commanded_course((80.0, 0.0, -50.0), -1.0, GAINS) == pytest.approx(-math.pi / 2.0)


def test_altitude_along_line_is_linear_and_clamped_at_its_ends() -> None:
    line = Line((0.0, 0.0, -50.0), (100.0, 0.0, -70.0), (1.0, 0.0), SPEED)
    heights = [-line.nearest((north, 30.0, 0.0))[2] for north in (-20.0, 0.0, 25.0, 100.0, 140.0)]
    assert heights == pytest.approx([50.0, 50.0, 55.0, 70.0, 70.0])


def walked(manager: PathManager, seconds: float) -> list[int]:
    """Numbers of the segments in the order of their flight, by a vehicle that follows every command at once."""
    north, east, down = manager.path[0].point(0.0)
    course, order = 0.0, [0]
    travelled = 0.0
    for _ in range(round(seconds / DT)):
        guidance = manager.update((north, east, down), course, GAINS)
        course = guidance.course
        if manager.index != order[-1]:
            order.append(manager.index)
        assert manager.travelled((north, east, down)) >= travelled - 1.0
        travelled = manager.travelled((north, east, down))
        if manager.is_over:
            break
        north, east = north + SPEED * DT * math.cos(course), east + SPEED * DT * math.sin(course)
        down = -guidance.height
    return order


@pytest.mark.parametrize("path_type", ["line", "fillet", "dubins"])
def test_segments_are_flown_in_order_and_loiter_repeats_as_requested(path_type: str) -> None:
    places = ((0.0, 0.0, -50.0), (400.0, 0.0, -60.0), (400.0, 400.0, -70.0), (0.0, 400.0, -60.0))
    points = tuple(Waypoint(place, SPEED) for place in places)
    path = planned_path(FlightPlan(points, path_type, 60.0, Loiter(60.0, turns=2.25)))
    manager = PathManager(path)
    assert walked(manager, 200.0) == list(range(len(path)))
    assert manager.is_over
    assert manager.travelled((0.0, 0.0, 0.0)) == pytest.approx(manager.length)


@pytest.mark.parametrize("sweep", [0.01, 1.0, math.pi - 0.01, math.pi + 0.01, 5.5, math.tau - 0.01, math.tau + 1.0])
@pytest.mark.parametrize("offset", [-5.0, 5.0])
def test_arc_of_any_length_ends_at_its_half_plane_from_any_entry_point(sweep: float, offset: float) -> None:
    arc = Arc((0.0, 0.0, -50.0), 80.0, 1, 0.3, sweep, SPEED)
    onward = Line(arc.point(arc.length), (1e4, 1e4, -50.0), (0.7, 0.7), SPEED)
    manager = PathManager([arc, onward])
    steps = 0
    # On a circle that is off by the offset, entered a little before its beginning.
    while manager.index == 0:
        angle = 0.3 - 0.02 + steps * 0.005
        radius = 80.0 + offset
        manager.update((radius * math.cos(angle), radius * math.sin(angle), -50.0), 0.0, GAINS)
        steps += 1
        assert steps < 3000
    assert (steps - 1) * 0.005 - 0.02 == pytest.approx(sweep, abs=0.011)
