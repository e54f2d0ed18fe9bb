"""Dubins paths: known lengths, continuity, and choice of the shortest."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosflight_py_sim.autopilot.dubins import CASES, DubinsPath, UnreachableError, dubins_path, shortest_dubins_path

angles = st.floats(-math.pi, math.pi)
RADIUS = 50.0


def flown_to(path: DubinsPath, start: tuple[float, float], course: float) -> tuple[float, float, float]:
    """End (north, east, course) after a turn, a straight part and a turn, by the unicycle's closed form."""
    north, east = start
    for turn, length in (
        (path.first_turn, path.radius * path.first_sweep),
        (0, path.straight),
        (path.last_turn, path.radius * path.last_sweep),
    ):
        if turn == 0:
            north, east = north + length * math.cos(course), east + length * math.sin(course)
            continue
        after = course + turn * length / path.radius
        north += path.radius * turn * (math.sin(after) - math.sin(course))
        east -= path.radius * turn * (math.cos(after) - math.cos(course))
        course = after
    return north, east, course


@given(angles, angles, angles, st.floats(3.0, 20.0), st.sampled_from(sorted(CASES)))
@settings(max_examples=300, deadline=None)
def test_each_dubins_path_reaches_goal_position_and_course(
    bearing: float, start_course: float, end_course: float, apart: float, case: str
) -> None:
    end = (10.0 + apart * RADIUS * math.cos(bearing), -20.0 + apart * RADIUS * math.sin(bearing))
    try:
        path = dubins_path(case, (10.0, -20.0), start_course, end, end_course, RADIUS)
    except UnreachableError:
        # Only inner tangents may not exist, and only if the circles overlap.
        assert case in ("RSL", "LSR")
        return
    north, east, course = flown_to(path, (10.0, -20.0), start_course)
    # Rounding of a few hundred metres.
    assert (north, east) == pytest.approx(end, abs=1e-6)
    assert math.cos(course - end_course) == pytest.approx(1.0, abs=1e-9)


@given(angles, angles, angles, st.floats(4.5, 20.0))
@settings(max_examples=200, deadline=None)
def test_shortest_path_is_chosen_and_is_no_shorter_than_straight_line(
    bearing: float, start_course: float, end_course: float, apart: float
) -> None:
    end = (apart * RADIUS * math.cos(bearing), apart * RADIUS * math.sin(bearing))
    chosen = shortest_dubins_path((0.0, 0.0), start_course, end, end_course, RADIUS)
    lengths = [dubins_path(case, (0.0, 0.0), start_course, end, end_course, RADIUS).length for case in CASES]
    assert chosen.length == min(lengths)
    assert chosen.length >= apart * RADIUS - 1e-6


@given(angles, angles, angles, st.floats(3.001, 20.0))
@settings(max_examples=100, deadline=None)
def test_mirrored_and_reversed_paths_have_equal_length(
    bearing: float, start_course: float, end_course: float, apart: float
) -> None:
    north, east = apart * RADIUS * math.cos(bearing), apart * RADIUS * math.sin(bearing)
    length = shortest_dubins_path((0.0, 0.0), start_course, (north, east), end_course, RADIUS).length
    mirrored = shortest_dubins_path((0.0, 0.0), -start_course, (north, -east), -end_course, RADIUS).length
    back = shortest_dubins_path((north, east), end_course + math.pi, (0.0, 0.0), start_course + math.pi, RADIUS).length
    assert mirrored == pytest.approx(length, abs=1e-6)
    assert back == pytest.approx(length, abs=1e-6)


@pytest.mark.parametrize(
    ("start_course", "end", "end_course", "case", "length"),
    [
        # Straight ahead; half turns to either side (of which one ends in a turn of nothing); one right turn in all.
        (0.0, (200.0, 0.0), 0.0, None, 200.0),
        (0.0, (-200.0, 100.0), math.pi, "RSR", 200.0 + math.pi * 50.0),
        (0.0, (-200.0, -100.0), math.pi, None, 200.0 + math.pi * 50.0),
        (0.0, (200.0, 200.0), math.pi / 2.0, "RSR", math.hypot(150.0, 150.0) + math.pi / 2.0 * 50.0),
        # Quarter turns to either side with the straight part between them.
        (0.0, (100.0, 300.0), 0.0, "RSL", 200.0 + math.pi * 50.0),
        (0.0, (100.0, -300.0), 0.0, "LSR", 200.0 + math.pi * 50.0),
    ],
)
def test_path_length_matches_hand_calculation(
    start_course: float, end: tuple[float, float], end_course: float, case: str | None, length: float
) -> None:
    path = shortest_dubins_path((0.0, 0.0), start_course, end, end_course, RADIUS)
    assert path.length == pytest.approx(length, abs=1e-9)
    assert case is None or path.case == case


@pytest.mark.parametrize("seed", range(5))
def test_exhaustive_search_finds_no_shorter_path(seed: int) -> None:
    """No path of turn, straight, turn to the goal on a grid of angles is shorter than the formula's."""
    start_course, end_course, bearing = 0.9 * seed, 2.1 - 1.3 * seed, 0.7 * seed
    end = (4.0 * RADIUS * math.cos(bearing), 4.0 * RADIUS * math.sin(bearing))
    best = shortest_dubins_path((0.0, 0.0), start_course, end, end_course, RADIUS).length
    found = math.inf
    for first_turn in (1, -1):
        for last_turn in (1, -1):
            for k in range(3600):
                sweep = k * math.tau / 3600
                heading = start_course + first_turn * sweep
                north = RADIUS * first_turn * (math.sin(heading) - math.sin(start_course))
                east = -RADIUS * first_turn * (math.cos(heading) - math.cos(start_course))
                last = (last_turn * (end_course - heading)) % math.tau
                back_north = end[0] - RADIUS * last_turn * (math.sin(end_course) - math.sin(heading))
                back_east = end[1] + RADIUS * last_turn * (math.cos(end_course) - math.cos(heading))
                d_north, d_east = back_north - north, back_east - east
                along = d_north * math.cos(heading) + d_east * math.sin(heading)
                across = -d_north * math.sin(heading) + d_east * math.cos(heading)
                # The line may miss the goal by as much as a step of the angle grid moves its end.
                if along >= 0.0 and abs(across) < 0.5:
                    found = min(found, RADIUS * (sweep + last) + along)
    assert best == pytest.approx(found, abs=1.0)


def test_points_closer_than_three_radii_are_rejected_with_distance() -> None:
    with pytest.raises(UnreachableError, match=r"149\.0 m apart; allowed for turns of 50 m: at least 3 radii, 150 m"):
        shortest_dubins_path((0.0, 0.0), 0.0, (149.0, 0.0), 0.0, RADIUS)
