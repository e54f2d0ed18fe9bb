"""Standing, dropping, sliding and tumbling on the ground."""

import math

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler, rotate_to_inertial

NO_FORCE = np.zeros(6)
STEPS = (0.0005, 0.0025, 0.01)


def vehicle(**values):
    given = {"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, **values}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked(given))


def run(body, seconds, dt=0.0025, wrench=NO_FORCE):
    for _ in range(round(seconds / dt)):
        body.step(wrench, dt)


def angle_between(truth, other):
    return 2.0 * math.acos(min(1.0, abs(float(truth[3:7] @ other[3:7]))))


@pytest.mark.parametrize("side_force", [0.0, 1.3])
def test_vehicle_at_rest_stays_at_rest_for_a_minute(side_force):
    # 1.3 N is the drag of the multirotor's body in 5 m/s of wind.
    body = vehicle()
    wrench = np.array([0.0, side_force, 0.0, 0.0, 0.0, 0.0])
    run(body, 60.0, wrench=wrench)
    assert np.linalg.norm(body.truth[:3] - body.initial_truth[:3]) < 1e-4
    assert angle_between(body.truth, body.initial_truth) < math.radians(0.01)


def test_unsteady_side_force_below_friction_causes_no_creep():
    body = vehicle()
    wrench = np.zeros(6)
    for k in range(40000):
        wrench[0] = 5.0 * math.sin(0.003 * k)
        wrench[1] = 5.0 + 3.0 * math.sin(0.05 * k)
        body.step(wrench, 0.0025)
    assert np.linalg.norm(body.truth[:2]) < 1e-3


def test_vehicle_at_rest_has_zero_acceleration():
    body = vehicle()
    run(body, 1.0)
    # With positions of 0.1 m, a depth of 0.6 mm is known to 1e-17 m; times stiffness over mass, 1.6e4 /s^2.
    assert np.max(np.abs(body.truth[13:19])) < 1e-11


def test_static_sink_depth_matches_contact_frequency():
    body = vehicle()
    assert 0.1 + body.initial_truth[2] == pytest.approx(9.81 / (2 * math.pi * 20.0) ** 2, rel=1e-9)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("speed", [0.5, 5.0, 20.0])
def test_dropped_vehicle_stays_above_ground_bounces_little_and_settles(dt, speed):
    body = vehicle()
    start = body.initial_truth.copy()
    start[2] -= 0.3
    start[9] = speed
    body.set_truth(start)
    lowest, rebound = -np.inf, 0.0
    for _ in range(round(3.0 / dt)):
        body.step(NO_FORCE, dt)
        lowest = max(lowest, body.truth[2])
        rebound = min(rebound, body.truth[9])
    impact = math.sqrt(speed**2 + 2 * 9.81 * 0.3)
    # The feet may sink in, the centre of mass 0.1 m above them may not; a damping ratio of 0.7 leaves a fifth.
    assert lowest < 0.0
    assert -rebound < 0.3 * impact
    assert body.truth[:13] == pytest.approx(body.initial_truth[:13], abs=1e-9)


@pytest.mark.parametrize("dt", STEPS)
def test_tumbling_vehicle_settles_above_ground(dt):
    generator = np.random.default_rng(3)
    for _ in range(4):
        body = vehicle()
        quaternion = generator.standard_normal(4)
        start = np.zeros(19)
        start[2] = -1.0
        start[3:7] = quaternion / np.linalg.norm(quaternion)
        start[7:10] = generator.uniform(-5.0, 5.0, 3)
        start[10:13] = generator.uniform(-10.0, 10.0, 3)
        body.set_truth(start)
        lowest = -np.inf
        for _ in range(round(8.0 / dt)):
            body.step(NO_FORCE, dt)
            lowest = max(lowest, body.truth[2])
        assert lowest < 0.0
        assert np.max(np.abs(body.truth[7:19])) < 1e-6


def test_sliding_vehicle_stops_after_coulomb_distance():
    # Feet at the height of the centre of mass, so that braking does not load the front feet.
    points = [0.2, 0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0, -0.2, -0.2, 0.0]
    body = vehicle(contact_points=points, contact_friction=0.5)
    start = body.initial_truth.copy()
    start[7] = 3.0
    body.set_truth(start)
    run(body, 2.0)
    # v^2 / (2 mu g), less than the anchors' elastic millimetre off.
    assert body.truth[0] == pytest.approx(3.0**2 / (2 * 0.5 * 9.81), abs=1e-3)
    assert np.linalg.norm(body.truth[7:10]) < 1e-6


def test_force_above_friction_accelerates_vehicle_by_the_excess():
    points = [0.2, 0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0, -0.2, -0.2, 0.0]
    body = vehicle(contact_points=points, contact_friction=0.5)
    force = 1.2 * 0.5 * 3.5 * 9.81
    run(body, 2.0, wrench=np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0]))
    # 0.2 mu g over 2 s; the anchors stretch first, for about a hundredth of a second.
    assert body.truth[7] == pytest.approx(0.2 * 0.5 * 9.81 * 2.0, rel=0.01)


def test_vehicle_rests_on_three_wheels_with_nose_up():
    tail_dragger = [0.3, 0.5, 0.4, 0.3, -0.5, 0.4, -1.0, 0.0, 0.1]
    body = vehicle(Jxx=0.25, Jyy=0.4, Jzz=0.6, contact_points=tail_dragger)
    _, pitch, _ = euler_from_quaternion(*body.initial_truth[3:7])
    assert pitch == pytest.approx(math.atan2(0.3, 1.3), abs=0.01)
    run(body, 5.0)
    assert body.truth[:13] == pytest.approx(body.initial_truth[:13], abs=1e-8)


@pytest.mark.parametrize(("mass", "inertia"), [(0.03, 1.5e-5), (3.5, 1e-3), (500.0, 80.0)])
def test_contact_model_works_for_any_vehicle_mass(mass, inertia):
    body = vehicle(mass=mass, Jxx=inertia, Jyy=inertia, Jzz=1.5 * inertia)
    start = body.initial_truth.copy()
    start[2] -= 0.5
    start[3:7] = quaternion_from_euler(0.4, 0.3, 1.0)
    body.set_truth(start)
    run(body, 4.0)
    assert np.max(np.abs(body.truth[7:19])) < 1e-6
    assert body.truth[2] == pytest.approx(body.initial_truth[2], abs=1e-6)


def test_vehicle_placed_below_ground_is_lifted_without_overshoot():
    body = vehicle()
    buried = body.initial_truth.copy()
    buried[2] = 5.0
    body.set_truth(buried)
    assert body.truth[2] == pytest.approx(body.initial_truth[2], abs=1e-12)
    run(body, 1.0)
    assert body.truth[:13] == pytest.approx(body.initial_truth[:13], abs=1e-9)


def test_ground_may_be_above_the_origin():
    body = vehicle(ground_altitude=12.0)
    assert body.initial_truth[2] == pytest.approx(vehicle().initial_truth[2] - 12.0, abs=1e-12)


def test_contact_state_survives_parameter_change():
    old = vehicle()
    force = np.array([10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    run(old, 1.0, wrench=force)
    new = vehicle(gravity=9.80665)
    new.adopt(old)
    run(new, 1.0, wrench=force)
    assert new.truth[0] == pytest.approx(old.truth[0], abs=1e-5)


def test_thrust_above_weight_lifts_off():
    body = vehicle()
    run(body, 1.0, wrench=np.array([0.0, 0.0, -2.0 * 3.5 * 9.81, 0.0, 0.0, 0.0]))
    # From the ground's support of one weight the first hundredths of a second are quicker by the spring's 0.6 mm.
    assert body.truth[2] == pytest.approx(body.initial_truth[2] - 0.5 * 9.81, abs=0.1)
    assert rotate_to_inertial(*body.truth[3:7], 0.0, 0.0, 1.0) == pytest.approx((0.0, 0.0, 1.0), abs=1e-12)


WHEELS = {
    "Jxx": 0.25,
    "Jyy": 0.4,
    "Jzz": 0.6,
    "contact_points": [-0.1, 0.3, 0.2, -0.1, -0.3, 0.2, 0.4, 0.0, 0.2],
    "contact_rolling_friction": [0.05, 0.05, 0.05],
}


def rolling(speed_north, speed_east=0.0, yaw=0.0, **values):
    body = vehicle(**{**WHEELS, **values})
    start = body.initial_truth.copy()
    start[3:7] = quaternion_from_euler(*euler_from_quaternion(*start[3:7])[:2], yaw)
    start[7] = math.cos(yaw) * speed_north + math.sin(yaw) * speed_east
    start[8] = -math.sin(yaw) * speed_north + math.cos(yaw) * speed_east
    body.set_truth(start)
    return body


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_rolling_wheels_stop_by_rolling_friction(yaw):
    body = rolling(3.0 * math.cos(yaw), 3.0 * math.sin(yaw), yaw)
    run(body, 2.0)
    # Pitch settles to the braking within the first tenths, which moves the centre of mass by millimetres.
    assert np.linalg.norm(body.truth[7:10]) == pytest.approx(3.0 - 2.0 * 0.05 * 9.81, rel=0.01)
    assert body.truth[:2] @ (-math.sin(yaw), math.cos(yaw)) == pytest.approx(0.0, abs=1e-3)
    run(body, 6.0)
    assert np.linalg.norm(body.truth[7:10]) < 1e-6


def test_wheels_do_not_slide_sideways():
    body = rolling(0.0)
    force = 0.5 * 0.6 * 3.5 * 9.81
    run(body, 10.0, wrench=np.array([0.0, force, 0.0, 0.0, 0.0, 0.0]))
    assert np.linalg.norm(body.truth[:2]) < 0.01


def test_rolling_wheels_keep_their_side_force():
    body = rolling(5.0, contact_rolling_friction=[0.0, 0.0, 0.0])
    run(body, 3.0, wrench=np.array([0.0, 5.0, 0.0, 0.0, 0.0, 0.0]))
    assert body.truth[0] == pytest.approx(15.0, rel=0.01)
    assert abs(body.truth[1]) < 0.05


def test_vehicle_on_wheels_at_rest_stays_at_rest_for_a_minute():
    body = vehicle(**WHEELS)
    # Less than the 1.7 N at which it begins to roll.
    run(body, 60.0, wrench=np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    assert np.linalg.norm(body.truth[:3] - body.initial_truth[:3]) < 1e-4
    assert angle_between(body.truth, body.initial_truth) < math.radians(0.01)


TRICYCLE = {**WHEELS, "contact_rolling_friction": [0.0] * 3, "contact_steering": [0.0, 0.0, 20.0]}
TAIL_DRAGGER = {
    **TRICYCLE,
    "contact_points": [0.1, 0.3, 0.2, 0.1, -0.3, 0.2, -0.6, 0.0, 0.2],
    "contact_steering": [0.0, 0.0, -20.0],
}


def circle_through(places):
    """Centre and radius of the circle that fits best, by least squares."""
    matrix = np.column_stack([2.0 * places, np.ones(len(places))])
    north, east, rest = np.linalg.lstsq(matrix, np.sum(places**2, axis=1), rcond=None)[0]
    return np.array([north, east]), math.sqrt(rest + north**2 + east**2)


@pytest.mark.parametrize("command", [1.0, 0.5, -1.0])
@pytest.mark.parametrize(("gear", "axle"), [(TRICYCLE, -0.1), (TAIL_DRAGGER, 0.1)])
def test_steered_wheel_turns_axle_on_circle_of_wheelbase_over_tangent(gear, axle, command):
    body = rolling(0.5, **gear)
    body.steering.turn(command)
    places = []
    for _ in range(8):
        run(body, 0.5)
        n, e, _ = rotate_to_inertial(*body.truth[3:7], axle, 0.0, 0.2)
        places.append(np.add(body.truth[:2], (n, e)))
    centre, radius = circle_through(np.array(places))
    wheelbase = abs(gear["contact_points"][6] - axle)
    # At 0.1 m/s^2 sideways the anchors stretch by a tenth of a millimetre, and roll and pitch move the wheels by less.
    assert radius == pytest.approx(wheelbase / math.tan(math.radians(20.0) * abs(command)), rel=5e-3)
    assert math.copysign(1.0, centre[1]) == math.copysign(1.0, command)


def test_wheels_steered_straight_equal_unsteered_wheels():
    steered, straight = rolling(5.0, 0.5, **TRICYCLE), rolling(5.0, 0.5, **{**TRICYCLE, "contact_steering": []})
    for body in (steered, straight):
        body.steering.follow([1500.0] * 14)
        run(body, 2.0, wrench=np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.5]))
    assert np.array_equal(steered.truth, straight.truth)


def test_steering_command_is_clamped_weighted_sum_of_outputs():
    body = vehicle(**{**TRICYCLE, "steering_mix": [0.0, -1.0, 0.5]})
    pwm = [1500.0] * 14
    pwm[1:3] = 1400.0, 1600.0
    body.steering.follow(pwm)
    assert body.steering.command == pytest.approx(0.2 + 0.1)
    body.steering.follow([1500.0, 900.0, *[1500.0] * 12])
    assert body.steering.command == 1.0
    changed = vehicle(**{**TRICYCLE, "steering_mix": [0.0, -1.0, 0.5], "gravity": 9.8})
    changed.adopt(body)
    assert changed.steering.command == 1.0
    changed.start_over()
    assert changed.steering.command == 0.0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"contact_steering": [1.0] * 4}, r"contact_steering.*4 numbers given; allowed: at most 3"),
        ({"contact_rolling_friction": [0.1]}, r"contact_steering.*20 deg given for point 2, which does not roll"),
        ({"steering_mix": [1.0] * 15}, r"steering_mix.*15 weights given; allowed: at most 14"),
    ],
)
def test_steering_of_unknown_wheel_or_output_is_rejected(given, text):
    with pytest.raises(ParameterError, match=text):
        vehicle(**{**TRICYCLE, **given})


BRAKES = {**WHEELS, "contact_braking_friction": [0.25] * 3}


@pytest.mark.parametrize("command", [0.0, 0.4, 1.0])
def test_braked_wheels_stop_by_rolling_and_braking_friction(command):
    body = rolling(3.0, **BRAKES, brake_offset=command)
    run(body, 0.6)
    friction = 0.05 + 0.25 * command
    # Pitch settles to the braking within the first tenths, which moves the centre of mass by millimetres.
    assert body.truth[7] == pytest.approx(3.0 - 0.6 * friction * 9.81, rel=0.02)


def test_brakes_beyond_the_grip_lock_the_wheels():
    body = rolling(6.0, **{**BRAKES, "contact_braking_friction": [5.0] * 3}, brake_offset=1.0)
    run(body, 0.6)
    # contact_friction is 0.6.
    assert body.truth[7] == pytest.approx(6.0 - 0.6 * 0.6 * 9.81, rel=0.03)


def test_parked_vehicle_is_held_until_the_push_exceeds_its_brakes():
    load = 3.5 * 9.81
    for push, is_held in ((0.28 * load, True), (0.32 * load, False)):
        body = vehicle(**BRAKES, brake_offset=1.0)
        run(body, 3.0, wrench=np.array([push, 0.0, 0.0, 0.0, 0.0, 0.0]))
        assert (abs(body.truth[0] - body.initial_truth[0]) < 0.02) == is_held
    unbraked = vehicle(**BRAKES)
    run(unbraked, 3.0, wrench=np.array([0.28 * load, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert unbraked.truth[0] > 5.0


def test_brake_command_is_clamped_weighted_sum_of_outputs_with_offset():
    mix = {"brake_mix": [0.0, 0.0, 0.0, 0.0, -10.0], "brake_offset": -9.0}
    body = vehicle(**BRAKES, **mix)
    assert body.follows_outputs
    assert not vehicle(**BRAKES, brake_offset=1.0).follows_outputs
    for throttle, command in ((0.0, 1.0), (0.02, 0.6), (0.05, 0.0), (1.0, 0.0)):
        body.follow_outputs([*[1500.0] * 4, 1000.0 + 1000.0 * throttle, *[1500.0] * 9])
        assert body.brakes.command == pytest.approx(command, abs=1e-12)
    body.follow_outputs([*[1500.0] * 4, 1020.0, *[1500.0] * 9])
    changed = vehicle(**BRAKES, **mix, gravity=9.8)
    changed.adopt(body)
    assert changed.brakes.command == pytest.approx(0.6)
    changed.start_over()
    assert changed.brakes.command == 0.0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"contact_braking_friction": [0.1] * 4}, r"contact_braking_friction.*4 numbers given; allowed: at most 3"),
        ({"contact_rolling_friction": [0.1]}, r"contact_braking_friction.*0.25 given for point 1, which does not roll"),
        ({"brake_mix": [1.0] * 15}, r"brake_mix.*15 weights given; allowed: at most 14"),
    ],
)
def test_brake_of_unknown_wheel_or_output_is_rejected(given, text):
    with pytest.raises(ParameterError, match=text):
        vehicle(**{**BRAKES, **given})


def test_more_rolling_frictions_than_contact_points_are_rejected():
    with pytest.raises(ParameterError, match=r"contact_rolling_friction.*4 numbers given; allowed: at most 3"):
        vehicle(**{**WHEELS, "contact_rolling_friction": [0.1] * 4})
