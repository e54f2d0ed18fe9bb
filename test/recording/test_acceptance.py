"""Missed waypoints and landings: how far off they are, and that a mission that exceeds a limit is not completed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rosflight_py_sim.autopilot.fixedwing_mission import (
    TOUCH_DOWN_RADIUS,
    WAYPOINT_HEIGHT_ERROR,
    WAYPOINT_RADIUS,
    FixedwingPhase,
)
from rosflight_py_sim.autopilot.formation import FORMATION_RADIUS, FormationPhase
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.acceptance import Limit
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.autopilot.summary import Demands, FlightSummary, summarise
from rosflight_py_sim.missions.autopilot.table import summary_rows
from rosflight_py_sim.missions.catalogue import flight_of
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.missions.out_and_back.judge import OutAndBackJudge
from rosflight_py_sim.missions.out_and_back.table import out_and_back_rows
from rosflight_py_sim.missions.waypoint_miss import largest_miss, largest_misses
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.vehicles.physics_model import VehicleClass

V_TAIL = vehicle("anaconda").actuators
PATH = [(0.0, 0.0, -50.0), (400.0, 0.0, -50.0)]


def test_miss_is_the_largest_of_the_distances_at_which_waypoints_are_passed() -> None:
    path = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]])
    assert largest_miss(path, np.array([[50.0, 3.0], [104.0, 50.0]])) == pytest.approx(4.0)


def test_path_between_rows_is_straight() -> None:
    assert largest_miss(np.array([[0.0, 0.0], [100.0, 100.0]]), np.array([[50.0, 50.0]])) == pytest.approx(0.0)


def test_waypoint_passed_before_the_one_before_it_is_missed() -> None:
    path = np.stack([np.arange(0.0, 201.0), np.zeros(201)], axis=1)
    assert largest_miss(path, np.array([[40.0, 0.0], [150.0, 0.0]])) == pytest.approx(0.0)
    # Half-way between the two.
    assert largest_miss(path, np.array([[150.0, 0.0], [30.0, 0.0]])) == pytest.approx(60.0)
    there_and_back = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [0.0, 0.0]])
    assert largest_miss(there_and_back, np.array([[150.0, 0.0], [30.0, 0.0]])) == pytest.approx(0.0)


def test_miss_without_waypoints_is_unknown() -> None:
    assert math.isnan(largest_miss(np.zeros((2, 2)), np.empty((0, 2))))
    assert all(map(math.isnan, largest_misses(np.zeros((2, 3)), np.empty((0, 3)), 50.0, 15.0)))


def level(east: float, down: float) -> np.ndarray:
    """Path of 400 m to the north, a corner each metre."""
    return np.array([(float(north), east, down) for north in range(401)])


@pytest.mark.parametrize(
    ("east", "down", "misses"),
    [
        (20.0, -56.0, (20.0, 4.0)),
        (60.0, -56.0, (60.0, 4.0)),
        (20.0, -100.0, (20.0, 40.0)),
        (60.0, -100.0, (60.0, 40.0)),
    ],
)
def test_misses_of_a_passed_waypoint_are_its_distance_and_height_error(
    east: float, down: float, misses: tuple[float, float]
) -> None:
    waypoints = np.array([(100.0, 0.0, -60.0), (300.0, 0.0, -60.0)])
    assert largest_misses(level(east, down), waypoints, 50.0, 15.0) == pytest.approx(misses)


def test_pass_at_the_wrong_height_does_not_count() -> None:
    waypoint = np.array([(200.0, 0.0, -60.0)])
    # 30 m beside the waypoint at its height, and later right over it, as in an approach that crosses the circuit.
    later_over_it = np.concatenate([level(30.0, -60.0), level(0.0, -5.0)])
    assert largest_misses(later_over_it, waypoint, 50.0, 15.0) == pytest.approx((30.0, 0.0))
    # Right over it, and later at its height, but 120 m beside it.
    never_there = np.concatenate([level(0.0, -100.0), level(120.0, -60.0)])
    distance, height_error = largest_misses(never_there, waypoint, 50.0, 15.0)
    assert distance == pytest.approx(120.0) or height_error == pytest.approx(40.0)
    assert distance > 50.0 or height_error > 15.0


def flight(landing_off: float | None = None, last: FixedwingPhase = FixedwingPhase.DONE) -> FlightLog:
    """Level flight of 400 m to the north, 30 m beside the waypoints; or a landing this far from its place."""
    log = FlightLog(V_TAIL, FixedwingPhase)
    for k in range(101):
        down = -50.0 if k > 0 and (landing_off is None or k < 90) else 0.0
        velocity = 0.5 if landing_off is not None and k == 90 else 0.0
        truth = np.array([4.0 * k, 30.0, down, 1.0, 0.0, 0.0, 0.0, 20.0, 0.0, velocity, *[0.0] * 9])
        setpoint = (4.0 * k, 0.0, -50.0) if landing_off is None else (4.0 * 91 + landing_off, 30.0, 0.0)
        phase = last if k == 100 else FixedwingPhase.WAYPOINTS if k < 90 else FixedwingPhase.ROLL_OUT
        log.append(0.2 * k, truth, setpoint, [0.0] * 4, (0.0, 0.0, 0.0), 24.0, 10.0, phase)
    return log


def summary_of(log: FlightLog, waypoint: float = 50.0, landing: float = 100.0, height: float = 15.0) -> FlightSummary:
    route = np.array([(100.0, 0.0, -62.0), (300.0, 0.0, -50.0)])
    limits = (Limit(WAYPOINT_RADIUS, waypoint), Limit(WAYPOINT_HEIGHT_ERROR, height), Limit(TOUCH_DOWN_RADIUS, landing))
    return summarise(log, PATH, "plane", 4.0, Demands(route, 0, *limits), VehicleClass.FIXED_WING)


def test_flight_that_misses_no_waypoint_by_more_than_the_limit_is_completed() -> None:
    summary = summary_of(flight())
    assert summary.completed
    assert summary.waypoint_miss_m == pytest.approx(30.0)
    assert summary.waypoint_height_error_m == pytest.approx(12.0)
    row = ("largest miss of a waypoint", "30.00 m horizontally, 12.00 m in height (allowed: 50 m, 15 m)")
    assert row in summary_rows(summary)


def test_wing_that_passes_a_waypoint_at_the_wrong_height_is_not_completed() -> None:
    summary = summary_of(flight(), height=11.0)
    assert not summary.completed
    wanted = "the largest miss of a waypoint in height is 12.00 m; allowed: at most 11 m (waypoint_height_error)"
    assert summary.shortfall == wanted


def formation_flight(*off: float) -> FlightLog:
    """Flight 5 m above the start with these distances from the position in the formation; without any, never in it."""
    log = FlightLog(vehicle("multirotor").actuators, FormationPhase)
    phases = [FormationPhase.JOIN, *[FormationPhase.IN_FORMATION] * len(off), FormationPhase.DONE]
    for k, (phase, distance) in enumerate(zip(phases, [9.0, *off, 0.0], strict=True)):
        truth = np.array([2.0 * k, 0.0, -5.0, 1.0, *[0.0] * 15])
        setpoint = (2.0 * k, 0.0, -5.0 - distance)
        log.append(0.02 * k, truth, setpoint, [0.0] * 4, (0.0, 0.0, 0.0), 24.0, 10.0, phase)
    return log


@pytest.mark.parametrize(
    ("off", "text", "completed"),
    [
        ((1.9, 0.2, 0.4), "1.90 m (allowed: 2 m)", True),
        ((1.9, 0.2, 35.4), "35.40 m (allowed: 2 m)", False),
        ((), "unknown (allowed: 2 m)", False),
    ],
)
def test_follower_that_leaves_its_position_in_the_formation_is_not_completed(
    off: tuple[float, ...], text: str, completed: bool
) -> None:
    demands = Demands(route_ned=None, waypoint=Limit(FORMATION_RADIUS, 2.0))
    summary = summarise(formation_flight(*off), None, "follower", 4.0, demands)
    assert summary.completed is completed
    assert bool(summary.shortfall) is not completed
    assert ("largest miss of a waypoint", text) in summary_rows(summary)


def test_radius_of_the_formation_limits_a_followers_miss() -> None:
    follower = replace(vehicle("multirotor"), autopilot="follower_autopilot")
    assert [limit.name for limit in AutopilotJudge.limits_for(follower)] == ["take_off_timeout", "formation_radius"]


@pytest.mark.parametrize(
    ("away", "end", "text", "completed"),
    [
        (12.0, 2.5, "2.50 m (allowed: 3 m)", True),
        (12.0, 3.5, "3.50 m (allowed: 3 m)", False),
        (8.0, 0.0, "unknown (allowed: 3 m)", False),
    ],
)
def test_flight_out_and_back_tells_its_largest_miss(away: float, end: float, text: str, completed: bool) -> None:
    judge = OutAndBackJudge(vehicle("multirotor"), {})
    for k, place in enumerate([(0.0, 0.0), (away, -5.0), (end, 0.0)]):
        truth = np.array([place[0], 0.0, place[1], 1.0, *[0.0] * 15])
        judge.log.append(float(k), truth, [0.0] * 4, (0.0, 0.0, 0.0))
    assert judge.summary.completed is completed
    assert ("largest miss of a waypoint", text) in out_and_back_rows(judge.summary)


def test_flight_that_misses_a_waypoint_by_more_than_the_limit_is_not_completed() -> None:
    summary = summary_of(flight(), waypoint=29.0)
    assert not summary.completed
    assert summary.shortfall == "the largest miss of a waypoint is 30.00 m; allowed: at most 29 m (waypoint_radius)"
    assert summary_rows(summary)[0] == ("mission", f"not completed: {summary.shortfall}")


def test_waypoints_count_from_the_row_on_at_which_they_were_given() -> None:
    demands = Demands(np.array([(100.0, 30.0, -50.0)]), 50, Limit(WAYPOINT_RADIUS, 50.0))
    assert summarise(flight(), PATH, "plane", 4.0, demands).waypoint_miss_m == pytest.approx(100.0)


@pytest.mark.parametrize(("off", "completed"), [(99.0, True), (1300.0, False)])
def test_landing_farther_from_its_place_than_the_limit_is_no_success(off: float, completed: bool) -> None:
    summary = summary_of(flight(off))
    assert summary.landed
    assert summary.touch_down_distance_m == pytest.approx(off, abs=1.0)
    assert summary.completed is completed
    wanted = "" if completed else "from the planned touch-down is 1300.00 m; allowed: at most 100 m (touch_down_radius)"
    assert summary.shortfall.endswith(wanted)


def test_flight_that_did_not_reach_its_last_phase_has_no_shortfall_to_report() -> None:
    summary = summary_of(flight(last=FixedwingPhase.LOITER), waypoint=1.0)
    assert not summary.completed
    assert not summary.shortfall


def client_flight(**limits: float) -> Flight | None:
    """The skywriting of a vehicle whose file gives these limits."""
    chosen = vehicle("uthere")
    assert chosen.mission is not None
    return flight_of(Member(replace(chosen, mission=replace(chosen.mission, limits=limits))))


def test_limits_of_a_client_programs_mission_come_from_the_vehicle_file() -> None:
    assert client_flight(waypoint_radius=40.0) is not None
    judge = OutAndBackJudge(vehicle("multirotor"), {"landing_radius": 5.0})
    own = {"least_height": 3.0, "least_distance": 10.0, "landing_radius": 5.0}
    assert judge.values == {"take_off_timeout": 60.0, **own}


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"waypoint_radus": 1.0}, "did you mean 'waypoint_radius'"),
        ({"waypoint_radius": -1.0}, "allowed: number, from 0.01 to 100000 m"),
    ],
)
def test_unknown_limit_or_value_is_refused_with_the_vehicle_file(limits: dict[str, float], told: str) -> None:
    with pytest.raises(ParameterError, match=rf"uthere\.yaml: mission: limits: .*{told}"):
        client_flight(**limits)
