"""The multirotor, with its sensors and its flight controller, flies and holds every target."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from vehicles_in_the_air import BREEZE, CALM, PERIOD_S, Copter

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
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
from rosflight_py_sim.autopilot.loops import wrap_angle
from rosflight_py_sim.autopilot.multirotor_target_controller import (
    MULTIROTOR_TARGET_PARAMETERS,
    MultirotorTargetController,
)
from rosflight_py_sim.ground.parameters import Value

HOVER = 3.5 * 9.81 / 76.4
"""Throttle of the default vehicle in hover."""

PLACE = PositionTarget(15.0, 10.0)
LATERALS: tuple[Lateral, ...] = (PLACE, CourseTarget(1.2), HeadingTarget(1.2), RollTarget(0.15))
COMBINATIONS: tuple[tuple[Speed, Vertical], ...] = (
    (AirspeedTarget(5.0), AltitudeTarget(12.0)),
    (AirspeedTarget(5.0), ClimbTarget(1.0)),
    (AirspeedTarget(5.0), ThrottleTarget(HOVER)),
    (PitchTarget(-0.1), AltitudeTarget(22.0)),
    (PitchTarget(-0.1), ThrottleTarget(HOVER)),
)


class Flight:
    """A copter after take-off; `states` and `commands` are those of the last target."""

    def __init__(self, wind: dict[str, Value]) -> None:
        self.copter = Copter(wind)
        self.controller = MultirotorTargetController(MULTIROTOR_TARGET_PARAMETERS.defaults())
        self.states: list[FlightState] = []
        self.commands: list[AutopilotCommand] = []
        for _ in range(1000):
            if self.controller.has_taken_off:
                return
            self._move(self.controller.take_off(self.copter.state, PERIOD_S))
        pytest.fail(f"it has not taken off within 10 s: {self.copter.state}")

    def fly(self, target: FlyTarget, seconds: float) -> None:
        """Fly a target; keep the last command of the previous target."""
        self.states, self.commands = [], self.commands[-1:]
        for _ in range(round(seconds / PERIOD_S)):
            self._move(self.controller.fly(self.copter.state, target, PERIOD_S))

    def mean(self, of: Callable[[FlightState], float], seconds: int = 3) -> float:
        """Mean over the last seconds."""
        return float(np.mean([of(state) for state in self.states[-100 * seconds :]]))

    def _move(self, guided: AutopilotCommand) -> None:
        self.states.append(self.copter.state)
        self.commands.append(guided)
        self.copter.move(guided)


def assert_target_held(flight: Flight, target: FlyTarget, gusty: bool) -> None:
    """Check that each part of the target is held on average over three seconds."""
    lateral, speed, vertical = target.lateral, target.speed, target.vertical
    # Gusts of 1 m/s change faster than the speed loops; measured means are off by at most 0.07 m/s and 0.02 rad.
    slack = 3.0 if gusty else 1.0
    held = isinstance(speed, AirspeedTarget)
    if isinstance(lateral, PositionTarget) and held:
        assert flight.mean(lambda s: math.dist(s.position_ned[:2], (15.0, 10.0))) < 0.15 * slack
    elif isinstance(lateral, CourseTarget):
        assert abs(flight.mean(lambda s: wrap_angle(s.course - 1.2))) < 0.01 * slack
    elif isinstance(lateral, HeadingTarget):
        assert abs(flight.mean(lambda s: wrap_angle(s.yaw - 1.2))) < 0.01 * slack
    elif isinstance(lateral, RollTarget):
        assert flight.mean(lambda s: s.roll) == pytest.approx(0.15, abs=0.01 * slack)
    if isinstance(speed, PitchTarget):
        # After passing a position, the copter turns round, and holds the pitch angle less accurately.
        turning = isinstance(lateral, PositionTarget)
        assert flight.mean(lambda s: s.pitch) == pytest.approx(-0.1, abs=0.1 if turning else 0.01 * slack)
    elif not isinstance(lateral, PositionTarget):
        assert flight.mean(lambda s: s.airspeed) == pytest.approx(5.0, abs=0.1 * slack)
    if isinstance(vertical, AltitudeTarget):
        assert flight.mean(lambda s: s.height) == pytest.approx(vertical.altitude_m, abs=0.1 * slack)
    elif isinstance(vertical, ClimbTarget):
        assert flight.mean(lambda s: s.climb) == pytest.approx(1.0, abs=0.03 * slack)
    else:
        assert [guided.u[2] for guided in flight.commands[-300:]] == pytest.approx([HOVER] * 300)


@pytest.mark.parametrize("wind", [CALM, BREEZE], ids=["calm", "breeze"])
@pytest.mark.parametrize("lateral", LATERALS, ids=lambda lateral: type(lateral).__name__)
def test_every_target_combination_is_reached_and_held(lateral: Lateral, wind: dict[str, Value]) -> None:
    flight = Flight(wind)
    for speed, vertical in COMBINATIONS:
        target = FlyTarget(lateral, speed, vertical)
        flight.fly(target, 8.0)
        assert_target_held(flight, target, gusty=wind is BREEZE)
        # The tilt follows at up to 5 rad/s.
        tilt = np.array([guided.u[3:5] for guided in flight.commands])
        assert np.abs(np.diff(tilt, axis=0)).max() < 5.0 * PERIOD_S + 1e-9


@pytest.mark.parametrize("pitch_deg", [-30.0, 35.0, 55.0])
def test_pitch_angle_is_reached_within_the_cage_and_overshoots_little(pitch_deg: float) -> None:
    flight = Flight(CALM)
    flight.fly(FlyTarget(HeadingTarget(0.0), PitchTarget(math.radians(pitch_deg)), AltitudeTarget(100.0)), 12.0)
    assert max(abs(state.pitch) for state in flight.states) < math.radians(abs(pitch_deg) + 7.0)
    assert flight.mean(lambda s: s.pitch) == pytest.approx(math.radians(pitch_deg), abs=0.01)


@pytest.mark.parametrize("roll_deg", [-55.0, 55.0])
def test_roll_angle_is_reached_within_the_cage(roll_deg: float) -> None:
    flight = Flight(CALM)
    flight.fly(FlyTarget(RollTarget(math.radians(roll_deg)), AirspeedTarget(5.0), AltitudeTarget(100.0)), 20.0)
    assert max(abs(state.roll) for state in flight.states) < math.radians(abs(roll_deg) + 7.0)
    # In so tight a turn the airspeed swings by 2 m/s and roll by 5 deg, every 2.7 s.
    assert flight.mean(lambda s: s.roll, 10) == pytest.approx(math.radians(roll_deg), abs=0.02)


def test_height_is_held_up_to_the_reported_tilt_limit_and_not_far_beyond() -> None:
    flight = Flight(CALM)
    limit = flight.controller.limits(flight.copter.state)["target_pitch_max"]
    climbs = []
    for pitch in (limit, limit + math.radians(4.0)):
        flight.fly(FlyTarget(HeadingTarget(0.0), PitchTarget(pitch), AltitudeTarget(200.0)), 12.0)
        climbs.append(flight.mean(lambda s: s.climb))
    assert 0.0 < climbs[0] < 1.0
    assert climbs[1] < -0.5


def test_target_jumping_at_5_hz_keeps_flight_stable() -> None:
    flight = Flight(BREEZE)
    targets = [FlyTarget(one, *two) for one, two in itertools.product(LATERALS, COMBINATIONS[:2])]
    for number in range(50):
        flight.fly(targets[number * 7 % len(targets)], 0.2)
    target = FlyTarget(LATERALS[1], *COMBINATIONS[0])
    flight.fly(target, 10.0)
    assert_target_held(flight, target, gusty=True)


def test_vehicle_takes_off_vertically_keeping_heading() -> None:
    flight = Flight(BREEZE)
    assert flight.copter.state.height == pytest.approx(5.0, abs=0.3)
    # The wind carries the vehicle along while its thrust is too small to tilt: 1.3 m measured.
    assert max(math.hypot(*state.position_ned[:2]) for state in flight.states) < 1.5
    assert max(abs(wrap_angle(state.yaw - flight.states[0].yaw)) for state in flight.states) < 0.05


def test_course_into_wind_above_airspeed_never_flies_backwards() -> None:
    strong: dict[str, Value] = {"sim_has_wind": True, "use_random_wind": False, "steady_state_wind": [0.0, 6.0, 0.0]}
    flight = Flight(strong)
    flight.fly(FlyTarget(CourseTarget(-math.pi / 2.0), AirspeedTarget(3.0), AltitudeTarget(8.0)), 10.0)
    assert flight.mean(lambda s: s.ground_speed) < 0.1


def test_non_finite_input_is_rejected_without_side_effects() -> None:
    one, other = (MultirotorTargetController(MULTIROTOR_TARGET_PARAMETERS.defaults()) for _ in range(2))
    state, target = Flight(CALM).copter.state, FlyTarget(*[CourseTarget(1.0), *COMBINATIONS[0]])
    with pytest.raises(ValueError, match="not finite"):
        one.fly(state._replace(wind_ned=(0.0, math.nan, 0.0)), target, PERIOD_S)
    assert one.fly(state, target, PERIOD_S) == other.fly(state, target, PERIOD_S)


def test_parameter_change_in_flight_is_bumpless() -> None:
    flight = Flight(BREEZE)
    target = FlyTarget(HeadingTarget(1.0), AirspeedTarget(4.0), AltitudeTarget(8.0))
    flight.fly(target, 5.0)
    other = MultirotorTargetController(MULTIROTOR_TARGET_PARAMETERS.checked({"hover_height": 7.0}))
    other.adopt(flight.controller)
    state = flight.copter.state
    assert other.fly(state, target, PERIOD_S) == flight.controller.fly(state, target, PERIOD_S)
