"""Rotors, battery and drag against closed forms."""

import itertools
import math

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics import atmosphere
from rosflight_py_sim.physics.battery import battery_load, loaded_voltage, open_circuit_voltage
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor

QUAD = {
    "num_rotors": 4,
    "rotor_dists": [0.25, 0.25, 0.25, 0.25],
    "rotor_radial_angles": [45.0, 135.0, 225.0, 315.0],
    "rotor_rotation_directions": [-1, 1, -1, 1],
    "CT_0": 0.08729101,
    "CT_1": -0.11006411,
    "CT_2": -0.12928596,
    "CQ_0": 0.00428594,
    "CQ_1": 0.00146105,
    "CQ_2": -0.01440988,
    "D_prop": 0.381,
    "V_max": 24.0,
    "R_motor": 0.042,
    "I_0": 1.5,
    "KQ": 0.028937,
    "CD": 2.05,
    "A_c": 0.04,
    "CD_induced": 0.05,
    "ground_effect": [-55.3516, 181.8265, -203.9874, 85.3735, -7.6619],
}
"""ROSflight's multirotor."""

AS_ROSFLIGHT = {"use_standard_atmosphere": False, "motor_time_constant": 0.0}

CALM = np.zeros(3)


def quad(**values):
    return Multirotor(MULTIROTOR_PARAMETERS.checked({**QUAD, **values}))


def truth(height=50.0, velocity=(0, 0, 0)):
    state = np.zeros(19)
    state[2] = -height
    state[3] = 1.0
    state[7:10] = velocity
    return state


def outputs(*throttles):
    pwm = np.full(14, 1000.0)
    pwm[: len(throttles)] += 1000.0 * np.array(throttles)
    return pwm


def settled(multirotor, state, pwm, wind=CALM):
    for _ in range(400):
        wrench = multirotor.update(state, wind, pwm, 0.0025)
    return wrench.copy()


def test_motor_and_propeller_torque_balance():
    multirotor = quad(**AS_ROSFLIGHT)
    wrench = multirotor.update(truth(velocity=(0, 0, -5.0)), CALM, outputs(0.6, 0.6, 0.6, 0.6), 0.0025)
    speed = multirotor.rotor_speeds[0]
    ratio = 2 * math.pi * 5.0 / (speed * 0.381)
    propeller = (
        (0.00428594 + 0.00146105 * ratio - 0.01440988 * ratio**2) * 1.225 * 0.381**5 * speed**2 / (2 * math.pi) ** 2
    )
    motor = 0.028937 * ((0.6 * 24.0 - 0.028937 * speed) / 0.042 - 1.5)
    assert propeller == pytest.approx(motor, rel=1e-9)
    thrust = (
        (0.08729101 - 0.11006411 * ratio - 0.12928596 * ratio**2) * 1.225 * 0.381**4 * speed**2 / (2 * math.pi) ** 2
    )
    drag = 0.5 * 1.225 * 0.04 * 2.05 * 5.0**2
    assert wrench == pytest.approx((0, 0, -4 * thrust + drag, 0, 0, 0), abs=1e-12)


def test_hover_throttle_keeps_vehicle_aloft():
    multirotor, weight = quad(), 3.5 * 9.81
    low, high = 0.0, 1.0
    for _ in range(50):
        throttle = 0.5 * (low + high)
        lift = -settled(multirotor, truth(), outputs(*[throttle] * 4))[2]
        low, high = (throttle, high) if lift < weight else (low, throttle)
    body = VehicleDynamics(
        DYNAMICS_PARAMETERS.checked({"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "ground_contact": False})
    )
    body.set_truth(truth())
    for _ in range(400):
        body.step(multirotor.update(body.truth, CALM, outputs(*[throttle] * 4), 0.0025), 0.0025)
    # The lag approaches balance to e^-33 in 400 steps.
    assert body.truth[:3] == pytest.approx((0.0, 0.0, -50.0), abs=1e-9)


def test_unpowered_fall_reaches_quadratic_drag_terminal_velocity():
    values = {"CT_0": 0.0, "CT_1": 0.0, "CT_2": 0.0, "CQ_1": 0.0, "CQ_2": 0.0}
    multirotor = quad(use_standard_atmosphere=False, **values)
    body = VehicleDynamics(
        DYNAMICS_PARAMETERS.checked({"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "ground_contact": False})
    )
    body.set_truth(truth(height=1000.0))
    terminal = math.sqrt(2 * 3.5 * 9.81 / (1.225 * 0.04 * 2.05))
    for k in range(1, 4001):
        body.step(multirotor.update(body.truth, CALM, outputs(), 0.0025), 0.0025)
        if k == 800:
            # v = v_t tanh(g t / v_t); the force is held over a step, which delays it by half of 2.5 ms.
            assert body.truth[9] == pytest.approx(terminal * math.tanh(9.81 * 2.0 / terminal), rel=1e-3)
    assert body.truth[9] == pytest.approx(terminal * math.tanh(9.81 * 10.0 / terminal), rel=1e-4)


def test_rotor_speed_follows_first_order_lag_at_any_step_size():
    speeds = []
    for dt, steps in ((0.005, 6), (0.0025, 12), (0.0005, 60)):
        multirotor = quad(motor_time_constant=0.03)
        for k in range(steps + 1):
            multirotor.update(truth(), CALM, outputs(0.5, 0.5, 0.5, 0.5), dt if k else 0.0)
        speeds.append(multirotor.rotor_speeds[0])
    final = quad(motor_time_constant=0.0)
    final.update(truth(), CALM, outputs(0.5, 0.5, 0.5, 0.5), 0.0025)
    assert speeds == pytest.approx([(1 - math.exp(-1.0)) * final.rotor_speeds[0]] * 3, rel=1e-12)


def test_density_follows_standard_atmosphere_above_origin():
    thin = settled(
        quad(origin_altitude=1387.0, CD_induced=0.0), truth(height=613.0), outputs(), wind=np.array([9.0, 0, 0])
    )
    assert thin[0] == pytest.approx(0.5 * atmosphere.density(2000.0) * 0.04 * 2.05 * 81.0, rel=1e-9)


def test_rotor_positions_are_equivalent_to_distances_and_angles():
    arm = 0.25 / math.sqrt(2)
    positions = [arm, arm, 0.0, -arm, arm, 0.0, -arm, -arm, 0.0, arm, -arm, 0.0]
    pwm = outputs(0.5, 0.6, 0.7, 0.4)
    by_angle = settled(quad(), truth(), pwm)
    by_position = settled(quad(rotor_positions=positions, rotor_dists=[], rotor_radial_angles=[]), truth(), pwm)
    assert by_position == pytest.approx(by_angle, abs=1e-13)


def test_each_rotor_thrusts_upward_at_its_position_with_reaction_torque():
    for i, (azimuth, direction) in enumerate(
        zip(QUAD["rotor_radial_angles"], QUAD["rotor_rotation_directions"], strict=True)
    ):
        throttles = [0.0] * 4
        throttles[i] = 0.5
        force_moment = settled(quad(CD=0.0), truth(), outputs(*throttles))
        thrust = -force_moment[2]
        assert force_moment[3] == pytest.approx(-thrust * 0.25 * math.sin(math.radians(azimuth)), rel=1e-6)
        assert force_moment[4] == pytest.approx(thrust * 0.25 * math.cos(math.radians(azimuth)), rel=1e-6)
        assert force_moment[5] == pytest.approx(-direction * thrust * 0.381 * 0.00428594 / 0.08729101, rel=1e-6)


def test_tilted_rotors_thrust_along_their_axes():
    tilts = [10.0, 0.0, 0.0, 10.0, 10.0, 0.0, 0.0, 10.0]
    upright = settled(quad(), truth(), outputs(0.5, 0.5, 0.5, 0.5))
    tilted = settled(quad(rotor_tilts=tilts), truth(), outputs(0.5, 0.5, 0.5, 0.5))
    each = -upright[2] / 4
    sine, cosine = math.sin(math.radians(10.0)), math.cos(math.radians(10.0))
    # Roll tips two rotors to the right, pitch the other two back.
    assert tilted[:3] == pytest.approx((-2 * each * sine, 2 * each * sine, -4 * each * cosine), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"rotor_dists": [0.25, 0.25, 0.25]}, "rotor_dists"),
        ({"rotor_radial_angles": []}, "rotor_radial_angles"),
        ({"rotor_rotation_directions": [1, -1]}, "rotor_rotation_directions"),
        ({"rotor_rotation_directions": [1, -1, 0, 1]}, "rotor_rotation_directions"),
        ({"rotor_positions": [0.1, 0.1, 0.0]}, "rotor_positions"),
        ({"rotor_tilts": [5.0]}, "rotor_tilts"),
        ({"num_rotors": 6}, "rotor_dists"),
        ({"num_rotors": 15}, "num_rotors"),
        ({"D_prop": 0.0}, "D_prop"),
        ({"ground_effect": [1.0]}, "ground_effect"),
    ],
)
def test_inconsistent_rotors_are_rejected_by_name(values, name):
    with pytest.raises(ParameterError, match=name):
        quad(**values)


def test_ideal_battery_always_supplies_full_voltage():
    multirotor = quad()
    for _ in range(1000):
        multirotor.update(truth(), CALM, outputs(1.0, 1.0, 1.0, 1.0), 0.0025)
        assert multirotor.battery_voltage == 24.0
    assert multirotor.charge_drawn_ah == 0.0


@pytest.mark.parametrize("lag", [0.0, 0.03])
@pytest.mark.parametrize("resistance", [0.001, 0.02, 0.1])
def test_voltage_sags_by_internal_resistance_times_current(resistance, lag):
    multirotor = quad(battery_internal_resistance=resistance, motor_time_constant=lag)
    for _ in range(4):
        settled(multirotor, truth(), outputs(0.5, 0.7, 0.5, 0.7))
    assert multirotor.current_a > 5.0
    assert multirotor.battery_voltage == pytest.approx(24.0 - resistance * multirotor.current_a, rel=1e-9)


def test_battery_power_equals_motor_heat_plus_mechanical_power():
    multirotor = quad(battery_internal_resistance=0.02)
    settled(multirotor, truth(), outputs(0.5, 0.7, 0.5, 0.7))
    voltage = multirotor.battery_voltage
    power = 0.0
    for throttle, speed in zip((0.5, 0.7, 0.5, 0.7), multirotor.rotor_speeds, strict=True):
        current = (throttle * voltage - 0.028937 * speed) / 0.042
        power += 0.042 * current**2 + 0.028937 * speed * current
    assert voltage * multirotor.current_a == pytest.approx(power, rel=1e-12)


def test_battery_discharges_by_charge_drawn_and_voltage_follows_the_curve():
    multirotor = quad(battery_capacity_mah=10.0)
    drawn = 0.0
    for _ in range(400):
        # Each step draws the current at its start.
        drawn += multirotor.current_a * 0.0025 / 3600.0
        multirotor.update(truth(), CALM, outputs(0.5, 0.5, 0.5, 0.5), 0.0025)
    assert multirotor.charge_drawn_ah == pytest.approx(drawn, rel=1e-12)
    assert multirotor.battery_voltage == pytest.approx(open_circuit_voltage(1.0 - drawn / 0.01, 24.0), rel=1e-12)
    for _ in range(20000):
        multirotor.update(truth(), CALM, outputs(0.5, 0.5, 0.5, 0.5), 0.0025)
    assert multirotor.charge_drawn_ah == pytest.approx(0.01, rel=1e-12)


def test_open_circuit_voltage_drops_from_exactly_full_with_charge_drawn():
    curve = [open_circuit_voltage(1.0 - 0.01 * k, 24.0) for k in range(101)]
    assert curve[0] == 24.0
    assert all(later < earlier for earlier, later in itertools.pairwise(curve))
    # The cell's curve: 4.103 V full, 3.775 V at half charge, 2.654 V empty.
    assert curve[50] / 24.0 == pytest.approx(3.8034 / 4.1029, abs=1e-4)
    assert curve[100] / 24.0 == pytest.approx(2.654 / 4.1029, abs=1e-4)


def test_parameter_change_preserves_rotor_speeds_and_charge():
    old = quad(battery_capacity_mah=1000.0)
    settled(old, truth(), outputs(0.5, 0.6, 0.7, 0.8))
    new = quad(battery_capacity_mah=1000.0, CD=1.0)
    new.adopt(old)
    assert np.array_equal(new.rotor_speeds, old.rotor_speeds)
    assert new.charge_drawn_ah == old.charge_drawn_ah
    assert new.battery_voltage == old.battery_voltage


def test_polynomial_ground_effect_follows_height_and_never_pulls_down():
    def added(height):
        with_effect = settled(quad(), truth(height=height), outputs())
        without = settled(quad(ground_effect=[0.0] * 5), truth(height=height), outputs())
        return without[2] - with_effect[2]

    height = 0.4
    expected = -55.3516 * height**4 + 181.8265 * height**3 - 203.9874 * height**2 + 85.3735 * height - 7.6619
    assert added(height) == pytest.approx(expected, rel=1e-12)
    assert added(5.0) == 0.0


THROTTLES = [0.5, 0.6, 0.7, 0.4]
RADIUS = QUAD["D_prop"] / 2.0


def ground_effect_quad(**values):
    return quad(**{"ground_effect": [0.0] * 5, "rotor_ground_effect": 1.0, **values})


@pytest.mark.parametrize("height", [0.1, 0.15, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("ground_altitude", [0.0, 200.0])
def test_ground_effect_raises_thrust_by_cheeseman_and_bennett(height, ground_altitude):
    vehicle = ground_effect_quad(ground_altitude=ground_altitude, use_standard_atmosphere=False)
    near = settled(vehicle, truth(height=height + ground_altitude), outputs(*THROTTLES))
    far = settled(ground_effect_quad(use_standard_atmosphere=False), truth(height=1e6), outputs(*THROTTLES))
    factor = 1.0 / (1.0 - (RADIUS / (4.0 * height)) ** 2)
    assert factor > 1.0001 or height > 1.0
    # Torque does not change, so the yawing moment stays.
    assert near[:5] == pytest.approx(far[:5] * factor, rel=1e-9, abs=1e-12)
    assert near[5] == pytest.approx(far[5], rel=1e-9)


def test_ground_effect_of_tilted_vehicle_follows_each_hub_along_its_axis():
    roll = 0.3
    state = truth(height=0.4)
    state[3:5] = math.cos(roll / 2.0), math.sin(roll / 2.0)
    near, far = (settled(ground_effect_quad(rotor_ground_effect=k), state, outputs(*[0.5] * 4)) for k in (1.0, 0.0))
    arm = 0.25 * math.sqrt(0.5)
    heights = [(0.4 - y * math.sin(roll)) / math.cos(roll) for y in (arm, arm, -arm, -arm)]
    factors = [1.0 / (1.0 - (RADIUS / (4.0 * z)) ** 2) for z in heights]
    assert near[2] == pytest.approx(far[2] * np.mean(factors), rel=1e-9)
    each = -far[2] / 4.0
    assert near[3] == pytest.approx(each * arm * (factors[2] + factors[3] - factors[0] - factors[1]), rel=1e-9)


@pytest.mark.parametrize("height", [0.0, 0.02, 0.1, 0.3])
def test_ground_effect_needs_thrust_towards_ground(height):
    vehicle = ground_effect_quad(rotor_ground_effect=20.0)
    # Stopped rotors turn with SLOWEST_SPEED.
    assert np.abs(settled(vehicle, truth(height=height), outputs())).max() < 1e-10
    state = truth(height=height)
    state[3:7] = 0.0, 1.0, 0.0, 0.0
    upside_down = settled(vehicle, state, outputs(*THROTTLES))
    assert upside_down == pytest.approx(settled(quad(ground_effect=[0.0] * 5), state, outputs(*THROTTLES)), rel=1e-12)


def test_ground_effect_stays_bounded_on_ground():
    vehicle = ground_effect_quad(rotor_ground_effect=20.0, use_standard_atmosphere=False)
    free = settled(vehicle, truth(height=1e6), outputs(*THROTTLES))
    for height in (-0.1, 0.0, 1e-9, 0.05):
        assert settled(vehicle, truth(height=height), outputs(*THROTTLES))[2] == pytest.approx(free[2] * 4.0 / 3.0)


LIMIT = 45.0


def motor_currents(vehicle, throttles):
    voltage = np.array(throttles) * vehicle.battery_voltage
    return np.maximum(0.0, (voltage - QUAD["KQ"] * vehicle.rotor_speeds) / 0.042)


@pytest.mark.parametrize("resistance", [0.0, 0.02])
@pytest.mark.parametrize("lag", [0.0, 0.03])
def test_current_limit_bounds_every_spike(resistance, lag):
    given = {"battery_internal_resistance": resistance, "motor_time_constant": lag}
    free, limited = quad(**given), quad(**given, esc_current_limit=LIMIT)
    largest, largest_limited = 0.0, 0.0
    for k in range(800):
        throttle = 0.05 if k // 100 % 2 else 0.9
        for vehicle in (free, limited):
            vehicle.update(truth(), CALM, outputs(*[throttle] * 4), 0.0025)
        largest = max(largest, free.current_a)
        largest_limited = max(largest_limited, limited.current_a)
    assert largest_limited <= 4 * LIMIT + 1e-9
    assert largest > 2 * largest_limited or lag == 0.0


def test_rotor_accelerates_with_limited_torque_at_any_step_size():
    """At constant current I the rotor gains K (I - I_0) - Q over the inertia that the lag implies."""
    speeds = []
    for dt, steps in ((0.0025, 2), (0.00125, 4), (0.00005, 100)):
        vehicle = quad(esc_current_limit=10.0, use_standard_atmosphere=False)
        for k in range(steps + 1):
            vehicle.update(truth(), CALM, outputs(*[0.5] * 4), dt if k else 0.0)
        speeds.append(vehicle.rotor_speeds[0])
    coarse, fine = abs(speeds[0] / speeds[2] - 1.0), abs(speeds[1] / speeds[2] - 1.0)
    assert coarse < 1e-3
    # Second order.
    assert fine == pytest.approx(0.25 * coarse, rel=0.2)
    inertia = 0.03 * 0.028937**2 / 0.042
    assert speeds[2] == pytest.approx(0.028937 * (10.0 - 1.5) / inertia * 0.005, rel=0.05)


@pytest.mark.parametrize("lag", [0.0, 0.03])
def test_steady_current_at_limit_balances_propeller_torque(lag):
    vehicle = quad(
        esc_current_limit=12.0,
        motor_time_constant=lag,
        battery_internal_resistance=0.02,
        use_standard_atmosphere=False,
    )
    for _ in range(20):
        wrench = settled(vehicle, truth(), outputs(*[1.0] * 4))
    speed = vehicle.rotor_speeds[0]
    torque = 0.00428594 * 1.225 * 0.381**5 * speed**2 / (2.0 * math.pi) ** 2
    assert torque == pytest.approx(0.028937 * (12.0 - 1.5), rel=1e-6)
    power = 4 * 12.0 * (0.028937 * speed + 0.042 * 12.0)
    assert vehicle.battery_voltage * vehicle.current_a == pytest.approx(power, rel=1e-6)
    assert vehicle.battery_voltage == pytest.approx(24.0 - 0.02 * vehicle.current_a, rel=1e-9)
    steady = vehicle.steady_wrench(truth(), CALM, np.ones(4))
    assert steady == pytest.approx(wrench, rel=1e-6, abs=1e-9)


def test_voltage_and_current_agree_while_some_motors_are_limited():
    throttles = np.array([0.9, 0.3, 0.6, 0.0])
    speeds = np.array([200.0, 150.0, 0.0, 300.0])
    for resistance in (0.001, 0.02, 0.1, 0.3):
        voltage = loaded_voltage(24.0, resistance, throttles, speeds, 0.042, 0.028937, LIMIT)
        current = battery_load(voltage, throttles, speeds, 0.042, 0.028937, LIMIT)
        assert 0.0 < voltage == pytest.approx(24.0 - resistance * current, rel=1e-11)
