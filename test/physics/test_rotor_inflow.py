"""Rotors that meet the air at their hubs, in climb and descent, against momentum theory."""

import math

import numpy as np
import pytest

from rosflight_py_sim.physics.descent import descent_flow, descent_shares, figure_of_merit, flow_slope, hover_velocity
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor

CT, CQ = (0.08729101, -0.11006411, -0.12928596), (0.00428594, 0.00146105, -0.01440988)
DIAMETER, RHO, ARM, HEIGHT, DRAG = 0.381, 1.225, 0.25, 0.1, 0.05
CALM = np.zeros(3)
STEP = 0.0025

BETA, MERIT = flow_slope(CT[0], CT[1]), figure_of_merit(CT[0], CQ[0])


def rotors(**values):
    """A quadrotor whose rotors keep their speed under any load."""
    given = {
        "rotor_dists": [ARM] * 4,
        "rotor_radial_angles": [45.0, 135.0, 225.0, 315.0],
        "rotor_height": HEIGHT,
        "rotor_inflow": "hub",
        "CD": 0.0,
        "CD_induced": DRAG,
        "R_motor": 1e-9,
        "I_0": 0.0,
        "use_standard_atmosphere": False,
        "motor_time_constant": 0.0,
    }
    return Multirotor(MULTIROTOR_PARAMETERS.checked({**MULTIROTOR_PARAMETERS.defaults(), **given, **values}))


def wrench(vehicle, rates=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), throttle=0.5):
    state = np.zeros(19)
    state[2], state[3] = -50.0, 1.0
    state[7:10], state[10:13] = velocity, rates
    pwm = np.full(14, 1000.0)
    pwm[:4] += 1000.0 * throttle
    return vehicle.update(state, CALM, pwm, STEP).copy()


def static(vehicle):
    """Speed (rad/s), thrust (N), torque (N m) and induced velocity (m/s) of a rotor in hover."""
    lift = -wrench(vehicle)[2]
    speed = vehicle.rotor_speeds[0]
    torque = CQ[0] * RHO * DIAMETER**5 * speed**2 / (4.0 * math.pi**2)
    thrust = lift / 4.0
    return speed, thrust, torque, math.sqrt(thrust / (2.0 * RHO * math.pi * (DIAMETER / 2.0) ** 2))


@pytest.mark.parametrize("axis", [0, 1])
def test_roll_and_pitch_are_damped_by_slope_of_thrust_over_inflow(axis):
    vehicle = rotors(CD_induced=0.0)
    speed = static(vehicle)[0]
    slope = CT[1] * RHO * DIAMETER**3 * speed / (2.0 * math.pi)
    rate = np.zeros(3)
    rate[axis] = 0.01
    moment = (wrench(vehicle, rate) - wrench(vehicle, -rate))[3 + axis] / 0.02
    assert slope < -0.1
    # Second order in the rate, and the two sides of hover differ in theirs.
    assert moment == pytest.approx(4 * 0.5 * ARM**2 * slope, rel=1e-4)


def test_centre_inflow_ignores_body_rates():
    vehicle = rotors(rotor_inflow="centre")
    assert np.array_equal(wrench(vehicle, rates=(1.0, -2.0, 3.0)), wrench(vehicle))


def test_rotor_drag_acts_at_hubs():
    vehicle = rotors()
    thrust = static(vehicle)[1]
    found = wrench(vehicle, velocity=(3.0, -2.0, 0.0))
    drag = -4 * thrust * DRAG * np.array([3.0, -2.0])
    assert found[:2] == pytest.approx(drag, rel=1e-9)
    # The force acts at z = -HEIGHT.
    assert found[3:5] == pytest.approx((HEIGHT * drag[1], -HEIGHT * drag[0]), rel=1e-9)
    assert wrench(rotors(rotor_inflow="centre"), velocity=(3.0, -2.0, 0.0))[3:5] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_yaw_is_damped_by_rotor_drag():
    vehicle = rotors()
    thrust = static(vehicle)[1]
    moment = (wrench(vehicle, rates=(0.0, 0.0, 0.5)) - wrench(vehicle))[5]
    assert moment == pytest.approx(-4 * thrust * DRAG * 0.5 * ARM**2, rel=1e-9)


def test_slope_of_thrust_is_continuous_at_hover():
    vehicle = rotors()
    speed, thrust, _, induced = static(vehicle)
    assert hover_velocity(CT[0], DIAMETER) * speed == pytest.approx(induced, rel=1e-12)
    climb, hover, descent = (-wrench(vehicle, velocity=(0.0, 0.0, w))[2] / 4.0 for w in (-1e-4, 0.0, 1e-4))
    slope = CT[1] / CT[0] * math.sqrt(2.0 * CT[0] / math.pi) * thrust / induced
    assert [(climb - hover) / 1e-4, (hover - descent) / 1e-4] == pytest.approx([slope, slope], rel=1e-4)


@pytest.mark.parametrize("climb", [-0.01, -0.3, -1.0, -1.1, -4.0, -6.0, -30.0])
def test_descent_satisfies_momentum_and_blade_element_theory(climb):
    flow = descent_flow(climb, BETA)
    thrust, torque = descent_shares(climb, BETA, MERIT)
    assert thrust == pytest.approx(1.0 + BETA * (1.0 - flow), rel=1e-12)
    windmill = climb < -2.0 * math.sqrt(thrust)
    assert windmill == (climb <= -4.0)
    assert thrust == pytest.approx((-1.0 if windmill else 1.0) * flow * (flow - climb), rel=1e-9)
    # The air does work on a windmill: at most the thrust times the speed.
    assert torque == pytest.approx(MERIT * thrust * flow + 1.0 - MERIT)
    assert thrust * climb <= thrust * flow


@pytest.mark.parametrize("climb", [-1.2, -1.5, -2.0, -3.0, -3.6])
def test_vortex_ring_state_follows_fitted_flow(climb):
    flow = descent_flow(climb, BETA)
    share = math.sqrt(1.0 + BETA * (1.0 - flow))
    y = climb / share
    assert -2.0 < y < -1.0
    assert flow / share == pytest.approx(y + y * (0.373 * y * y - 1.991), rel=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.3, BETA, 5.0])
def test_flow_changes_steadily_through_all_states(beta):
    climbs = np.linspace(0.0, -3.0 * (1.0 + beta), 3001)
    flows = np.array([descent_flow(float(climb), beta) for climb in climbs])
    assert flows[0] == pytest.approx(1.0, rel=1e-12)
    # The fit joins the windmill brake state to 0.2 %, its last digit.
    assert np.diff(flows).max() < 4e-3 * (1.0 + beta)
    assert flows[-1] < -1.0


@pytest.mark.parametrize("sink", [1.0, 4.0, 8.0, 12.0, 20.0])
def test_shaft_power_is_that_of_the_air_and_profile_drag(sink):
    vehicle = rotors(rotor_rotation_directions=[1, 1, 1, 1])
    speed, thrust, torque, induced = static(vehicle)
    found = wrench(vehicle, velocity=(0.0, 0.0, sink))
    lift, turn = -found[2] / 4.0, -found[5] / 4.0
    flow = induced * descent_flow(-sink / induced, BETA)
    profile = torque * speed - thrust * induced
    assert profile > 0.0
    assert turn * speed == pytest.approx(lift * flow + profile, rel=1e-6)


def test_falling_vehicle_without_power_windmills_gently():
    vehicle = rotors(R_motor=0.042, I_0=1.5, motor_time_constant=0.03)
    for _ in range(2000):
        found = wrench(vehicle, velocity=(0.0, 0.0, 15.0), throttle=0.0)
    area = math.pi * (DIAMETER / 2.0) ** 2
    assert 0.0 < -found[2] < 4 * 0.5 * RHO * area * 15.0**2
    assert np.all(vehicle.rotor_speeds < 100.0)
    assert vehicle.current_a == 0.0


def test_without_air_motors_reach_no_load_speed():
    vehicle = rotors(rho=0.0, R_motor=0.042, I_0=1.5)
    assert np.array_equal(wrench(vehicle), np.zeros(6))
    kq = MULTIROTOR_PARAMETERS["KQ"].default
    assert vehicle.rotor_speeds == pytest.approx((0.5 * vehicle.battery_voltage - 0.042 * 1.5) / kq, rel=1e-12)


def test_rotors_that_turn_with_the_air_are_not_damped():
    rates = np.array([0.5, -0.3, 0.4])
    state = np.zeros(19)
    state[2], state[3], state[10:13] = -50.0, 1.0, rates
    pwm = np.full(14, 1500.0)
    still, damped = wrench(rotors()), wrench(rotors(), rates)
    # Rates and gusts cancel to rounding.
    assert rotors().update(state, CALM, pwm, STEP, rates) == pytest.approx(still, rel=1e-12, abs=1e-12)
    assert np.all(np.abs(damped - still)[3:5] > 1e-3)
