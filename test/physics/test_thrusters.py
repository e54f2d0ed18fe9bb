"""Thrusters: dead zone, saturation, direction, lag, and refused parameters."""

import math

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.thrusters import (
    THRUSTER_PARAMETERS,
    advance_thrust,
    motor_current,
    settled_thrust,
    thruster_numbers,
)

ONE = {
    "num_thrusters": 1,
    "thruster_positions": [0.1, 0.2, 0.3],
    "thruster_directions": [3.0, 0.0, 4.0],
    "thruster_forward_thrusts": [10.0],
    "thruster_reverse_thrusts": [6.0],
    "thruster_dead_zones": [0.1],
    "thruster_saturations": [0.9],
    "thruster_full_currents": [20.0],
}


def thruster(**values):
    return thruster_numbers(THRUSTER_PARAMETERS.checked({**ONE, **values}))[0]


@pytest.mark.parametrize(
    ("pulse_us", "thrust"),
    [
        (1500.0, 0.0),
        (1549.9, 0.0),
        (1450.1, 0.0),
        (1750.0, 5.0),
        (1250.0, -3.0),
        (1950.0, 10.0),
        (2000.0, 10.0),
        (2500.0, 10.0),
        (1050.0, -6.0),
        (900.0, -6.0),
        (0.0, 0.0),
    ],
)
def test_thrust_rises_from_dead_zone_to_saturation(pulse_us, thrust):
    assert settled_thrust(thruster(), pulse_us) == pytest.approx(thrust, abs=1e-12)


def test_thrust_may_be_quadratic_in_command():
    square = thruster(thruster_dead_zones=[0.0], thruster_saturations=[1.0], thruster_exponents=[2.0])
    assert settled_thrust(square, 1750.0) == pytest.approx(2.5, rel=1e-14)


def test_lag_is_exact_first_order_response_at_any_step_size():
    one = thruster(thruster_time_constants=[0.2])
    thrust = 0.0
    for _ in range(7):
        thrust = advance_thrust(one, 2000.0, thrust, 0.05)
    assert thrust == pytest.approx(10.0 * (1.0 - math.exp(-0.35 / 0.2)), rel=1e-14)
    assert advance_thrust(one, 2000.0, 0.0, 0.35) == pytest.approx(thrust, rel=1e-14)


def test_thruster_without_lag_responds_immediately():
    assert advance_thrust(thruster(thruster_time_constants=[0.0]), 2000.0, 0.0, 0.0) == 10.0


def test_current_follows_actuator_disc_power():
    assert motor_current(thruster(), 10.0) == 20.0
    assert motor_current(thruster(), 2.5) == pytest.approx(20.0 / 8.0, rel=1e-14)
    assert motor_current(thruster(), -6.0) == 20.0


def test_direction_vectors_are_normalised():
    assert thruster()[3:6].tolist() == [0.6, 0.0, 0.8]


def test_single_value_applies_to_all_thrusters():
    given = {**ONE, "num_thrusters": 2, "thruster_positions": [0.0] * 6, "thruster_directions": [1.0, 0.0, 0.0] * 2}
    both = thruster_numbers(THRUSTER_PARAMETERS.checked({**given, "thruster_dead_zones": [0.1, 0.2]}))
    assert both[:, 6].tolist() == [10.0, 10.0]
    assert both[:, 8].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"thruster_positions": [1.0]}, "thruster_positions.*1 numbers given; allowed: 3, x y z"),
        ({"thruster_directions": [0.0, 0.0, 0.0]}, "thruster_directions"),
        ({"thruster_forward_thrusts": []}, "thruster_forward_thrusts.*0 numbers given; allowed: 1 for all"),
        ({"thruster_forward_thrusts": [1.0, 2.0, 3.0]}, "thruster_forward_thrusts.*3 numbers"),
        ({"thruster_forward_thrusts": [-1.0]}, "thruster_forward_thrusts"),
        ({"thruster_dead_zones": [0.9]}, "thruster_dead_zones.*less than"),
        ({"thruster_saturations": [1.5]}, "thruster_saturations"),
        ({"thruster_time_constants": [-0.1]}, "thruster_time_constants"),
        ({"num_thrusters": 15}, "num_thrusters"),
    ],
)
def test_impossible_thrusters_are_rejected_by_name(values, text):
    with pytest.raises(ParameterError, match=text):
        thruster(**values)


def test_missing_lists_are_rejected_by_name():
    with pytest.raises(ParameterError, match="thruster_positions"):
        thruster_numbers(THRUSTER_PARAMETERS.checked({"num_thrusters": 1}))
