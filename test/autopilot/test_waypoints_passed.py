"""Random waypoints are passed in order, each within a stated distance, at any corner and on legs of any length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rosflight_py_sim.autopilot.fixedwing_target_controller import GRAVITY
from rosflight_py_sim.autopilot.flight_state import FlightState, flight_state
from rosflight_py_sim.autopilot.fly_target import CourseTarget, PositionTarget
from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.overflight import Overflight
from rosflight_py_sim.autopilot.path_manager import PathManager
from rosflight_py_sim.autopilot.path_planning import joined_path
from rosflight_py_sim.autopilot.path_segments import FieldGains
from rosflight_py_sim.autopilot.waypoint_route import ROUTE_PARAMETERS, Route, RouteWaypoint
from rosflight_py_sim.autopilot.waypoints import FlightPlan, Loiter, Waypoint, WaypointError
from rosflight_py_sim.missions.waypoint_miss import largest_miss
from rosflight_py_sim.physics.rotations import quaternion_from_euler

AIRSPEED, RADIUS, HEIGHT = 18.0, 70.0, 50.0
DT = 0.04
MAX_ROLL = 0.8
GAINS = FieldGains(1.05, 0.02, 1.2)


class Wing:
    """A wing in coordinated turns, with the course loop of the aircraft and a lag of 0.25 s to its roll angle."""

    def __init__(self, course: float, wind: tuple[float, float]) -> None:
        self.position, self.heading, self.roll, self.wind = [0.0, 0.0], course, 0.0, wind
        self.flown: list[tuple[float, float, float]] = []

    @property
    def state(self) -> FlightState:
        north, east = self.position
        attitude = quaternion_from_euler(self.roll, 0.0, self.heading)
        cos, sin = math.cos(self.heading), math.sin(self.heading)
        # Velocity in body axes of level flight: the wind, turned by the heading, comes on top of the airspeed.
        ahead = AIRSPEED + self.wind[0] * cos + self.wind[1] * sin
        aside = -self.wind[0] * sin + self.wind[1] * cos
        body = (ahead, aside * math.cos(self.roll), -aside * math.sin(self.roll))
        truth = [north, east, -HEIGHT, *attitude, *body, *[0.0] * 9]
        return flight_state(truth, (*self.wind, 0.0))

    def move(self, course: float, curvature: float) -> None:
        state = self.state
        self.flown.append((*self.position, -HEIGHT))
        ahead = math.atan(state.ground_speed**2 * curvature / GRAVITY)
        wanted = ahead + 2.2 * wrap_angle(course - state.course)
        self.roll += (min(max(wanted, -MAX_ROLL), MAX_ROLL) - self.roll) * DT / 0.25
        self.heading += GRAVITY * math.tan(self.roll) / AIRSPEED * DT
        self.position[0] += DT * state.ground_speed * math.cos(state.course)
        self.position[1] += DT * state.ground_speed * math.sin(state.course)


angles = st.floats(-math.pi, math.pi)
winds = st.sampled_from([(0.0, 0.0), (0.0, 4.0), (3.0, -3.0)])
corners = st.lists(st.tuples(angles, st.floats(5.0, 500.0)), min_size=2, max_size=6)
wide = st.lists(st.tuples(angles, st.floats(3.0 * RADIUS, 500.0)), min_size=2, max_size=6)


def places_of(legs: list[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """Waypoints; each leg turns by an angle (rad) from the one before, and has a length (m)."""
    places, course = [(0.0, 0.0, -HEIGHT)], 0.0
    for turn, length in legs:
        course += turn
        north, east, _ = places[-1]
        places.append((north + length * math.cos(course), east + length * math.sin(course), -HEIGHT))
    return places[1:]


@pytest.mark.parametrize(
    # An arc of 70 m cuts off 39 m of the sharpest corner that is rounded, of 100 degrees.
    # Dubins points closer than three radii are refused.
    ("path_type", "within", "routes"),
    [("line", 15.0, corners), ("fillet", 42.0, corners), ("dubins", 5.0, wide)],
)
def test_each_waypoint_of_a_mission_is_passed(
    path_type: str, within: float, routes: st.SearchStrategy[list[tuple[float, float]]]
) -> None:
    @given(routes, angles, winds)
    @example([(0.0, 200.0), (0.0, 400.0), (math.pi - 0.007, 700.0)], 0.0, (0.0, 4.0))
    @example([(0.0, 200.0), (0.0, 400.0), (0.007 - math.pi, 700.0)], 0.0, (0.0, 4.0))
    @example([(0.0, 300.0), (math.pi, 10.0), (math.pi, 10.0)], 3.0, (0.0, 0.0))
    @settings(max_examples=40, deadline=None)
    def flies(legs: list[tuple[float, float]], course: float, wind: tuple[float, float]) -> None:
        places = places_of(legs)
        plan = FlightPlan(tuple(Waypoint(place, AIRSPEED) for place in places), path_type, RADIUS, Loiter(RADIUS))
        wing = Wing(course, wind)
        try:
            manager = PathManager(joined_path(plan, (0.0, 0.0, -HEIGHT), wing.state.course))
        except WaypointError:
            # Fillets that do not fit into their legs are refused.
            assert path_type != "line"
            assume(False)
        while not manager.on_last:
            state = wing.state
            wanted = manager.update(state.position_ned, state.course, GAINS)
            wing.move(wanted.course, wanted.curvature)
            assert len(wing.flown) * DT < 1000.0
        assert largest_miss(np.array(wing.flown), np.array(places)) < within

    flies()


@given(corners, angles, winds)
@example([(math.pi / 2, 200.0), (0.0, 150.0), (math.pi - 1e-5, 300.0)], 1.5, (0.0, 4.0))
@example([(math.pi / 2, 200.0), (0.0, 150.0), (1e-5 - math.pi, 300.0)], 1.5, (0.0, 4.0))
@settings(max_examples=40, deadline=None)
def test_each_waypoint_of_a_route_is_passed_within_its_radius(
    legs: list[tuple[float, float]], course: float, wind: tuple[float, float]
) -> None:
    places = places_of(legs)
    chain = {k: RouteWaypoint(k, k + 1, place, AIRSPEED) for k, place in enumerate(places)}
    route, wing = Route(chain, 0, ROUTE_PARAMETERS.defaults()), Wing(course, wind)
    overflight: Overflight | None = None
    while not route.has_ended:
        state, lateral = wing.state, None
        lateral = route.update(state).lateral
        if isinstance(lateral, CourseTarget):
            overflight = None
            wing.move(lateral.course_rad, lateral.curvature)
            continue
        assert isinstance(lateral, PositionTarget)
        # As the target controller of wings does, until the route ends.
        if overflight is None or overflight.point[:2] != (lateral.north_m, lateral.east_m):
            overflight = Overflight((lateral.north_m, lateral.east_m, None), MAX_ROLL)
        wing.move(overflight.course(state), 0.0)
        assert len(wing.flown) * DT < 2000.0
    missed = largest_miss(np.array(wing.flown), np.array(places))
    assert missed <= ROUTE_PARAMETERS.defaults()["passing_radius"] + 1.0
