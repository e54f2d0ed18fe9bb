"""Planes and multirotors fly numbered waypoints in order, and the buffer may change meanwhile."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
from vehicles_in_the_air import BREEZE, CALM, PERIOD_S, Aircraft, Copter, VehicleInTheAir, configured

from rosflight_py_sim.autopilot.fixedwing_target_controller import (
    FIXEDWING_TARGET_PARAMETERS,
    FixedwingTargetController,
)
from rosflight_py_sim.autopilot.fly_target import CourseTarget, FlyTarget, PositionTarget, TargetError
from rosflight_py_sim.autopilot.multirotor_target_controller import (
    MULTIROTOR_TARGET_PARAMETERS,
    MultirotorTargetController,
)
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.autopilot.waypoint_route import ROUTE_PARAMETERS, Route, RouteWaypoint
from rosflight_py_sim.ground.parameters import Value

HEIGHT = 100.0
VALUES = ROUTE_PARAMETERS.defaults()
Place = tuple[float, float]


def chain(places: Iterable[Place], last: int = -1, airspeed: float = 18.0) -> dict[int, RouteWaypoint]:
    """Waypoints 0, 1, 2, ...; the last one's next is `last`."""
    listed = list(places)
    return {
        k: RouteWaypoint(k, k + 1 if k + 1 < len(listed) else last, (north, east, -HEIGHT), airspeed)
        for k, (north, east) in enumerate(listed)
    }


class Flight:
    """An airborne vehicle that follows a route."""

    def __init__(self, vehicle: VehicleInTheAir, controller: TargetController, waypoints: dict[int, RouteWaypoint]):
        self.vehicle, self.controller, self.waypoints = vehicle, controller, waypoints
        self.route = Route(waypoints, min(waypoints), VALUES)
        self.target: FlyTarget | None = None
        self.flown: list[Place] = []
        self.heights: list[float] = []
        self.visited: list[int] = []

    def fly(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD_S)):
            state = self.vehicle.state
            self.target = self.route.update(state)
            self.flown.append(state.position_ned[:2])
            self.heights.append(state.height)
            if self.visited[-1:] != [self.route.waypoint_id]:
                self.visited.append(self.route.waypoint_id)
            self.vehicle.move(self.controller.fly(state, self.target, PERIOD_S))

    def until(self, waypoint_id: int, limit_s: float = 120.0) -> None:
        """Fly until this waypoint is the route's target."""
        for _ in range(round(limit_s)):
            if self.route.waypoint_id == waypoint_id:
                return
            self.fly(1.0)
        pytest.fail(f"waypoint {waypoint_id} did not come within {limit_s:g} s: {self.visited}, {self.vehicle.state}")

    def to_the_end(self, limit_s: float = 300.0) -> None:
        """Fly until the route ends."""
        for _ in range(round(limit_s)):
            if self.route.has_ended:
                return
            self.fly(1.0)
        pytest.fail(f"it did not end within {limit_s:g} s: {self.visited}, {self.vehicle.state}")

    def distance(self, place: Place) -> float:
        """Smallest distance from a place so far, m."""
        return min(math.dist(place, flown) for flown in self.flown)

    def apart(self, place: Place) -> float:
        """Current distance from a place, m."""
        return math.dist(place, self.vehicle.state.position_ned[:2])


def winged(waypoints: dict[int, RouteWaypoint], wind: dict[str, Value] | None = None) -> Flight:
    aircraft = Aircraft("anaconda", BREEZE if wind is None else wind)
    aircraft.place((-200.0, 0.0, -HEIGHT), 18.0, 0.0, 0.0)
    values = configured("anaconda", FIXEDWING_TARGET_PARAMETERS, "autopilot")
    return Flight(aircraft, FixedwingTargetController(values), waypoints)


def rotored(waypoints: dict[int, RouteWaypoint]) -> Flight:
    copter, controller = (
        Copter(BREEZE),
        MultirotorTargetController(MULTIROTOR_TARGET_PARAMETERS.defaults()),
    )
    for _ in range(300):
        copter.move(controller.take_off(copter.state, PERIOD_S))
    return Flight(copter, controller, waypoints)


def low(waypoints: dict[int, RouteWaypoint]) -> dict[int, RouteWaypoint]:
    """The waypoints at the height of a multirotor's take-off."""
    return {
        k: RouteWaypoint(k, one.next_id, (*one.position_ned[:2], -6.0), one.airspeed) for k, one in waypoints.items()
    }


def test_chain_is_flown_to_its_end_and_circled_there() -> None:
    places = [(200.0, 0.0), (400.0, 300.0), (100.0, 400.0)]
    flight = winged(chain(places))
    flight.to_the_end()
    assert flight.visited == [0, 1, 2]
    # Corners of 56 and 105 degrees: an arc of 60 m cuts the first by 8 m; the second is the last but one.
    assert flight.distance(places[0]) < 15.0
    assert flight.distance(places[1]) < 60.0
    # In gusts: 2.2 to 4.8 m, by their seed.
    assert flight.distance(places[2]) < 5.0
    assert max(abs(height - HEIGHT) for height in flight.heights) < 4.0
    flight.fly(40.0)
    assert flight.target is not None
    assert flight.target.lateral == PositionTarget(*places[2])
    for _ in range(20):
        flight.fly(1.0)
        # A circle of loiter_radius, in gusts: 0.4 m measured.
        assert flight.apart(places[2]) == pytest.approx(80.0, abs=2.0)


# Degrees of latitude turned into metres leave a reversal that is not exactly one of 180 degrees.
@pytest.mark.parametrize("aside", [-1e-3, 0.0, 1e-3])
@pytest.mark.parametrize("wind", [CALM, BREEZE], ids=["calm", "breeze"])
def test_waypoint_before_a_reversal_is_passed(aside: float, wind: dict[str, Value]) -> None:
    places = [(0.0, -200.0), (aside, 0.0), (-aside, 150.0), (0.0, -150.0)]
    flight = winged(chain(places, airspeed=15.0), wind)
    flight.to_the_end()
    assert flight.visited == [0, 1, 2, 3]
    assert max(map(flight.distance, places)) < 10.0


def test_waypoint_that_a_turn_leaves_beside_the_aircraft_is_flown_over_before_the_next() -> None:
    places = [(0.0, 0.0), (300.0, 0.0), (280.0, 0.0), (600.0, 0.0)]
    flight = winged(chain(places), CALM)
    flight.to_the_end()
    assert flight.visited == [0, 1, 2, 3]
    assert max(map(flight.distance, places)) < 10.0


def test_multirotor_hovers_at_the_last_waypoint() -> None:
    places = [(20.0, 0.0), (20.0, 30.0)]
    flight = rotored(low(chain(places, airspeed=5.0)))
    flight.to_the_end(60.0)
    # The arc at the first corner, 12 m with the tail wind, is tightened to fit the legs.
    assert flight.distance(places[0]) < 6.0
    flight.fly(12.0)
    assert flight.apart(places[1]) < 0.5


def test_cycle_is_flown_repeatedly() -> None:
    square = [(200.0, 0.0), (200.0, 250.0), (-50.0, 250.0), (-50.0, 0.0)]
    flight = winged(chain(square, last=0))
    flight.fly(130.0)
    assert flight.visited[:9] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert not flight.route.has_ended


def test_cycle_at_a_single_point_is_circled() -> None:
    flight = winged(chain([(0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], last=0), CALM)
    flight.fly(60.0)
    assert flight.apart((0.0, 0.0)) == pytest.approx(80.0, abs=5.0)


def test_waypoint_linking_to_itself_is_the_last() -> None:
    flight = winged(chain([(100.0, 0.0)], last=0), CALM)
    flight.to_the_end(60.0)
    assert flight.distance((100.0, 0.0)) < 1.0


def test_current_waypoint_replaced_in_flight_is_flown_to_at_new_position() -> None:
    flight = winged(chain([(400.0, 0.0), (400.0, 300.0)]))
    flight.fly(8.0)
    flight.waypoints[0] = RouteWaypoint(0, 1, (150.0, 200.0, -110.0), 18.0)
    flight.until(1)
    # The corner is rounded.
    assert flight.distance((150.0, 200.0)) < 25.0
    assert flight.vehicle.state.height == pytest.approx(110.0, abs=3.0)
    flight.to_the_end()
    assert flight.distance((400.0, 300.0)) < 3.0


def test_next_waypoint_replaced_in_flight_is_flown_to_at_new_position() -> None:
    flight = winged(chain([(200.0, 0.0), (400.0, 300.0)]))
    flight.fly(4.0)
    flight.waypoints[1] = RouteWaypoint(1, -1, (400.0, -300.0, -HEIGHT), 18.0)
    flight.to_the_end()
    assert flight.distance((400.0, -300.0)) < 3.0


def test_removing_waypoints_makes_current_one_the_last() -> None:
    flight = winged(chain([(200.0, 0.0), (500.0, 0.0), (500.0, 500.0)]))
    flight.until(1)
    flight.waypoints.clear()
    flight.to_the_end()
    assert flight.visited == [0, 1]
    assert flight.distance((500.0, 0.0)) < 3.0


def test_waypoint_appended_after_the_last_is_flown_to_from_the_circle() -> None:
    flight = winged(chain([(200.0, 0.0)], last=1))
    flight.to_the_end()
    flight.fly(10.0)
    flight.waypoints[1] = RouteWaypoint(1, -1, (600.0, 100.0, -HEIGHT), 18.0)
    flight.fly(1.0)
    assert not flight.route.has_ended
    flight.to_the_end()
    assert flight.distance((600.0, 100.0)) < 3.0


def test_altitude_and_airspeed_come_from_the_active_waypoint() -> None:
    waypoints = chain([(300.0, 0.0), (900.0, 0.0)])
    waypoints[1] = RouteWaypoint(1, -1, (900.0, 0.0, -130.0), 21.0)
    flight = winged(waypoints, CALM)
    flight.until(1)
    flight.fly(17.0)
    assert flight.vehicle.state.airspeed == pytest.approx(21.0, abs=0.5)
    # Half the height difference at half the distance.
    along = (flight.vehicle.state.position_ned[0] - 300.0) / 600.0
    assert 0.4 < along < 0.8
    assert flight.vehicle.state.height == pytest.approx(100.0 + 30.0 * along, abs=2.0)


def test_route_must_start_at_an_existing_waypoint() -> None:
    with pytest.raises(KeyError):
        Route(chain([(0.0, 0.0)]), 7, VALUES)


@pytest.mark.parametrize(
    ("position", "airspeed"), [((0.0, math.nan, 0.0), 18.0), ((0.0, 0.0, 0.0), 0.0), ((0.0, 0.0, math.inf), 18.0)]
)
def test_invalid_waypoint_is_rejected(position: tuple[float, float, float], airspeed: float) -> None:
    with pytest.raises(TargetError, match="given; allowed"):
        RouteWaypoint(1, 2, position, airspeed)


def bow(
    north: float, east: float, radius: float, start_deg: float, end_deg: float, stretch: float = 1.0
) -> list[Place]:
    """Arc with a point every 15 degrees; angles from north to east, `stretch` times as wide as high."""
    steps = round(abs(end_deg - start_deg) / 15.0)
    angles = [math.radians(start_deg + (end_deg - start_deg) * k / steps) for k in range(steps + 1)]
    return [(north + radius * math.cos(a), east + stretch * radius * math.sin(a)) for a in angles]


def letters(size: float) -> list[Place]:
    """R, O and S in one stroke with height `size`, joined along their feet."""
    r = [(0.0, 0.0), (1.0, 0.0), *bow(0.75, 0.3, 0.25, 0.0, 180.0), (0.5, 0.0), (0.0, 0.55)]
    o = bow(0.5, 1.25, 0.5, 180.0, -180.0, stretch=0.75)
    s = [*bow(0.25, 2.1, 0.25, 180.0, 0.0), *bow(0.75, 2.1, 0.25, 180.0, 360.0)[1:], (1.0, 2.45)]
    return [(size * north, size * east) for north, east in (*r, *o, *s)]


def off_line(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Distance (m) of each point from a polyline; both (n, 2)."""
    nearest = np.full(len(points), np.inf)
    for start, end in itertools.pairwise(line):
        along = end - start
        share = np.clip((points - start) @ along / (along @ along), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - (start + share[:, None] * along), axis=1))
    return nearest


def test_waypoints_along_a_curve_are_flown_at_steady_bank() -> None:
    radius = 110.0
    circle = [(north, radius + east) for north, east in bow(0.0, 0.0, radius, -90.0, 180.0)]
    flight = winged(chain([(-100.0, 0.0), *circle]), CALM)
    flight.until(8)
    rolls = []
    for _ in range(100):
        flight.fly(0.1)
        rolls.append(flight.vehicle.state.roll)
    # The roll angle of the circle without sideslip: 0.02 rad difference measured.
    assert np.mean(rolls) == pytest.approx(math.atan(18.0**2 / 9.81 / radius), abs=0.04)
    assert np.std(rolls) < 0.01


@pytest.mark.parametrize(("size", "rotors"), [(320.0, False), (60.0, True)], ids=["anaconda", "multirotor"])
def test_written_letters_stay_close_to_reference_lines(size: float, rotors: bool) -> None:
    wanted = letters(size)
    waypoints = chain(wanted, airspeed=6.0 if rotors else 18.0)
    flight = rotored(low(waypoints)) if rotors else winged(waypoints)
    flight.until(1)
    flight.flown.clear()
    flight.to_the_end()
    drawn, line = np.array(flight.flown[::5]), np.array(wanted)
    across = off_line(drawn, line)
    # Measured, relative to a letter's height: 2.3 % RMS for the plane, 1.4 % for the multirotor, and at most 12 % for
    # the plane, which turns about within 50 m and must swing out where the R's leg leaves its stem.
    assert np.sqrt(np.mean(across**2)) < 0.04 * size
    assert np.quantile(across, 0.9) < 0.06 * size
    assert across.max() < 0.18 * size
    # No part of the letters is missing, except corners.
    missed = off_line(line, drawn)
    assert missed.max() < 0.08 * size


def test_leg_targets_are_courses() -> None:
    flight = winged(chain([(200.0, 0.0), (400.0, 300.0)]))
    flight.fly(0.01)
    assert flight.target is not None
    assert isinstance(flight.target.lateral, CourseTarget)
