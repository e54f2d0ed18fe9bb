"""Angular momentum of turning rotors: reaction to their acceleration, gyroscopic moments, conservation."""

import numpy as np
import pytest

from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.rotations import rotate_to_inertial

INERTIA = 3e-4
CALM = np.zeros(3)
IN_VACUUM = {"use_standard_atmosphere": False, "rho": 0.0}
JXX, JYY, JZZ = 0.08, 0.09, 0.12
# Tilted, so that every axis has a share.
TILTS = [10.0, 5.0, -20.0, 0.0, 15.0, -10.0, 0.0, 25.0]


def rotors(**values):
    given = {
        "rotor_dists": [0.25] * 4,
        "rotor_radial_angles": [45.0, 135.0, 225.0, 315.0],
        "rotor_rotation_directions": [-1, 1, -1, 1],
        "rotor_tilts": TILTS,
        "rotor_inertia": INERTIA,
    }
    return Multirotor(MULTIROTOR_PARAMETERS.checked({**MULTIROTOR_PARAMETERS.defaults(), **given, **values}))


def rotor_momentum(speeds):
    """Body axes (3,): a rotor with direction 1 turns to the right, seen from above."""
    roll, pitch = np.radians(np.array(TILTS).reshape(4, 2)).T
    axes = np.array([-np.sin(pitch) * np.cos(roll), np.sin(roll), -np.cos(pitch) * np.cos(roll)])
    return axes @ (INERTIA * np.array([1, -1, 1, -1]) * speeds)


def pulse_widths(throttles):
    pwm = np.full(14, 1000.0)
    pwm[: len(throttles)] += 1000.0 * np.array(throttles)
    return pwm


def state(rates=(0.0, 0.0, 0.0)):
    truth = np.zeros(19)
    truth[2], truth[3], truth[10:13] = -50.0, 1.0, rates
    return truth


def test_gyroscopic_moment_is_rate_across_angular_momentum():
    rates, pwm = (1.0, -2.0, 0.5), pulse_widths([0.5, 0.7, 0.3, 0.6])
    with_inertia, without = rotors(motor_time_constant=0.0), rotors(motor_time_constant=0.0, rotor_inertia=0.0)
    for _ in range(2):
        moment = (
            with_inertia.update(state(rates), CALM, pwm, 0.0025)[3:]
            - without.update(state(rates), CALM, pwm, 0.0025)[3:]
        )
    expected = -np.cross(rates, rotor_momentum(with_inertia.rotor_speeds))
    assert np.linalg.norm(expected) > 0.1
    assert moment == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dt", [0.0025, 0.01])
def test_impulse_of_reaction_is_change_of_angular_momentum(dt):
    vehicle, light = rotors(), rotors(rotor_inertia=0.0)
    impulse = np.zeros(3)
    # With constant throttles in the end: the acceleration of an instant contains half of that over the coming step.
    for k in range(600):
        pwm = pulse_widths([0.5, 0.2 + 0.005 * min(k, 99), 0.8, 0.1])
        moments = [one.update(state(), CALM, pwm, dt)[3:].copy() for one in (vehicle, light)]
        impulse += dt * (moments[0] - moments[1])
    assert impulse == pytest.approx(-rotor_momentum(vehicle.rotor_speeds), rel=1e-6)


def drift_of_momentum(dt):
    """Largest change of the total angular momentum of a free vehicle in a vacuum, over that of the rotors."""
    vehicle = rotors(**IN_VACUUM, CD=0.0, battery_internal_resistance=0.02)
    body = VehicleDynamics(
        DYNAMICS_PARAMETERS.checked(
            {"mass": 3.5, "gravity": 0.0, "Jxx": JXX, "Jyy": JYY, "Jzz": JZZ, "ground_contact": False}
        )
    )
    body.set_truth(state((0.3, -0.2, 0.4)))
    totals = []
    for k in range(round(3.0 / dt)):
        time = k * dt
        throttles = 0.4 + 0.1 * np.sin(2.0 * time + np.arange(4.0)) if time < 2.0 else np.full(4, 0.4)
        body.step(vehicle.update(body.truth, CALM, pulse_widths(throttles), dt), dt)
        rates = body.truth[10:13]
        total = np.array([JXX, JYY, JZZ]) * rates + rotor_momentum(vehicle.rotor_speeds)
        totals.append(rotate_to_inertial(*body.truth[3:7].tolist(), *total.tolist()))
    spun = np.linalg.norm(INERTIA * vehicle.rotor_speeds)
    start = np.array([JXX, JYY, JZZ]) * (0.3, -0.2, 0.4)
    assert np.linalg.norm(body.truth[10:13]) > 0.1
    return np.abs(np.array(totals) - start).max() / spun


def test_total_angular_momentum_of_body_and_rotors_is_conserved():
    coarse, fine = drift_of_momentum(0.0025), drift_of_momentum(0.00125)
    # The wrench is held over a step: first order.
    assert coarse < 0.1
    assert fine == pytest.approx(0.5 * coarse, rel=0.15)


def test_steady_wrench_has_no_reaction():
    vehicle, light = rotors(), rotors(rotor_inertia=0.0)
    throttles = np.array([0.3, 0.4, 0.5, 0.6])
    assert np.array_equal(
        vehicle.steady_wrench(state(), CALM, throttles), light.steady_wrench(state(), CALM, throttles)
    )


def test_step_of_no_length_has_no_reaction():
    assert np.array_equal(rotors().update(state(), CALM, pulse_widths([0.5] * 4), 0.0), np.zeros(6))


def test_propeller_of_fixed_wing_has_angular_momentum_along_its_thrust():
    values, rates = FIXEDWING_PARAMETERS.defaults(), (0.5, -1.0, 2.0)
    turning, light = (FixedWing(FIXEDWING_PARAMETERS.checked({**values, "rotor_inertia": j})) for j in (INERTIA, 0.0))
    impulse = np.zeros(3)
    pwm = np.full(14, 1500.0)
    for k in range(500):
        pwm[4] = 1500.0 if k == 0 else 1800.0
        moments = [one.update(state(rates), CALM, pwm, 0.0025)[3:].copy() for one in (turning, light)]
        spin = np.array([INERTIA * turning.propeller_speed, 0.0, 0.0])
        impulse += 0.0025 * (moments[0] - moments[1] + np.cross(rates, spin))
    assert turning.propeller_speed > 10.0
    assert impulse == pytest.approx(-spin, rel=1e-6)
