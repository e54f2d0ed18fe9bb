"""Free motion of the rigid body against closed forms and conservation laws."""

import math

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, StateDivergedError, VehicleDynamics
from rosflight_py_sim.physics.rotations import rotate_to_inertial

NO_FORCE = np.zeros(6)


def vehicle(**values):
    given = {"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12, "ground_contact": False, **values}
    return VehicleDynamics(DYNAMICS_PARAMETERS.checked(given))


def state(position=(0, 0, 0), quaternion=(1, 0, 0, 0), velocity=(0, 0, 0), rates=(0, 0, 0)):
    return np.concatenate([position, quaternion, velocity, rates, np.zeros(6)]).astype(float)


def angular_momentum_ned(truth, inertia):
    return np.array(rotate_to_inertial(*truth[3:7], *(inertia @ truth[10:13])))


def test_free_fall_is_parabolic_while_rotating():
    body = vehicle()
    body.set_truth(state(velocity=(1.0, 2.0, -3.0), rates=(2.0, -1.0, 0.5)))
    for _ in range(400):
        body.step(NO_FORCE, 0.0025)
    # The velocity is integrated in inertial axes: the remaining error is rounding.
    assert body.truth[:3] == pytest.approx((1.0, 2.0, -3.0 + 9.81 / 2), abs=1e-12)
    assert np.linalg.norm(body.truth[13:16]) == pytest.approx(9.81, rel=1e-14)


def test_constant_force_and_moment_accelerate_mass_and_inertia():
    body = vehicle(gravity=0.0)
    for _ in range(100):
        body.step(np.array([7.0, 0.0, 0.0, 0.04, 0.0, 0.0]), 0.01)
    assert body.truth[7] == pytest.approx(2.0, rel=1e-13)
    assert body.truth[10] == pytest.approx(0.5, rel=1e-13)
    assert body.truth[13:19] == pytest.approx((2.0, 0.0, 0.0, 0.5, 0.0, 0.0), abs=1e-13)


def driven(body, forces, dt=0.01):
    """Step with forces along x (N), one for each step of `dt` (s) or of its own length."""
    for force, step in zip(forces, np.broadcast_to(dt, len(forces)), strict=True):
        body.step(np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0]), float(step))
    return body


def test_first_order_hold_is_exact_for_linear_force():
    body = driven(vehicle(gravity=0.0, wrench_hold="first_order"), 3.5 * 2.0 * np.arange(0.0, 1.0, 0.01))
    # a = 2 t, except in the first step, which holds the force of 0.
    assert body.truth[7] == pytest.approx(1.0 - 1e-4, rel=1e-12)
    assert body.truth[0] == pytest.approx(1.0 / 3.0 - 1e-4 * 1.0 + 2.0 / 3.0 * 1e-6, rel=1e-9)
    # The accelerometer feels the wrenches of 0.99 and 0.98 s.
    assert body.truth[13] == pytest.approx(0.85 * 1.98 + 0.15 * 1.96, rel=1e-12)


def test_second_order_hold_is_exact_for_quadratic_force():
    times = np.arange(0.0, 1.0, 0.01)
    body = driven(vehicle(gravity=0.0, wrench_hold="second_order"), 3.5 * 3.0 * times**2)
    # a = 3 t^2, except in the first step, which holds the force of 0, and the second, in which it is linear:
    # 1e-6 and 8e-6 - 1e-6 m/s become 0 and (3e-4 + 6e-4) / 2 * 0.01.
    assert body.truth[7] == pytest.approx(1.0 - 8e-6 + 4.5e-6, rel=1e-12)
    assert body.truth[13] == pytest.approx(3.0 * (0.85 * 0.99**2 + 0.15 * 0.98**2), rel=1e-12)


def test_second_order_hold_is_linear_after_a_change_of_the_step():
    body = driven(vehicle(gravity=0.0, wrench_hold="second_order"), [0.0, 3.5, 14.0, 24.5], dt=[0.01, 0.01, 0.01, 0.02])
    # 0, 1, 4 and 7 m/s^2: held, linear, along a parabola, and linear at 3 m/s^2 in each step of 0.02 s.
    assert body.truth[7] == pytest.approx(0.015 + 0.19 / 3.0 + 0.17, rel=1e-12)


def test_zero_order_hold_ignores_earlier_forces():
    body = driven(vehicle(gravity=0.0), [35.0, 3.5])
    assert body.truth[7] == pytest.approx(0.11, rel=1e-12)
    # The accelerometer feels a mean of the last two forces.
    assert body.truth[13] == pytest.approx(0.85 * 1.0 + 0.15 * 10.0, rel=1e-12)


def test_first_order_hold_extrapolates_no_further_than_the_last_change():
    body = driven(vehicle(gravity=0.0, wrench_hold="first_order"), [0.0, 3.5], dt=[1e-5, 0.02])
    # From 1 to 2 m/s^2 over the step, not to 2001.
    assert body.truth[7] == pytest.approx(0.03, rel=1e-12)


@pytest.mark.parametrize("hold", ["first_order", "second_order"])
@pytest.mark.parametrize("jump", ["set_truth", "start_over", "adopt", "start"])
def test_extrapolation_starts_again_after_a_jump(jump, hold):
    body = vehicle(gravity=0.0, wrench_hold=hold, ground_contact=jump == "start")
    if jump != "start":
        driven(body, [0.0, 35.0, 7.0])
    if jump == "set_truth":
        body.set_truth(state())
    elif jump == "start_over":
        body.start_over()
    elif jump == "adopt":
        old, body = body, vehicle(gravity=0.0, wrench_hold=hold)
        body.adopt(old)
    before = body.truth[7]
    driven(body, [3.5])
    assert body.truth[7] - before == pytest.approx(0.01, rel=1e-9)


def test_symmetric_top_precesses_at_closed_form_rate():
    body = vehicle(gravity=0.0)
    body.set_truth(state(rates=(0.5, 0.0, 3.0)))
    for _ in range(4000):
        body.step(NO_FORCE, 0.0025)
    rate = (0.12 - 0.08) / 0.08 * 3.0
    # p and q turn by 15 rad; fourth order at 7.5e-3 rad a step leaves an error far below this.
    assert body.truth[10:13] == pytest.approx((0.5 * math.cos(10 * rate), 0.5 * math.sin(10 * rate), 3.0), abs=1e-8)


def test_torque_free_tumbling_conserves_energy_and_angular_momentum():
    values = {"Jxx": 0.25, "Jyy": 0.38, "Jzz": 0.6, "Jxz": 0.06, "Jxy": -0.01, "Jyz": 0.02}
    inertia = np.array([[0.25, -0.01, 0.06], [-0.01, 0.38, 0.02], [0.06, 0.02, 0.6]])
    body = vehicle(gravity=0.0, **values)
    body.set_truth(state(rates=(1.0, 4.0, 0.3)))
    momentum = angular_momentum_ned(body.truth, inertia)
    energy = body.truth[10:13] @ inertia @ body.truth[10:13]
    for _ in range(24000):
        body.step(NO_FORCE, 0.0025)
    # One minute at 0.01 rad a step: local error of order 1e-12, 24000 times.
    assert angular_momentum_ned(body.truth, inertia) == pytest.approx(momentum, abs=1e-7)
    assert body.truth[10:13] @ inertia @ body.truth[10:13] == pytest.approx(energy, rel=1e-7)
    assert np.linalg.norm(body.truth[3:7]) == pytest.approx(1.0, abs=1e-15)


def test_integration_error_is_fourth_order_in_step_size():
    def end(dt):
        body = vehicle(gravity=0.0, Jxx=0.05)
        body.set_truth(state(rates=(1.0, 4.0, 0.3)))
        for _ in range(round(1.0 / dt)):
            body.step(NO_FORCE, dt)
        return body.truth[3:7].copy()

    exact = end(0.0005)
    ratio = np.linalg.norm(end(0.02) - exact) / np.linalg.norm(end(0.01) - exact)
    assert 12.0 < ratio < 20.0


def test_off_diagonal_inertia_keeps_its_sign_in_the_matrix():
    body = vehicle(gravity=0.0, Jxx=0.25, Jyy=0.38, Jzz=0.6, Jxz=0.06)
    body.step(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 1e-6)
    matrix = np.array([[0.25, 0.0, 0.06], [0.0, 0.38, 0.0], [0.06, 0.0, 0.6]])
    # Rates of 4e-6 rad/s leave gyroscopic terms of order 1e-11.
    assert body.truth[16:19] == pytest.approx(np.linalg.solve(matrix, [1.0, 0.0, 0.0]), abs=1e-9)


def test_published_aircraft_inertia_is_accepted():
    body = vehicle(mass=4.5, Jxx=0.24855, Jyy=0.3784, Jzz=0.618, Jxz=0.06, ground_contact=True)
    assert body.initial_truth[:7] == pytest.approx((0, 0, body.initial_truth[2], 1, 0, 0, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"mass": 0.0}, "mass"),
        ({"mass": -1.0}, "mass"),
        ({"Jxx": 0.0}, "Jxx"),
        ({"Jxz": 0.2}, "positive definite"),
        ({"ground_contact": True, "contact_points": [0.1, 0.2]}, "contact_points"),
        ({"ground_contact": True, "contact_points": []}, "contact_points"),
        ({"ground_contact": True, "contact_points": [1.0, 0.1, 0.1, 1.0, -0.1, 0.1]}, "contact_points"),
    ],
)
def test_impossible_body_is_rejected_by_name(values, name):
    with pytest.raises(ParameterError, match=name):
        vehicle(**values)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (state(position=(math.nan, 0, 0)), "position is not finite"),
        (state(position=(1e9, 0, 0)), "position is beyond"),
        (state(velocity=(0, math.inf, 0)), "velocity is not finite"),
        (state(rates=(0, 0, math.nan)), "body rate is not finite"),
        (state(rates=(8000, 8000, 0)), r"body rate is beyond 10000"),
        (state(rates=(0, 0, 9000)), r"may reach \S+ rad/s as the vehicle tumbles; allowed: 10000"),
        (state(quaternion=(0, 0, 0, 0)), "quaternion has length 0"),
        (state(quaternion=(1.02, 0, 0, 0)), "quaternion has length 1.02"),
        (state(quaternion=(math.nan, 0, 0, 0)), "attitude is not finite"),
        (np.zeros(13), "19 elements"),
    ],
)
def test_impossible_state_is_rejected_with_reason_and_changes_nothing(broken, reason):
    body = vehicle()
    before = body.truth.copy()
    with pytest.raises(ValueError, match=reason):
        body.set_truth(broken)
    assert np.array_equal(body.truth, before)


def test_accepted_body_rate_never_diverges_by_tumbling():
    inertia = {"Jxx": 0.25, "Jyy": 0.38, "Jzz": 0.6, "Jxz": 0.06, "gravity": 0.0}
    body, highest = vehicle(**inertia), 0.0
    body.set_truth(state(rates=(100.0, 7500.0, 100.0)))
    for _ in range(2000):
        body.step(NO_FORCE, 0.0025)
        highest = max(highest, float(np.linalg.norm(body.truth[10:13])))
    assert 7600.0 < highest < 1e4


def test_slightly_denormalised_quaternion_is_normalised():
    body = vehicle()
    body.set_truth(state(quaternion=(1.009, 0, 0, 0)))
    assert body.truth[3:7].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_accelerations_in_a_given_state_are_recomputed():
    body = vehicle()
    given = state()
    given[13:19] = 99.0
    body.set_truth(given)
    assert body.truth[13:19].tolist() == [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("wrench", "quantity"),
    [
        ([0, math.nan, 0, 0, 0, 0], "force"),
        ([1e9, 0, 0, 0, 0, 0], "velocity"),
        ([0, 0, 0, 1e9, 0, 0], "body rate"),
        ([0, 0, 0, 0, math.inf, 0], "moment"),
    ],
)
def test_divergence_error_names_the_quantity_and_keeps_last_valid_state(wrench, quantity):
    body = vehicle()
    body.step(NO_FORCE, 0.0025)
    good = body.truth.copy()
    with pytest.raises(StateDivergedError) as caught:
        body.step(np.array(wrench, dtype=float), 0.0025)
    assert caught.value.quantity == quantity
    assert not abs(caught.value.value) < 1e4
    assert np.array_equal(body.truth, good)
    body.step(NO_FORCE, 0.0025)
    assert np.all(np.isfinite(body.truth))


def test_mass_change_preserves_motion():
    old, new = vehicle(), vehicle(mass=7.0)
    for _ in range(10):
        old.step(np.array([7.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.01)
    new.adopt(old)
    assert np.array_equal(new.truth[:13], old.truth[:13])
    assert new.truth[13] == pytest.approx(old.truth[13] / 2, rel=1e-14)
