"""Paths through waypoints: no gaps, no kinks, correct radii, and refusals that state the reason."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosflight_py_sim.autopilot.landing import Landing
from rosflight_py_sim.autopilot.path_planning import circuit_length, joined_path, planned_path, polyline
from rosflight_py_sim.autopilot.path_segments import Arc, Line, Segment
from rosflight_py_sim.autopilot.waypoints import FlightPlan, Loiter, Waypoint, WaypointError

RADIUS = 60.0


def plan(path_type: str, *places: tuple[float, float, float], **other: object) -> FlightPlan:
    loiter = Loiter(**{"radius": RADIUS, **other})  # type: ignore[arg-type]
    return FlightPlan(tuple(Waypoint(place, 18.0) for place in places), path_type, RADIUS, loiter)


CORNER = ((0.0, 0.0, -50.0), (400.0, 0.0, -60.0), (400.0, 400.0, -70.0))


def course(segment: Segment, along: float) -> float:
    before, after = segment.point(max(along - 1e-4, 0.0)), segment.point(min(along + 1e-4, segment.length))
    return math.atan2(after[1] - before[1], after[0] - before[0])


def gaps_and_kinks(path: tuple[Segment, ...]) -> tuple[float, float]:
    """The widest gap (m) and the sharpest kink (rad) between neighbours."""
    gap = kink = 0.0
    for before, after in itertools.pairwise(path):
        gap = max(gap, math.dist(before.point(before.length), after.point(0.0)))
        turn = course(after, 0.0) - course(before, before.length)
        kink = max(kink, abs(math.remainder(turn, math.tau)))
    return gap, kink


polylines = st.lists(
    st.tuples(st.floats(-1.0, 1.0), st.floats(500.0, 900.0), st.floats(-20.0, 20.0)), min_size=2, max_size=5
)


def places(turns: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """A polyline of legs of 500 to 900 m whose corners turn by at most a radian."""
    found, heading = [(0.0, 0.0, -100.0)], 0.0
    for turn, length, climb in turns:
        heading += turn
        north, east, down = found[-1]
        found.append((north + length * math.cos(heading), east + length * math.sin(heading), down + climb))
    return found


@given(polylines, st.sampled_from(["fillet", "dubins"]))
@settings(max_examples=100, deadline=None)
def test_fillet_and_dubins_paths_are_continuous_and_smooth(
    turns: list[tuple[float, float, float]], path_type: str
) -> None:
    path = planned_path(plan(path_type, *places(turns)))
    gap, kink = gaps_and_kinks(path)
    assert gap < 1e-6
    # Courses are read off points 0.1 mm apart.
    assert kink < 1e-4


@given(polylines)
@settings(max_examples=50, deadline=None)
def test_fillets_are_tangent_to_both_legs_and_shorten_path_as_in_beard_and_mclain(
    turns: list[tuple[float, float, float]],
) -> None:
    corners = places(turns)
    path = planned_path(plan("fillet", *corners))[:-1]
    length = sum(math.dist(a[:2], b[:2]) for a, b in itertools.pairwise(corners))
    for turn, *_ in turns[1:]:
        between = math.pi - abs(turn)
        # Sec. 11.1: R (pi - rho) - 2 R / tan(rho / 2) for each corner.
        length += RADIUS * (math.pi - between) - 2.0 * RADIUS / math.tan(between / 2.0)
    assert sum(segment.length for segment in path) == pytest.approx(length, abs=1e-6)
    assert all(segment.radius == RADIUS for segment in path if isinstance(segment, Arc))


def test_right_angle_fillet_starts_and_ends_one_radius_from_the_corner() -> None:
    first, arc, last, _ = planned_path(plan("fillet", *CORNER))
    assert isinstance(arc, Arc)
    assert first.point(first.length) == pytest.approx((340.0, 0.0, -60.0))
    assert arc.centre_ned == pytest.approx((340.0, 60.0, -60.0))
    assert (arc.turn, arc.sweep) == (1, pytest.approx(math.pi / 2.0))
    assert last.point(0.0) == pytest.approx((400.0, 60.0, -60.0))


def test_straight_legs_end_at_plane_bisecting_the_corner() -> None:
    first = planned_path(plan("line", *CORNER))[0]
    assert isinstance(first, Line)
    assert first.end_normal == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    assert not first.is_over((399.0, -0.5, -60.0))
    # The segment also ends far off to the side: no waypoint must be hit.
    assert first.is_over((300.0, 101.0, -60.0))


def test_collinear_waypoint_has_no_arc() -> None:
    path = planned_path(plan("fillet", (0.0, 0.0, -50.0), (200.0, 0.0, -50.0), (400.0, 0.0, -50.0)))
    assert [type(segment) for segment in path] == [Line, Line, Arc]


@pytest.mark.parametrize("path_type", ["line", "fillet", "dubins"])
@pytest.mark.parametrize("turn", [1, -1])
def test_loiter_with_centre_is_entered_along_its_tangent(path_type: str, turn: int) -> None:
    path = planned_path(plan(path_type, *CORNER, centre=(700.0, 900.0), height=90.0, turn=turn, turns=2.0))
    loiter = path[-1]
    assert isinstance(loiter, Arc)
    assert loiter.centre_ned == (700.0, 900.0, -90.0)
    assert loiter.sweep == pytest.approx(4.0 * math.pi)
    assert math.dist(path[-2].point(path[-2].length), loiter.point(0.0)) < 1e-6
    assert math.cos(course(path[-2], path[-2].length) - course(loiter, 0.0)) == pytest.approx(1.0, abs=1e-6)


def test_loiter_without_centre_continues_the_path() -> None:
    loiter = planned_path(plan("fillet", *CORNER, turn=-1))[-1]
    assert isinstance(loiter, Arc)
    assert loiter.point(0.0) == pytest.approx(CORNER[-1])
    assert loiter.centre_ned == pytest.approx((460.0, 400.0, -70.0))


def test_approach_to_path_is_planned_like_a_leg_where_possible() -> None:
    path = joined_path(plan("fillet", *CORNER), (-200.0, -300.0, -30.0), 0.0)
    assert path[0].point(0.0) == (-200.0, -300.0, -30.0)
    assert max(gaps_and_kinks(path)) < 1e-4


@pytest.mark.parametrize(
    ("path_type", "place"), [("fillet", (30.0, 30.0)), ("fillet", (-10.0, 30.0)), ("dubins", (30.0, 30.0))]
)
def test_path_that_begins_beside_the_aircraft_is_joined_by_turns_that_lead_through_its_first_waypoint(
    path_type: str, place: tuple[float, float]
) -> None:
    path = joined_path(plan(path_type, *CORNER), (*place, -50.0), 0.0)
    assert path[0].point(0.0) == pytest.approx((*place, -50.0))
    assert course(path[0], 0.0) == pytest.approx(0.0, abs=1e-4)
    assert min(math.dist(one.point(one.length), CORNER[0]) for one in path) < 1e-6
    assert max(gaps_and_kinks(path)) < 1e-4


def test_path_polyline_contains_corners_and_follows_arcs() -> None:
    points = polyline(planned_path(plan("line", *CORNER)), 7.0)
    assert points[:3] == list(CORNER)
    # One turn of the loiter, of 60 m radius; the chord of a 7 m arc is only slightly shorter.
    assert len(points) == 3 + math.ceil(math.tau * RADIUS / 7.0)
    assert all(6.9 < math.dist(a, b) < 7.0 for a, b in itertools.pairwise(points[2:]))


def test_legs_too_short_for_their_fillets_are_rejected_by_name() -> None:
    tight = ((0.0, 0.0, -50.0), (400.0, 0.0, -50.0), (400.0, 100.0, -50.0), (0.0, 100.0, -50.0))
    with pytest.raises(WaypointError, match=r"waypoints 2 and 3 are 100\.0 m apart; allowed for fillets of 60 m.*120"):
        planned_path(plan("fillet", *tight))
    tight = ((0.0, 0.0, -50.0), (50.0, 0.0, -50.0), (50.0, 400.0, -50.0))
    with pytest.raises(WaypointError, match=r"waypoints 1 and 2 are 50\.0 m apart.*at least 60"):
        planned_path(plan("fillet", *tight))


def test_straight_legs_before_a_sharp_corner_end_at_the_plane_normal_to_the_leg() -> None:
    for east in (-5.0, 0.0, 5.0):
        first = planned_path(plan("line", (0.0, 0.0, -50.0), (400.0, 0.0, -50.0), (0.0, east, -50.0)))[0]
        assert isinstance(first, Line)
        assert first.end_normal == (1.0, 0.0)
        assert not first.is_over((399.0, 10.0, -50.0))
        assert not first.is_over((399.0, -10.0, -50.0))


@pytest.mark.parametrize("path_type", ["line", "fillet"])
@pytest.mark.parametrize("turn_deg", [105.0, 150.0, 179.0, 180.0, -179.0, -150.0, -105.0])
def test_sharp_corner_is_flown_over_and_followed_by_a_smooth_turn_back_onto_the_next_leg(
    path_type: str, turn_deg: float
) -> None:
    turn = math.radians(turn_deg)
    end = (400.0 + 500.0 * math.cos(turn), 500.0 * math.sin(turn), -50.0)
    path = planned_path(plan(path_type, (0.0, 0.0, -50.0), (400.0, 0.0, -50.0), end))
    assert max(gaps_and_kinks(path)) < 1e-4
    assert path[0].point(path[0].length) == (400.0, 0.0, -50.0)
    leg = path[-2]
    assert isinstance(leg, Line)
    assert math.cos(leg.course - turn) == pytest.approx(1.0)
    assert leg.length == pytest.approx(500.0 - 4.0 * RADIUS)
    assert leg.end_ned == pytest.approx(end)


def test_dubins_waypoints_closer_than_three_radii_are_rejected_by_name() -> None:
    with pytest.raises(WaypointError, match=r"waypoints 2 and 3 are 100\.0 m apart.*at least 3 radii, 180 m"):
        planned_path(plan("dubins", (0.0, 0.0, -50.0), (400.0, 0.0, -50.0), (400.0, 100.0, -50.0)))


def test_last_waypoint_inside_loiter_is_rejected() -> None:
    with pytest.raises(
        WaypointError, match=r"30\.0 m from the centre of the loiter; allowed: more than its radius, 60"
    ):
        planned_path(plan("line", *CORNER, centre=(400.0, 430.0)))


LANDING = Landing((0.0, 0.0, -0.3), math.radians(30.0), math.radians(4.0), 20.0)


@pytest.mark.parametrize("loiters", [True, False])
def test_approach_continues_the_circuit_down_the_glide_slope(loiters: bool) -> None:
    circuit = plan("fillet", *CORNER)
    landing_plan = replace(circuit, landing=LANDING, loiter=circuit.loiter if loiters else None)
    path = planned_path(landing_plan)
    assert path[: circuit_length(landing_plan)] == planned_path(circuit)[: None if loiters else -1]
    assert max(math.dist(a.point(a.length), b.point(0.0)) for a, b in itertools.pairwise(path)) < 1e-6
    glide = path[-1]
    assert isinstance(glide, Line)
    assert glide.course == pytest.approx(LANDING.course)
    start, end = glide.start_ned, glide.end_ned
    assert (end[2] - start[2]) / glide.length == pytest.approx(math.tan(LANDING.glide_slope))
    assert glide.airspeed == LANDING.airspeed


def test_glide_slope_aims_short_by_what_the_flare_adds() -> None:
    # The flare, integrated in steps of a millisecond.
    height, flown, dt = LANDING.flare_height, 0.0, 0.001
    while height > 0.0:
        height -= LANDING.flare_sink(height, LANDING.glide_sink) * dt
        flown += LANDING.airspeed * math.cos(LANDING.glide_slope) * dt
    begin = LANDING.flare_height / math.tan(LANDING.glide_slope)
    short = math.dist(LANDING.aim_ned, LANDING.position_ned)
    assert short == pytest.approx(flown - begin, abs=0.1)


def test_landing_that_cannot_be_reached_is_rejected_with_reason() -> None:
    circuit = replace(plan("line", *CORNER), loiter=None, landing=LANDING)
    low = replace(LANDING, height=2.0)
    with pytest.raises(
        WaypointError, match=r"begins 1\.7 m above the touch-down; allowed: more than the flare height, 3 m"
    ):
        planned_path(replace(circuit, landing=low))
    end = circuit.waypoints[-1].position_ned
    near = replace(LANDING, position_ned=(end[0], end[1], -0.3), height=8.0)
    with pytest.raises(WaypointError, match=r"beginning of the final approach are .* at least 3 radii"):
        planned_path(replace(circuit, landing=near))


def test_dubins_path_has_the_given_courses() -> None:
    given_plan = plan("dubins", *CORNER)
    points = tuple(replace(point, course=0.3 * k) for k, point in enumerate(given_plan.waypoints))
    path = planned_path(replace(given_plan, waypoints=points))
    assert course(path[0], 0.0) == pytest.approx(0.0, abs=1e-4)
    assert course(path[-2], path[-2].length) == pytest.approx(0.6, abs=1e-4)
