"""The fixed wings fly and hold every target, and change between targets without a jump."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from vehicles_in_the_air import BREEZE, CALM, PERIOD_S, Aircraft, configured

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.fixedwing_target_controller import (
    FIXEDWING_TARGET_PARAMETERS,
    FixedwingTargetController,
)
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    Lateral,
    PitchTarget,
    PositionTarget,
    RollTarget,
    Speed,
    ThrottleTarget,
    Vertical,
)
from rosflight_py_sim.autopilot.longitudinal_loops import Zone
from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.ground.parameters import Value, number

HEIGHT = 300.0
CENTRE = (200.0, 100.0)
LATERALS: tuple[Lateral, ...] = (PositionTarget(*CENTRE), CourseTarget(1.2), HeadingTarget(1.2), RollTarget(0.3))


class Flight:
    """An aircraft in the air; `states` and `commands` are those of the last target."""

    def __init__(self, name: str, wind: dict[str, Value]) -> None:
        self.values = configured(name, FIXEDWING_TARGET_PARAMETERS, "autopilot")
        self.airspeed, self.pitch, self.throttle = (
            number(self.values, parameter) for parameter in ("design_airspeed", "trim_pitch", "trim_throttle")
        )
        self.aircraft = Aircraft(name, wind)
        self.aircraft.place((0.0, 0.0, -HEIGHT), self.airspeed, 0.3, self.pitch)
        self.controller = FixedwingTargetController(self.values)
        self.states: list[FlightState] = []
        self.commands: list[AutopilotCommand] = []

    @property
    def state(self) -> FlightState:
        return self.aircraft.state

    def fly(self, target: FlyTarget, seconds: float) -> Flight:
        """Fly a target; keep the last command of the previous target."""
        self.states, self.commands = [], self.commands[-1:]
        for _ in range(round(seconds / PERIOD_S)):
            state = self.state
            guided = self.controller.fly(state, target, PERIOD_S)
            self.states.append(state)
            self.commands.append(guided)
            self.aircraft.move(guided)
        return self

    def mean(self, of: Callable[[FlightState], float]) -> float:
        """Mean over the last ten seconds."""
        return float(np.mean([of(state) for state in self.states[-1000:]]))

    def combinations(self) -> list[tuple[Speed, Vertical]]:
        """All valid combinations of speed and vertical targets; NaN stands for the current height."""
        airspeed, pitch = AirspeedTarget(self.airspeed), PitchTarget(self.pitch + 0.04)
        return [
            (AirspeedTarget(self.airspeed + 1.0), AltitudeTarget(HEIGHT + 8.0)),
            (airspeed, ClimbTarget(1.0)),
            (airspeed, ThrottleTarget(0.0)),
            (airspeed, ThrottleTarget(min(self.throttle + 0.1, 1.0))),
            (pitch, ThrottleTarget(self.throttle)),
            (pitch, AltitudeTarget(math.nan)),
        ]


def assert_target_held(flight: Flight, target: FlyTarget, gusty: bool) -> None:
    """Check that each part of the target is held on average over ten seconds."""
    lateral, speed, vertical = target.lateral, target.speed, target.vertical
    # Averages over gusts of 1 m/s: at most 0.1 m/s of airspeed measured.
    slack = 3.0 if gusty else 1.0
    if isinstance(lateral, PositionTarget):
        radius = number(flight.values, "loiter_radius")
        assert flight.mean(lambda s: math.dist(s.position_ned[:2], CENTRE)) == pytest.approx(radius, abs=0.3 * slack)
    elif isinstance(lateral, CourseTarget):
        assert abs(flight.mean(lambda s: wrap_angle(s.course - 1.2))) < 0.005 * slack
    elif isinstance(lateral, HeadingTarget):
        assert abs(flight.mean(lambda s: wrap_angle(s.yaw - 1.2))) < 0.005 * slack
    else:
        # The roll loop has no integrator, and the aircraft has a small rolling moment in a turn.
        assert flight.mean(lambda s: s.roll) == pytest.approx(0.3, abs=0.02)
    if isinstance(speed, AirspeedTarget):
        assert flight.mean(lambda s: s.airspeed) == pytest.approx(speed.airspeed, abs=0.1 * slack)
    else:
        assert flight.mean(lambda s: s.pitch) == pytest.approx(speed.pitch_rad, abs=0.003 * slack)
    if isinstance(vertical, AltitudeTarget):
        # With the pitch angle given, speed must counter air rising or sinking at 1 m/s: 3.3 m measured.
        close = 0.3 * slack if isinstance(speed, AirspeedTarget) else 6.0 if gusty else 0.8
        assert flight.mean(lambda s: s.height) == pytest.approx(vertical.altitude_m, abs=close)
    elif isinstance(vertical, ClimbTarget):
        # In gusts, at most 0.16 m/s measured.
        assert flight.mean(lambda s: s.climb) == pytest.approx(vertical.climb, abs=0.2 if gusty else 0.05)
    else:
        assert flight.commands[-1].u[0] == vertical.throttle


@pytest.mark.parametrize(
    ("name", "wind"),
    [("anaconda", CALM), ("anaconda", BREEZE), ("aerosonde", BREEZE)],
    ids=["anaconda-calm", "anaconda-breeze", "aerosonde-breeze"],
)
@pytest.mark.parametrize("lateral", LATERALS, ids=lambda lateral: type(lateral).__name__)
def test_every_target_combination_is_reached_held_and_left_smoothly(
    lateral: Lateral, name: str, wind: dict[str, Value]
) -> None:
    flight = Flight(name, wind)
    for speed, vertical in flight.combinations():
        if isinstance(vertical, AltitudeTarget) and math.isnan(vertical.altitude_m):
            vertical = AltitudeTarget(flight.state.height + 5.0)
        target = FlyTarget(lateral, speed, vertical)
        # Longest take the way to the lateral target, and speed that follows from the height.
        slow = not flight.states or (isinstance(speed, PitchTarget) and isinstance(vertical, AltitudeTarget))
        flight.fly(target, 40.0 if slow else 22.0)
        assert_target_held(flight, target, gusty=wind is BREEZE)
        surfaces = np.array([guided.u[3:6] for guided in flight.commands])
        # In 10 ms; by the slew limits 5 rad/s times 1.17 / 0.7 make 0.084 of the ailerons, and gusts some more.
        assert np.abs(np.diff(surfaces, axis=0)).max() < 0.2


def test_target_jumping_at_5_hz_causes_no_surface_jumps() -> None:
    flight = Flight("anaconda", BREEZE)
    speeds: list[tuple[Speed, Vertical]] = [
        (AirspeedTarget(16.0), AltitudeTarget(HEIGHT + 60.0)),
        (AirspeedTarget(20.0), ClimbTarget(-2.0)),
        (PitchTarget(0.1), ThrottleTarget(0.8)),
        (AirspeedTarget(18.0), ThrottleTarget(0.0)),
        (PitchTarget(-0.1), AltitudeTarget(HEIGHT)),
    ]
    targets = [FlyTarget(one, *two) for one, two in itertools.product((*LATERALS, RollTarget(-0.6)), speeds)]
    for number_ in range(150):
        flight.fly(targets[number_ * 7 % len(targets)], 0.2)
        surfaces = np.array([guided.u[3:6] for guided in flight.commands])
        # As above; the loops' rate feedback adds to it here, with rates of up to 1.5 rad/s.
        assert np.abs(np.diff(surfaces, axis=0)).max() < 0.25
    target = FlyTarget(CourseTarget(1.2), AirspeedTarget(18.0), AltitudeTarget(HEIGHT))
    flight.fly(target, 22.0)
    assert_target_held(flight, target, gusty=True)


def test_climb_beyond_available_power_keeps_airspeed_and_climbs_at_limit() -> None:
    flight = Flight("aerosonde", CALM)
    course, airspeed = CourseTarget(0.0), AirspeedTarget(22.0)
    flight.fly(FlyTarget(course, airspeed, ClimbTarget(15.0)), 20.0)
    assert flight.controller.zone is Zone.CLIMB
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(22.0, abs=0.2)
    assert flight.commands[-1].u[0] == 1.0
    # The aircraft climbs with the throttle that level flight leaves, and then resumes a climb within its performance.
    assert flight.mean(lambda s: s.climb) > 2.0
    flight.fly(FlyTarget(course, airspeed, ClimbTarget(1.0)), 20.0)
    assert flight.controller.zone is Zone.HOLD
    assert flight.mean(lambda s: s.climb) == pytest.approx(1.0, abs=0.05)


def test_descent_beyond_available_drag_keeps_airspeed_and_descends_at_limit() -> None:
    flight = Flight("anaconda", CALM).fly(FlyTarget(CourseTarget(0.0), AirspeedTarget(18.0), ClimbTarget(-9.0)), 18.0)
    assert flight.controller.zone is Zone.DESCENT
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(18.0, abs=0.2)
    assert flight.commands[-1].u[0] == 0.0
    assert -9.0 < flight.mean(lambda s: s.climb) < -1.5


def test_course_is_held_with_no_more_roll_than_its_limit() -> None:
    flight = Flight("anaconda", CALM)
    flight.fly(FlyTarget(CourseTarget(3.0), AirspeedTarget(20.0), AltitudeTarget(HEIGHT)), 8.0)
    assert max(state.roll for state in flight.states) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_airspeed_target_near_stall_is_raised_to_minimum(name: str) -> None:
    flight = Flight(name, CALM)
    # The aerosonde, which loses speed slowly with little drag, overshoots; within 40 s it has settled.
    flight.fly(FlyTarget(CourseTarget(0.0), AirspeedTarget(3.0), AltitudeTarget(HEIGHT)), 40.0)
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(number(flight.values, "rotation_airspeed"), abs=0.1)
    assert flight.mean(lambda s: s.height) == pytest.approx(HEIGHT, abs=0.5)


def test_heading_target_leaves_course_offset_by_wind() -> None:
    wind: dict[str, Value] = {"sim_has_wind": True, "use_random_wind": False, "steady_state_wind": [0.0, 4.0, 0.0]}
    target = FlyTarget(HeadingTarget(0.0), AirspeedTarget(18.0), AltitudeTarget(HEIGHT))
    flight = Flight("anaconda", wind).fly(target, 18.0)
    assert flight.mean(lambda s: s.yaw) == pytest.approx(0.0, abs=0.005)
    assert flight.mean(lambda s: s.course) == pytest.approx(math.atan2(4.0, 18.0), abs=0.01)


@pytest.mark.parametrize("start", [(0.0, 0.0), (500.0, -300.0), (201.0, 101.0), (200.0, 260.0)])
def test_position_target_is_circled_from_any_approach(start: tuple[float, float]) -> None:
    flight = Flight("anaconda", CALM)
    flight.aircraft.place((*start, -HEIGHT), 18.0, 2.0, 0.0)
    flight.fly(FlyTarget(PositionTarget(*CENTRE), AirspeedTarget(18.0), AltitudeTarget(HEIGHT)), 60.0)
    apart = [math.dist(state.position_ned[:2], CENTRE) for state in flight.states[-2000:]]
    assert apart == pytest.approx([80.0] * 2000, abs=1.0)
    # Clockwise, seen from above.
    north, east, _ = flight.state.position_ned
    bearing = math.atan2(east - CENTRE[1], north - CENTRE[0])
    assert wrap_angle(flight.state.course - bearing - math.pi / 2.0) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_aircraft_takes_off_from_runway_then_flies_target(name: str) -> None:
    flight = Flight(name, BREEZE)
    flight.aircraft = Aircraft(name, BREEZE)
    one, states = flight.controller, []
    for _ in range(200):
        flight.aircraft.move(one.stand(flight.state))
    assert not one.has_taken_off
    while not one.has_taken_off:
        assert len(states) < 6000, f"not within a minute: {flight.state}"
        states.append(flight.state)
        flight.aircraft.move(one.take_off(flight.state, PERIOD_S))
    assert flight.state.height > number(flight.values, "climb_out_height")
    # A gust as the aerosonde first banks: 0.46 rad measured.
    assert max(abs(state.roll) for state in states) < 0.7
    # Across the heading at rest, to which the wind on the tail had turned the aircraft: 12 m measured.
    heading = states[0].yaw
    across = [state.position_ned[1] * math.cos(heading) - state.position_ned[0] * math.sin(heading) for state in states]
    assert max(map(abs, across)) < 25.0
    # Return home.
    target = FlyTarget(PositionTarget(0.0, 0.0), AirspeedTarget(flight.airspeed), AltitudeTarget(60.0))
    flight.fly(target, 40.0)
    radius = number(flight.values, "loiter_radius")
    assert flight.mean(lambda s: math.hypot(*s.position_ned[:2])) == pytest.approx(radius, abs=2.0)
    assert flight.mean(lambda s: s.height) == pytest.approx(60.0, abs=1.0)


def test_parameter_change_in_flight_is_bumpless() -> None:
    flight = Flight("anaconda", BREEZE)
    target = FlyTarget(PositionTarget(*CENTRE), AirspeedTarget(18.0), ClimbTarget(1.0))
    flight.fly(target, 20.0)
    other = FixedwingTargetController({**flight.values, "rotation_airspeed": 15.0})
    other.adopt(flight.controller)
    # All but the last errors, whose half a step the trapezes of the integrators miss.
    mine, theirs = other.fly(flight.state, target, PERIOD_S), flight.controller.fly(flight.state, target, PERIOD_S)
    assert mine.u == pytest.approx(theirs.u, abs=1e-4)


# What the default cage allows: 60 degrees of roll, 40 of pitch.
CAGE_ROLL, CAGE_PITCH = 1.05, 0.7


@pytest.mark.parametrize("roll_deg", [-55.0, 58.0])
@pytest.mark.parametrize("vertical", [ThrottleTarget(0.65), AltitudeTarget(HEIGHT)], ids=["throttle", "altitude"])
def test_roll_angle_is_reached_up_to_the_limit_of_the_cage_without_leaving_it(
    roll_deg: float, vertical: Vertical
) -> None:
    flight = Flight("anaconda", CALM)
    flight.fly(FlyTarget(RollTarget(math.radians(roll_deg)), AirspeedTarget(20.0), vertical), 14.0)
    assert max(abs(state.roll) for state in flight.states) < CAGE_ROLL
    assert flight.mean(lambda s: s.roll) == pytest.approx(math.radians(roll_deg), abs=0.01)


@pytest.mark.parametrize(("pitch_deg", "throttle"), [(-30.0, 0.0), (-30.0, 0.65), (35.0, 1.0), (25.0, 1.0)])
def test_pitch_angle_is_reached_up_to_the_limit_of_the_cage_without_leaving_it(
    pitch_deg: float, throttle: float
) -> None:
    flight = Flight("anaconda", CALM)
    flight.fly(FlyTarget(HeadingTarget(0.3), PitchTarget(math.radians(pitch_deg)), ThrottleTarget(throttle)), 10.0)
    assert max(abs(state.pitch) for state in flight.states) < CAGE_PITCH
    # In a dive the aircraft accelerates all the time, and the integrator follows.
    late = [math.degrees(state.pitch) for state in flight.states[300:]]
    assert late == pytest.approx([pitch_deg] * len(late), abs=3.0)


@pytest.mark.parametrize("vertical", [ThrottleTarget(0.0), ThrottleTarget(0.65), AltitudeTarget(HEIGHT)])
@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_pitch_angle_is_held_in_a_dive_far_above_design_airspeed(name: str, vertical: Vertical) -> None:
    flight = Flight(name, CALM)
    flight.fly(FlyTarget(HeadingTarget(0.3), PitchTarget(math.radians(-30.0)), vertical), 12.0)
    assert flight.state.airspeed > 1.7 * flight.airspeed
    # The integrator follows the airspeed.
    late = [math.degrees(state.pitch) for state in flight.states[500:]]
    assert late == pytest.approx([-30.0] * len(late), abs=4.5)
    assert math.degrees(flight.state.pitch) == pytest.approx(-30.0, abs=1.0)


@pytest.mark.parametrize("roll_deg", [-60.0, 60.0])
def test_roll_angle_beyond_what_the_wing_carries_is_held_and_reported(roll_deg: float) -> None:
    flight = Flight("aerosonde", CALM)
    flight.fly(FlyTarget(RollTarget(math.radians(roll_deg)), PitchTarget(0.1), ThrottleTarget(0.65)), 15.0)
    assert flight.mean(lambda s: s.roll) == pytest.approx(math.radians(roll_deg), abs=0.01)
    # The elevator is at its limit, and the nose falls.
    limits = flight.controller.limits(flight.state)
    assert limits["target_roll_max"] < math.radians(55.0)
    assert flight.state.pitch < 0.06
    assert limits["target_pitch_max"] == pytest.approx(flight.state.pitch, abs=0.03)


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
@pytest.mark.parametrize("throttle", [0.0, 0.4, 0.65])
def test_pitch_angle_that_would_stall_the_aircraft_is_lowered_to_the_reported_limit(name: str, throttle: float) -> None:
    flight = Flight(name, CALM)
    slowest = 0.9 * number(flight.values, "rotation_airspeed")
    flight.fly(FlyTarget(HeadingTarget(0.3), PitchTarget(math.radians(35.0)), ThrottleTarget(throttle)), 20.0)
    # The dip of the transition.
    assert min(state.airspeed for state in flight.states) > slowest - 2.5
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(slowest, abs=0.1)
    limit = flight.controller.limits(flight.state)["target_pitch_max"]
    assert limit == pytest.approx(flight.state.pitch, abs=0.03)
    assert limit < math.radians(25.0)


@pytest.mark.parametrize("name", ["anaconda", "aerosonde"])
def test_limits_are_those_that_the_aircraft_reaches(name: str) -> None:
    flight = Flight(name, CALM)
    level = AltitudeTarget(HEIGHT)
    limits = flight.controller.limits(flight.state)
    flight.fly(FlyTarget(HeadingTarget(0.3), AirspeedTarget(35.0), level), 35.0)
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(limits["target_airspeed_max"], abs=0.2)
    flight = Flight(name, CALM)
    flight.fly(FlyTarget(HeadingTarget(0.3), AirspeedTarget(1.0), level), 40.0)
    assert flight.mean(lambda s: s.airspeed) == pytest.approx(limits["target_airspeed_min"], abs=0.1)
    for throttle, limit in ((1.0, "target_climb_max"), (0.0, "target_climb_min")):
        flight = Flight(name, CALM)
        flight.fly(FlyTarget(HeadingTarget(0.3), AirspeedTarget(flight.airspeed), ThrottleTarget(throttle)), 40.0)
        assert flight.mean(lambda s: s.climb) == pytest.approx(limits[limit], abs=0.1)
    assert math.cos(limits["target_roll_max"]) == pytest.approx((limits["target_airspeed_min"] / flight.airspeed) ** 2)
