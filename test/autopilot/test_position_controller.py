"""The cascaded position controller, alone and on a point mass."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.autopilot.position_controller import (
    POSITION_CONTROLLER_PARAMETERS,
    AttitudeCommand,
    PositionController,
    wrap_angle,
)
from rosflight_py_sim.autopilot.setpoint import Setpoint
from rosflight_py_sim.ground.parameters import ParameterError, Value

VALUES = POSITION_CONTROLLER_PARAMETERS.defaults()
HOVER = 3.5 * 9.81 / 76.4
REST = (0.0, 0.0, 0.0)
DT = 0.01


def controller(**changed: Value) -> PositionController:
    return PositionController(POSITION_CONTROLLER_PARAMETERS.checked({"spool_up_time": 0.0, **changed}))


def thrust_acceleration(command: AttitudeCommand, yaw: float) -> np.ndarray:
    """Acceleration (NED) of the default vehicle with this command held exactly: g e3 - T/m b3."""
    phi, theta = command.roll_rad, command.pitch_rad
    roll = np.array([[1, 0, 0], [0, math.cos(phi), -math.sin(phi)], [0, math.sin(phi), math.cos(phi)]])
    pitch = np.array([[math.cos(theta), 0, math.sin(theta)], [0, 1, 0], [-math.sin(theta), 0, math.cos(theta)]])
    turn = np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
    down_axis = turn @ pitch @ roll @ np.array([0.0, 0.0, 1.0])
    return np.array([0.0, 0.0, 9.81]) - command.throttle * 76.4 / 3.5 * down_axis


def test_vehicle_at_setpoint_is_level_with_thrust_equal_to_weight() -> None:
    command = controller().update(REST, REST, 0.0, Setpoint(REST), DT)
    assert command == pytest.approx((0.0, 0.0, 0.0, HOVER), abs=1e-15)


@pytest.mark.parametrize(
    ("position", "roll_sign", "pitch_sign"),
    [((0, 5, 0), -1, 0), ((0, -5, 0), 1, 0), ((5, 0, 0), 0, 1), ((-5, 0, 0), 0, -1)],
)
def test_vehicle_tilts_towards_setpoint_with_frd_signs(
    position: tuple[float, float, float], roll_sign: int, pitch_sign: int
) -> None:
    command = controller().update(position, REST, 0.0, Setpoint(REST), DT)
    assert (np.sign(round(command.roll_rad, 12)), np.sign(round(command.pitch_rad, 12))) == (roll_sign, pitch_sign)


@pytest.mark.parametrize("yaw", [-3.0, -1.2, 0.0, 0.4, math.pi / 2, 2.9])
def test_attitude_and_throttle_produce_demanded_acceleration_at_any_yaw(yaw: float) -> None:
    wanted = (1.3, -2.1, -0.8)
    setpoint = Setpoint(REST, REST, yaw, wanted)
    command = controller().update(REST, REST, yaw, setpoint, DT)
    # Rounding only: the inversion is exact.
    assert thrust_acceleration(command, yaw) == pytest.approx(np.array(wanted), abs=1e-12)
    assert command.yaw_rate_rps == 0.0


def test_commands_stay_within_limits_for_distant_setpoint() -> None:
    subject = controller(max_tilt=0.4, max_acceleration=9.0)
    rng = np.random.default_rng(5)
    for _ in range(300):
        position, velocity = rng.normal(0.0, 100.0, 3), rng.normal(0.0, 30.0, 3)
        yaw, wanted_yaw = rng.uniform(-4.0, 4.0, 2)
        command = subject.update(position, velocity, yaw, Setpoint(REST, REST, wanted_yaw), DT)
        tilt = math.acos(math.cos(command.roll_rad) * math.cos(command.pitch_rad))
        assert tilt <= 0.4 + 1e-9
        assert 0.12 - 1e-12 <= command.throttle <= 1.0
        assert abs(command.yaw_rate_rps) <= 1.0
        assert all(abs(value) <= 6.0 for value in subject.disturbance_ned)


def test_altitude_takes_priority_over_horizontal_acceleration() -> None:
    subject = controller(max_climb_speed=50.0, max_tilt=1.2, max_acceleration=50.0)
    command = subject.update((20.0, 0.0, 40.0), REST, 0.0, Setpoint(REST), DT)
    assert command.throttle == pytest.approx(1.0)
    assert command.pitch_rad == pytest.approx(0.0, abs=1e-6)


def test_throttle_ramps_up_after_reset_with_vehicle_level_until_lift_off() -> None:
    subject = controller(spool_up_time=1.0)
    for _ in range(2):
        commands = [subject.update((1.0, 2.0, 0.0), REST, 0.0, Setpoint(REST), DT) for _ in range(100)]
        throttles = np.array([command.throttle for command in commands])
        assert np.all(throttles <= DT * np.arange(1, 101) + 1e-12)
        assert throttles[-1] > HOVER
        tilted = np.array([abs(command.roll_rad) + abs(command.pitch_rad) > 0.0 for command in commands])
        assert not tilted[: int(HOVER / DT) - 1].any()
        assert tilted[int(HOVER / DT) + 2 :].all()
        subject.reset()


def test_yaw_takes_shortest_turn() -> None:
    command = controller().update(REST, REST, math.radians(170.0), Setpoint(REST, REST, math.radians(-170.0)), DT)
    assert command.yaw_rate_rps == pytest.approx(1.5 * math.radians(20.0))
    assert wrap_angle(3.0 * math.pi / 2.0) == pytest.approx(-math.pi / 2.0)
    halves = [turn * math.pi for turn in range(-9, 10)]
    near = [math.nextafter(half, side) for half in halves for side in (-math.inf, math.inf)]
    for angle in (0.0, -0.0, *halves, *near, *np.random.default_rng(3).uniform(-40.0, 40.0, 2000).tolist()):
        wrapped, expected = wrap_angle(angle), math.remainder(angle, 2.0 * math.pi)
        assert (wrapped, math.copysign(1.0, wrapped)) == (expected, math.copysign(1.0, expected))


def fly_point_mass(
    subject: PositionController, target: Setpoint, disturbance: np.ndarray, seconds: float
) -> np.ndarray:
    """Positions (n, 3) of a point mass whose thrust follows each command after a lag of 0.1 s."""
    position, velocity, actual = np.zeros(3), np.zeros(3), np.zeros(3)
    path = []
    for _ in range(int(seconds / DT)):
        command = subject.update(position, velocity, 0.0, target, DT)
        actual = actual + DT / 0.1 * (thrust_acceleration(command, 0.0) - actual)
        velocity = velocity + DT * (actual + disturbance)
        position = position + DT * velocity
        path.append(position)
    return np.array(path)


def test_steady_disturbances_leave_no_steady_state_error() -> None:
    disturbance = np.array([0.8, -0.5, 0.7])
    subject = controller()
    path = fly_point_mass(subject, Setpoint(REST), disturbance, 20.0)
    # The slowest closed-loop pole is near 0.5 rad/s: exp(-0.5 * 20) leaves less than 1e-4 of a metre.
    assert np.abs(path[-1]).max() < 1e-3
    assert subject.disturbance_ned == pytest.approx(tuple(-disturbance), abs=2e-3)


def test_distant_setpoint_is_reached_without_windup() -> None:
    path = fly_point_mass(controller(), Setpoint((60.0, 0.0, 0.0)), np.zeros(3), 30.0)
    assert path[-1] == pytest.approx(np.array([60.0, 0.0, 0.0]), abs=0.02)
    # Seconds of saturation would overshoot by metres with integrators that wind up.
    assert path[:, 0].max() < 60.0 + 0.8


def test_reset_clears_and_adopt_keeps_disturbance_estimate() -> None:
    subject = controller()
    for _ in range(100):
        subject.update((1.0, 0.0, 0.0), REST, 0.0, Setpoint(REST), DT)
    found = subject.disturbance_ned
    assert found[0] < -0.1
    other = controller(mass=3.6)
    other.adopt(subject)
    assert other.disturbance_ned == found
    tight = controller(max_integral=0.05)
    tight.adopt(subject)
    assert tight.disturbance_ned[0] == -0.05
    subject.reset()
    assert subject.disturbance_ned == (0.0, 0.0, 0.0)


def test_non_finite_state_is_rejected_and_changes_nothing() -> None:
    subject = controller()
    with pytest.raises(ValueError, match="not finite"):
        subject.update((math.nan, 0.0, 0.0), REST, 0.0, Setpoint(REST), DT)
    assert subject.disturbance_ned == (0.0, 0.0, 0.0)


def test_vehicle_too_heavy_to_lift_off_is_rejected_by_name() -> None:
    with pytest.raises(ParameterError, match=r"'max_thrust': 30 given; allowed: greater than the weight, 34\.335 N"):
        controller(max_thrust=30.0)
    with pytest.raises(ParameterError, match=r"'min_throttle': 0\.6 given; allowed: less than"):
        controller(min_throttle=0.6)
