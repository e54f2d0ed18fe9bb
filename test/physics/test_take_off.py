"""The aircraft of config/ on their wheels: parked, in the wind, and off the ground."""

import math

import numpy as np
import pytest
import yaml

from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.vehicles import vehicle

DT = 0.0025
AIRCRAFT = ["anaconda", "aerosonde"]


def configured(name):
    sections = yaml.safe_load(vehicle(name).parameter_file.read_text(encoding="utf-8"))

    def values(table, section):
        given = {**sections["/**"]["ros__parameters"], **sections[section]["ros__parameters"]}
        return table.checked({key: value for key, value in given.items() if key in table})

    body = VehicleDynamics(values(DYNAMICS_PARAMETERS, "/**/dynamics"))
    return body, FixedWing(values(FIXEDWING_PARAMETERS, "/**/forces_and_moments"))


def outputs(aileron=0.0, elevator=0.0, rudder=0.0, throttle=0.0):
    pwm = np.full(14, 1500.0)
    pwm[:3] += 500.0 * np.clip([aileron, elevator, rudder], -1.0, 1.0)
    pwm[4] = 1000.0 + 1000.0 * throttle
    return pwm


@pytest.mark.parametrize("name", AIRCRAFT)
@pytest.mark.parametrize("wind", [(0.0, 0.0), (-3.0, 0.0), (3.0, 0.0), (0.0, 3.0), (2.0, -2.0)])
def test_parked_aircraft_stays_where_it_is(name, wind):
    body, plane = configured(name)
    air = np.array([*wind, 0.0])
    # At once in the wind, it leans on its wheels; from then on it stays to the millimetre.
    for _ in range(800):
        body.step(plane.update(body.truth, air, outputs(), DT), DT)
    settled = body.truth.copy()
    assert np.linalg.norm(settled[:3] - body.initial_truth[:3]) < 0.05
    for _ in range(24000):
        body.step(plane.update(body.truth, air, outputs(), DT), DT)
    assert np.linalg.norm(body.truth[:3] - settled[:3]) < 1e-3
    assert abs(float(body.truth[3:7] @ settled[3:7])) > 1.0 - 1e-7


@pytest.mark.parametrize("name", AIRCRAFT)
@pytest.mark.parametrize("crosswind", [0.0, 3.0])
def test_aircraft_takes_off_from_its_wheels(name, crosswind):
    body, plane = configured(name)
    air = np.array([0.0, crosswind, 0.0])
    lift_off_s = None
    for k in range(round(15.0 / DT)):
        roll, pitch, yaw = euler_from_quaternion(*body.truth[3:7])
        p, q, r = body.truth[10:13]
        fast = body.truth[7] > 16.0
        stick = 4.0 * (math.radians(10.0) - pitch) - 0.8 * q if fast else 0.0
        pwm = outputs(-roll - 0.1 * p, -stick, 3.0 * yaw + r, 1.0)
        body.step(plane.update(body.truth, air, pwm, DT), DT)
        height = body.initial_truth[2] - body.truth[2]
        if lift_off_s is None and height > 1.0:
            lift_off_s = k * DT
            assert body.truth[0] < 150.0
            assert abs(body.truth[1]) < 0.05 * body.truth[0] + 1.0
    assert lift_off_s is not None
    assert -body.truth[2] > 5.0
    assert abs(euler_from_quaternion(*body.truth[3:7])[0]) < 0.2


@pytest.mark.parametrize("name", AIRCRAFT)
def test_aircraft_set_down_rolls_out_upright(name):
    body, plane = configured(name)
    state = body.initial_truth.copy()
    state[2] -= 0.2
    state[7] = 12.0
    body.set_truth(state)
    for _ in range(round(40.0 / DT)):
        body.step(plane.update(body.truth, np.zeros(3), outputs(), DT), DT)
    assert np.linalg.norm(body.truth[7:13]) < 1e-3
    assert body.truth[0] > 50.0
    assert abs(body.truth[1]) < 1.0
    assert body.truth[2:7] == pytest.approx(body.initial_truth[2:7], abs=0.02)
