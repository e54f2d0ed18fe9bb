"""Wing, surfaces and propeller of a fixed wing against closed forms."""

import itertools
import math

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.aerodynamics import CAUSES, COEFFICIENTS, slipstream_speed
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing, direct_mixer

CALM = np.zeros(3)
DENSITY = 1.2
AIR = {"use_standard_atmosphere": False, "rho": DENSITY}
AREA, SPAN, CHORD = 0.52, 2.08, 0.235
IMMEDIATE = {"servo_tau": 0.0, "motor_time_constant": 0.0}
BODY = {"mass": 4.5, "Jxx": 0.25, "Jyy": 0.38, "Jzz": 0.62, "Jxz": 0.06, "ground_contact": False}


def plane(**values):
    return FixedWing(FIXEDWING_PARAMETERS.checked({**FIXEDWING_PARAMETERS.defaults(), **AIR, **values}))


def truth(velocity, rates=(0.0, 0.0, 0.0)):
    state = np.zeros(19)
    state[2], state[3] = -100.0, 1.0
    state[7:10], state[10:13] = velocity, rates
    return state


def at(airspeed, alpha, beta=0.0, rates=(0.0, 0.0, 0.0)):
    return truth(
        (
            airspeed * math.cos(alpha) * math.cos(beta),
            airspeed * math.sin(beta),
            airspeed * math.sin(alpha) * math.cos(beta),
        ),
        rates,
    )


def outputs(aileron=0.0, elevator=0.0, rudder=0.0, throttle=0.0):
    pwm = np.full(14, 1500.0)
    pwm[:3] += 500.0 * np.array([aileron, elevator, rudder])
    pwm[4] = 1000.0 + 1000.0 * throttle
    return pwm


def gliding(state, aileron=0.0, elevator=0.0, rudder=0.0, **values):
    """Wrench with a small propeller of negligible thrust and torque."""
    none = {"CT_0": 1e-9, "CT_1": 0.0, "CT_2": 0.0, "CQ_0": 1e-7, "CQ_1": 0.0, "CQ_2": 0.0, "propeller_brakes": True}
    return plane(D_prop=0.005, **none, **values).steady_wrench(state, CALM, aileron, elevator, rudder, 0.0)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_each_derivative_contributes_to_its_force_in_proportion_to_its_cause(coefficient, cause):
    airspeed, alpha, beta, rates = 22.0, 0.04, 0.1, (0.3, -0.2, 0.25)
    aileron, elevator, rudder = 0.1, -0.15, 0.2
    p, q, r = rates
    half = 1.0 / (2.0 * airspeed)
    size = dict(
        zip(
            CAUSES,
            (1.0, alpha, beta, SPAN * p * half, CHORD * q * half, SPAN * r * half, aileron, elevator, rudder),
            strict=True,
        )
    )[cause]
    name = f"{coefficient}_{cause}"
    # No stall and negligible induced drag: other tests cover both.
    values = {"wing_alpha0": 10.0, "wing_epsilon": 1e12}
    state = at(airspeed, alpha, beta, rates)
    before = gliding(state, aileron, elevator, rudder, **values)
    old = FIXEDWING_PARAMETERS[name].default
    change = gliding(state, aileron, elevator, rudder, **values, **{name: old + 0.3}) - before
    push = 0.3 * size * 0.5 * DENSITY * airspeed**2 * AREA
    expected = {
        "C_L": (push * math.sin(alpha), 0.0, -push * math.cos(alpha), 0.0, 0.0, 0.0),
        "C_D": (-push * math.cos(alpha), 0.0, -push * math.sin(alpha), 0.0, 0.0, 0.0),
        "C_Y": (0.0, push, 0.0, 0.0, 0.0, 0.0),
        "C_ell": (0.0, 0.0, 0.0, push * SPAN, 0.0, 0.0),
        "C_m": (0.0, 0.0, 0.0, 0.0, push * CHORD, 0.0),
        "C_n": (0.0, 0.0, 0.0, 0.0, 0.0, push * SPAN),
    }[coefficient]
    # Differences of forces of a hundred newtons.
    assert change == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert np.max(np.abs(change)) > 1e-3


def lift_and_drag(alpha, **values):
    wrench = gliding(at(20.0, alpha), **values)
    scale = 0.5 * DENSITY * 20.0**2 * AREA
    lift = math.sin(alpha) * wrench[0] - math.cos(alpha) * wrench[2]
    drag = -math.cos(alpha) * wrench[0] - math.sin(alpha) * wrench[2]
    return lift / scale, drag / scale


@pytest.mark.parametrize("alpha", np.radians([-40.0, -16.0, -8.0, -1.0, 0.0, 3.0, 9.0, 13.0, 15.0, 17.0, 25.0, 60.0]))
def test_lift_blends_from_airfoil_to_flat_plate(alpha):
    rate, stall = 50.0, 0.2618
    down, up = math.exp(-rate * (alpha - stall)), math.exp(rate * (alpha + stall))
    sigma = (1 + down + up) / ((1 + down) * (1 + up))
    plate = 2.0 * math.copysign(1.0, alpha) * math.sin(alpha) ** 2 * math.cos(alpha)
    lift, _ = lift_and_drag(alpha)
    assert lift == pytest.approx((1 - sigma) * (0.506 + 5.61 * alpha) + sigma * plate, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("beta", np.radians([0.0, 20.0, 44.0, -44.0, 46.0, 60.0, -75.0, 90.0]))
def test_lift_at_large_sideslip_follows_spanwise_flow(beta):
    alpha = 0.1
    state = at(20.0, alpha, beta)
    # Without drag, and ignoring the side force: only lift is across the flow.
    wrench = gliding(state, C_D_p=0.0, C_D_O=0.0, C_D_alpha=0.0, wing_epsilon=1e12, wing_alpha0=10.0)
    lift = math.sin(alpha) * wrench[0] - math.cos(alpha) * wrench[2]
    share = 1.0 if abs(math.degrees(beta)) < 45.0 else 2.0 * math.cos(beta) ** 2
    pressure = 0.5 * DENSITY * 20.0**2 * AREA
    # At 90 deg, the angle of attack consists of rounding errors, which must have no effect.
    assert lift == pytest.approx(pressure * share * (0.506 + 5.61 * alpha), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("beta", np.radians([0.0, 20.0, 44.0, -44.0, 46.0, 60.0, -75.0, 90.0]))
def test_effects_of_sideslip_are_linear_up_to_45_degrees_and_constant_beyond(beta):
    wrench = gliding(at(20.0, 0.0, beta), C_Y_O=0.0, C_ell_O=0.0, C_n_O=0.0)
    bounded = math.copysign(min(abs(beta), math.pi / 4.0), beta)
    pressure = 0.5 * DENSITY * 20.0**2 * AREA
    assert wrench[1] == pytest.approx(-0.98 * bounded * pressure, abs=1e-6)
    assert wrench[5] == pytest.approx(0.1301 * bounded * pressure * SPAN, abs=1e-6)


def test_wing_stalls_near_its_stall_angle():
    angles = np.radians(np.arange(0.0, 30.0, 0.25))
    lift = [lift_and_drag(alpha)[0] for alpha in angles]
    greatest = math.degrees(angles[int(np.argmax(lift))])
    assert 10.0 < greatest < 15.0
    assert lift[-1] < 0.5 * max(lift)


@pytest.mark.parametrize("alpha", np.radians([-5.0, 0.0, 4.0, 8.0]))
def test_attached_flow_drag_follows_the_polar(alpha):
    _, drag = lift_and_drag(alpha)
    aspect_ratio = SPAN**2 / AREA
    polar = 0.043 + 0.03 * alpha + (0.506 + 5.61 * alpha) ** 2 / (math.pi * 0.9 * aspect_ratio)
    # The stall has begun by 2e-3 at 8 degrees, and takes that share of alpha - sin(alpha), 5e-4, off the angle.
    assert drag == pytest.approx(polar, rel=1e-5)


DIRECTIONS = [v for v in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(v)]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rates", [(0.0, 0.0, 0.0), (1.0, -2.0, 1.5)])
@pytest.mark.parametrize("speed", [0.0, 1e-9, 15.0])
def test_wrench_is_finite_and_bounded_for_any_airflow_direction(direction, rates, speed):
    velocity = speed * np.array(direction) / np.linalg.norm(direction)
    for throttle in (0.0, 1.0):
        wrench = plane().steady_wrench(truth(velocity, rates), CALM, 0.3, 0.3, 0.3, throttle)
        assert np.all(np.isfinite(wrench))
        # A flat plate of the wing's area has 140 N at 15 m/s, sideslip by C_Y_beta 50 N, the propeller 45 N.
        assert np.linalg.norm(wrench[:3]) < 350.0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_air_removes_energy_from_a_moving_body(direction):
    velocity = 15.0 * np.array(direction) / np.linalg.norm(direction)
    wrench = gliding(truth(velocity))
    assert wrench[:3] @ velocity < 0.0


def test_straight_flight_has_no_side_force():
    wrench = gliding(at(20.0, 0.05), elevator=-0.1)
    assert wrench[[1, 3, 5]] == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


def test_mirrored_flight_has_mirrored_wrench():
    mirrored = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    one = gliding(at(20.0, 0.05, 0.1, (0.2, 0.1, -0.3)), 0.1, -0.05, 0.2)
    other = gliding(at(20.0, 0.05, -0.1, (-0.2, 0.1, 0.3)), -0.1, -0.05, -0.2)
    assert other == pytest.approx(one * mirrored, rel=1e-12, abs=1e-12)


def test_wind_is_equivalent_to_motion():
    turned = np.zeros(19)
    turned[2], turned[3], turned[6] = -100.0, math.sqrt(0.5), math.sqrt(0.5)
    # Nose east, wind from the east at 20 m/s and a little from below.
    wrench = plane().steady_wrench(turned, np.array([0.0, -20.0, -1.0]), 0.0, 0.0, 0.0, 0.3)
    moving = plane().steady_wrench(truth((20.0, 0.0, 1.0)), CALM, 0.0, 0.0, 0.0, 0.3)
    assert wrench == pytest.approx(moving, rel=1e-12, abs=1e-12)


def test_surfaces_follow_first_order_lag_at_any_step_size():
    reached = []
    for dt, steps in ((0.01, 2), (0.0025, 8), (0.0005, 40)):
        one = plane(servo_tau=0.02)
        for k in range(steps + 1):
            one.update(truth((20.0, 0.0, 0.0)), CALM, outputs(0.5, -0.25, 1.0), dt if k else 0.0)
        reached.append(one.deflections.copy())
    expected = (1 - math.exp(-1.0)) * np.radians(40.0) * np.array([0.5, -0.25, 1.0])
    for deflections in reached:
        assert deflections == pytest.approx(expected, rel=1e-12)


def test_surfaces_stop_at_maximum_deflection():
    one = plane(
        **IMMEDIATE,
        max_aileron_deflection_angle=20.0,
        max_elevator_deflection_angle=25.0,
        max_rudder_deflection_angle=30.0,
    )
    one.update(truth((20.0, 0.0, 0.0)), CALM, outputs(3.0, -3.0, 1.0), 0.0025)
    assert np.degrees(one.deflections) == pytest.approx((20.0, -25.0, 30.0), rel=1e-12)


def test_static_propeller_and_motor_torque_balance():
    one = plane(**IMMEDIATE)
    wrench = one.update(truth((0.0, 0.0, 0.0)), CALM, outputs(throttle=0.8), 0.0025)
    speed = one.propeller_speed
    turns = speed / (2.0 * math.pi)
    torque = 0.00428594 * DENSITY * turns**2 * 0.381**5
    assert wrench == pytest.approx((0.08729101 * DENSITY * turns**2 * 0.381**4, 0, 0, -torque, 0, 0), rel=1e-12)
    assert torque == pytest.approx(0.028937 * ((0.8 * 24.0 - 0.028937 * speed) / 0.042 - 1.5), rel=1e-9)


def test_propeller_inflow_is_axial_or_full_airspeed_as_configured():
    side = truth((0.0, 12.0, 0.0))
    still = plane(**IMMEDIATE).steady_wrench(truth((0.0, 0.0, 0.0)), CALM, 0.0, 0.0, 0.0, 0.8)[0]
    drag = gliding(side)[0]
    axial = plane(**IMMEDIATE).steady_wrench(side, CALM, 0.0, 0.0, 0.0, 0.8)[0] - drag
    whole = plane(**IMMEDIATE, propeller_inflow="airspeed").steady_wrench(side, CALM, 0.0, 0.0, 0.0, 0.8)[0] - drag
    assert axial == pytest.approx(still, rel=1e-4)
    assert whole < 0.9 * still


def test_windmilling_propeller_brakes_only_when_configured():
    fast = truth((25.0, 0.0, 0.0))
    drag = gliding(fast)[0]
    assert plane().steady_wrench(fast, CALM, 0.0, 0.0, 0.0, 0.0)[0] == pytest.approx(drag, abs=1e-3)
    assert plane(propeller_brakes=True).steady_wrench(fast, CALM, 0.0, 0.0, 0.0, 0.0)[0] < drag - 1.0


@pytest.mark.parametrize("resistance", [0.0, 0.02, 0.1])
def test_steady_wrench_equals_settled_update_and_has_no_side_effects(resistance):
    one = plane(battery_internal_resistance=resistance)
    state = truth((20.0, 1.0, 0.5), (0.1, 0.2, -0.1))
    wind = np.array([1.0, -2.0, 0.5])
    for _ in range(2000):
        wrench = one.update(state, wind, outputs(0.2, -0.1, 0.04, 0.9), 0.0025)
    before = one.deflections.copy(), one.propeller_speed, one.current_a, one.battery_voltage, one.charge_drawn_ah
    steady = one.steady_wrench(state, wind, *np.radians(40.0) * np.array([0.2, -0.1, 0.04]), 0.9)
    # The slowest lag, the motor's 30 ms and thrice that where the voltage gives way to it, is over to e^-50.
    assert steady == pytest.approx(wrench, rel=1e-11, abs=1e-11)
    after = one.deflections.copy(), one.propeller_speed, one.current_a, one.battery_voltage, one.charge_drawn_ah
    assert np.array_equal(after[0], before[0])
    assert after[1:] == before[1:]
    assert before[3] == pytest.approx(24.0 - resistance * before[2], rel=1e-9)


def test_gliding_vehicle_never_gains_energy():
    one = plane()
    body = VehicleDynamics(DYNAMICS_PARAMETERS.checked(BODY))
    body.set_truth(at(22.0, 0.0))
    energies = []
    for _ in range(4000):
        body.step(one.update(body.truth, CALM, outputs(elevator=-0.05), 0.0025), 0.0025)
        rates = body.truth[10:13]
        inertia = np.array([[0.25, 0.0, 0.06], [0.0, 0.38, 0.0], [0.06, 0.0, 0.62]])
        energies.append(
            4.5 * (0.5 * body.truth[7:10] @ body.truth[7:10] - 9.81 * body.truth[2]) + 0.5 * rates @ inertia @ rates
        )
    assert all(later < earlier for earlier, later in itertools.pairwise(energies))
    # Parasitic drag alone takes 1/2 rho V^3 S C_D: 6 W at 10 m/s.
    assert energies[0] - energies[-1] > 10.0 * 6.0


def test_parameter_change_preserves_surfaces_propeller_battery_and_mixer():
    old = plane(battery_capacity_mah=1000.0)
    old.set_mixer(direct_mixer(throttle=5))
    pwm = outputs(0.3, 0.2, 0.1)
    pwm[5] = 1800.0
    for _ in range(100):
        old.update(truth((15.0, 0.0, 0.0)), CALM, pwm, 0.0025)
    assert old.propeller_speed > 100.0
    new = plane(battery_capacity_mah=1000.0, C_D_O=0.05)
    new.adopt(old)
    assert np.array_equal(new.deflections, old.deflections)
    assert np.array_equal(new.mixer, old.mixer)
    assert (new.propeller_speed, new.charge_drawn_ah, new.battery_voltage) == (
        old.propeller_speed,
        old.charge_drawn_ah,
        old.battery_voltage,
    )


@pytest.mark.parametrize("mixer", [np.zeros((4, 14)), np.full((4, 15), np.nan)])
def test_mixer_with_wrong_shape_or_non_finite_values_is_rejected(mixer):
    one = plane()
    before = one.mixer.copy()
    with pytest.raises(ValueError, match="4 by 15 finite numbers"):
        one.set_mixer(mixer)
    assert np.array_equal(one.mixer, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wing_s", 0.0),
        ("wing_epsilon", 0.0),
        ("wing_M", -1.0),
        ("servo_tau", -0.1),
        ("max_rudder_deflection_angle", 91.0),
        ("propeller_inflow", "none"),
        ("C_m_alpha", math.nan),
    ],
)
def test_out_of_range_values_are_rejected_by_name(name, value):
    with pytest.raises(ParameterError, match=name):
        plane(**{name: value})


@pytest.mark.parametrize("name", ["C_n_delta_a", "wing_c", "KQ"])
def test_missing_value_is_rejected_by_name(name):
    values = FIXEDWING_PARAMETERS.defaults()
    del values[name]
    with pytest.raises(ParameterError, match=f"'{name}' is missing"):
        FIXEDWING_PARAMETERS.checked(values)


def test_current_limit_bounds_motor_current():
    currents = {0.0: 0.0, 60.0: 0.0}
    for limit in currents:
        vehicle = plane(esc_current_limit=limit, battery_internal_resistance=0.02)
        for _ in range(200):
            vehicle.update(at(15.0, 0.02), CALM, outputs(throttle=1.0), 0.0025)
            currents[limit] = max(currents[limit], vehicle.current_a)
    assert currents[60.0] <= 60.0 < currents[0.0]


def test_damping_acts_on_the_rates_relative_to_the_air():
    rates = np.array([0.4, -0.3, 0.2])
    at_rest, turning = plane(**IMMEDIATE), plane(**IMMEDIATE)
    expected = at_rest.update(at(20.0, 0.05), CALM, outputs(), 0.01).copy()
    with_air = turning.update(at(20.0, 0.05, rates=rates), CALM, outputs(), 0.01, rates)
    # Rates and gusts cancel to rounding.
    assert with_air == pytest.approx(expected, rel=1e-12)
    against = plane(**IMMEDIATE).update(at(20.0, 0.05), CALM, outputs(), 0.01, -rates)
    assert against == pytest.approx(plane(**IMMEDIATE).update(at(20.0, 0.05, rates=rates), CALM, outputs(), 0.01))
    assert np.all(np.abs(against - expected)[3:] > 0.05)


@pytest.mark.parametrize("airspeed", [0.0, 12.0, 30.0])
def test_slipstream_speed_satisfies_momentum_theory(airspeed):
    thrust, diameter = 25.0, 0.4
    speed = slipstream_speed(thrust, airspeed, DENSITY, diameter)
    # Thrust is mass flow times gain of speed; half of the gain is reached at the disk.
    flow = DENSITY * math.pi / 4.0 * diameter**2 * (airspeed + 0.5 * speed)
    assert flow * speed == pytest.approx(thrust, rel=1e-12)
    assert (
        slipstream_speed(0.0, airspeed, DENSITY, diameter) == slipstream_speed(-5.0, airspeed, DENSITY, diameter) == 0.0
    )


def blown(state, share, elevator=0.0, rudder=0.0, **values):
    """Wrench with a running propeller, and the speed of its slipstream (m/s)."""
    aircraft = plane(slipstream_tail_share=share, wing_alpha0=10.0, **values)
    wrench = aircraft.steady_wrench(state, CALM, 0.0, elevator, rudder, 0.8)
    thrust = (wrench - plane(wing_alpha0=10.0, **values).steady_wrench(state, CALM, 0.0, elevator, rudder, 0.0))[0]
    return wrench, slipstream_speed(thrust, state[7], DENSITY, 0.381)


def test_surfaces_of_the_tail_work_in_the_slipstream_of_an_aircraft_at_rest():
    elevator, rudder, share = -0.2, 0.15, 0.6
    values = {"C_L_delta_e": 0.0, "C_D_delta_e": 0.0}
    straight, speed = blown(truth((0.0, 0.0, 0.0)), share, **values)
    deflected, _ = blown(truth((0.0, 0.0, 0.0)), share, elevator, rudder, **values)
    assert speed > 15.0
    pressure = share * 0.5 * DENSITY * speed**2 * AREA
    expected = [0.0, 0.19 * rudder, 0.0, 0.0024 * SPAN * rudder, -0.99 * CHORD * elevator, -0.069 * SPAN * rudder]
    assert deflected - straight == pytest.approx(pressure * np.array(expected), rel=1e-9, abs=1e-12)
    # Without a slipstream, the surfaces have no effect.
    assert blown(truth((0.0, 0.0, 0.0)), 0.0, elevator, rudder)[0] == pytest.approx(straight, abs=1e-12)


def test_slipstream_adds_to_pitch_and_yaw_damping_but_not_to_that_of_the_wing():
    share, q, r = 0.6, 0.3, 0.2
    state = at(18.0, 0.0, rates=(0.0, q, r))
    damping = []
    for tail in (0.0, share):
        turning, speed = blown(state, tail)
        damping.append(turning - blown(at(18.0, 0.0), tail)[0])
    gain = 0.25 * DENSITY * share * speed * AREA
    yaw = gain * SPAN * r
    expected = [0.0, 0.0, -gain * CHORD * q * 7.95, 0.0, -38.21 * gain * CHORD**2 * q, -0.1541 * SPAN * yaw]
    # The windmilling propeller pushes with 4e-6 of the thrust.
    assert damping[1] - damping[0] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_wing_in_the_slipstream_has_the_lift_of_its_speed():
    state, share = at(18.0, 0.06), 0.2
    plain, speed = blown(state, 0.0)
    fast, _ = blown(state, 0.0, slipstream_wing_share=share)
    u, w = state[7], state[9]

    def force(along):
        """Lift and drag of the attached flow, along body x and z."""
        alpha, scale = math.atan2(w, along), 0.5 * DENSITY * (along**2 + w**2) * AREA
        lift = 0.506 + 5.61 * alpha
        drag = 0.043 + 0.03 * alpha + lift**2 / (math.pi * 0.9 * SPAN**2 / AREA)
        sine, cosine = math.sin(alpha), math.cos(alpha)
        return scale * np.array([lift * sine - drag * cosine, -lift * cosine - drag * sine])

    change = fast - plain
    # The windmilling propeller pushes with 4e-6 of the thrust.
    assert change[[0, 2]] == pytest.approx(share * (force(u + speed) - force(u)), rel=1e-5)
    assert change[[1, 3, 4, 5]] == pytest.approx(0.0, abs=1e-12)


def test_tail_in_still_slipstream_is_as_without_one():
    state = at(20.0, 0.05, 0.1, (0.3, -0.2, 0.25))
    gliding_tail = gliding(state, 0.1, -0.15, 0.2, slipstream_tail_share=1.0, slipstream_wing_share=1.0)
    assert gliding_tail == pytest.approx(gliding(state, 0.1, -0.15, 0.2), rel=1e-9)
