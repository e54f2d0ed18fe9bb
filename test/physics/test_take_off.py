"""The aircraft of config/ on their wheels: parked, in the wind, and off the ground."""

import math
from functools import cache

import numpy as np
import pytest
import yaml

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.firmware.canned_mixers import MixerChoice, canned_mixer
from rosflight_py_sim.firmware.unmixing import unmixer
from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler, rotate_to_body
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS
from rosflight_py_sim.vehicles import vehicle

DT = 0.0025
RUDDER = 2
AIRCRAFT = ["anaconda", "aerosonde"]


@cache
def sections_of(name):
    return yaml.safe_load(vehicle(name).parameter_file.read_text(encoding="utf-8"))


def configured(name):
    sections = sections_of(name)

    def values(table, section):
        given = {**sections["/**"]["ros__parameters"], **sections[section]["ros__parameters"]}
        return table.checked({key: value for key, value in given.items() if key in table})

    body = VehicleDynamics(values(DYNAMICS_PARAMETERS, "/**/dynamics"))
    plane = FixedWing(values(FIXEDWING_PARAMETERS, "/**/forces_and_moments"))
    canned = canned_mixer(MixerChoice(sections["/**/forces_and_moments"]["ros__parameters"]["default_mixer"]))
    plane.set_mixer(unmixer(canned.matrix, np.array(canned.types, dtype=np.float64)))
    return body, plane


def outputs(aileron=0.0, elevator=0.0, rudder=0.0, throttle=0.0):
    """Outputs of an aircraft with an inverted V-tail."""
    aileron, elevator, rudder = np.clip([aileron, elevator, rudder], -1.0, 1.0)
    pwm = np.full(14, 1500.0)
    pwm[:3] += 500.0 * np.array([aileron, 0.5 * (rudder - elevator), 0.5 * (rudder + elevator)])
    pwm[4] = 1000.0 + 1000.0 * throttle
    return pwm


@pytest.mark.parametrize("name", AIRCRAFT)
@pytest.mark.parametrize("wind", [(0.0, 0.0), (-3.0, 0.0), (3.0, 0.0), (0.0, 3.0), (2.0, -2.0)])
def test_parked_aircraft_stays_put(name, wind):
    body, plane = configured(name)
    air = np.array([*wind, 0.0])
    # At the onset of the wind, the aircraft leans on its wheels; then it stays in place to the micrometre.
    for _ in range(800):
        body.step(plane.update(body.truth, air, outputs(), DT), DT)
    settled = body.truth.copy()
    assert np.linalg.norm(settled[:3] - body.initial_truth[:3]) < 0.05
    for _ in range(8000):
        body.step(plane.update(body.truth, air, outputs(), DT), DT)
    assert np.linalg.norm(body.truth[:3] - settled[:3]) < 1e-6
    assert abs(float(body.truth[3:7] @ settled[3:7])) > 1.0 - 1e-10


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
        body.steering.follow(pwm)
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
def test_landed_aircraft_rolls_out_upright(name):
    body, plane = configured(name)
    state = body.initial_truth.copy()
    state[2] -= 0.2
    state[7] = 12.0
    body.set_truth(state)
    for k in range(round(40.0 / DT)):
        body.step(plane.update(body.truth, np.zeros(3), outputs(), DT), DT)
        if k % 100 == 0 and np.linalg.norm(body.truth[7:13]) < 1e-3:
            break
    assert np.linalg.norm(body.truth[7:13]) < 1e-3
    assert body.truth[0] > 50.0
    assert abs(body.truth[1]) < 1.0
    assert body.truth[2:7] == pytest.approx(body.initial_truth[2:7], abs=0.02)


def rolled_out(name, crosswind, rudder):
    """Where a landed aircraft stops (m), and its largest distance from the line; the wings are held level.

    It touches down along the line to the north, with its nose turned into the wind by the approach's crab angle.
    `rudder` gives the command of the truth state.
    """
    body, plane = configured(name)
    air = np.array([0.0, crosswind, 0.0])
    # Just below the speed at which the wing carries the aircraft on its wheels.
    speed = {"anaconda": 12.0, "aerosonde": 20.0}[name]
    state = body.initial_truth.copy()
    state[2] -= 0.1
    roll, pitch, _ = euler_from_quaternion(*state[3:7])
    state[3:7] = quaternion_from_euler(roll, pitch, -math.asin(crosswind / math.hypot(speed, crosswind)))
    state[7:10] = rotate_to_body(*state[3:7], speed, 0.0, 0.5)
    body.set_truth(state)
    off = 0.0
    # Rolling friction alone stops it from 20 m/s in 51 s.
    for k in range(round(60.0 / DT)):
        roll = euler_from_quaternion(*body.truth[3:7])[0]
        pwm = outputs(-roll - 0.1 * body.truth[10], 0.0, rudder(body.truth))
        body.steering.follow(pwm)
        body.step(plane.update(body.truth, air, pwm, DT), DT)
        off = max(off, abs(body.truth[1]))
        if k % 100 == 0 and np.linalg.norm(body.truth[7:10]) < 0.05:
            break
    assert np.linalg.norm(body.truth[7:10]) < 0.05
    assert abs(euler_from_quaternion(*body.truth[3:7])[0]) < 0.05
    return body.truth[:2], off


@pytest.mark.parametrize("name", AIRCRAFT)
@pytest.mark.parametrize("crosswind", [3.0, 5.0])
def test_rudder_and_nose_wheel_keep_roll_out_on_centreline_in_crosswind(name, crosswind):
    def rudder(truth):
        yaw = euler_from_quaternion(*truth[3:7])[2]
        return 3.0 * (yaw + 0.02 * truth[1]) + truth[12]

    end, off = rolled_out(name, crosswind, rudder)
    # Half of a 10 m runway would be enough; without the steered wheel, the distance is tens of metres.
    assert off < 2.5
    assert end[0] > 50.0


def gains_of(file):
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("STEER2SRV")]
    return {name.removeprefix("STEER2SRV_"): float(value) for name, value in lines}


@pytest.mark.parametrize("name", AIRCRAFT)
def test_ardupilot_gains_keep_roll_out_near_centreline_in_crosswind(name):
    # ArduPilot's steering controller (AP_SteerController) without its integrator: at the heading error e and the ground
    # speed V it gives the share (P - I TCONST + FF / TCONST) e / V of the full command.
    gains = {"I": 0.2, **gains_of(share_directory() / "config" / "ardupilot" / f"{name}.parm")}
    gain = gains["P"] - gains["I"] * gains["TCONST"] + gains["FF"] / gains["TCONST"]

    def rudder(truth):
        speed = max(1.0, math.hypot(truth[7], truth[8]))
        # L1 navigation aims at the point of the line that is 4.3 s ahead (NAVL1_PERIOD 18).
        heading = -math.asin(np.clip(truth[1] / (4.3 * speed), -1.0, 1.0))
        return -gain * (heading - euler_from_quaternion(*truth[3:7])[2]) / speed

    end, off = rolled_out(name, 4.0, rudder)
    assert off < 5.0
    assert abs(end[1]) < 1.0


@pytest.mark.parametrize("name", AIRCRAFT)
def test_nose_wheel_steers_with_rudder(name):
    _, plane = configured(name)
    own = yaml.safe_load(vehicle(name).parameter_file.read_text(encoding="utf-8"))
    mix = own["/**/dynamics"]["ros__parameters"]["steering_mix"]
    # A positive rudder yaws left.
    assert np.array(mix) == pytest.approx(-500.0 * plane.mixer[RUDDER, :3])


@pytest.mark.parametrize("name", AIRCRAFT)
def test_nose_wheel_steers_with_ardupilot_rudder(name):
    sources = [vehicle(name).parameter_file, *FLIGHT_CONTROLLERS["ardupilot"].files_for(vehicle(name))]
    steering = given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", "none")["steering_mix"]
    rudder = given_values(SURFACE_MIX_PARAMETERS, sources, "forces_and_moments", "", "none")["rudder_mix"]
    assert np.array(steering) == pytest.approx(-np.array(rudder))
