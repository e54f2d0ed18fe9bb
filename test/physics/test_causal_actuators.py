"""Actuators are causal: an output acts from its instant on, through the actuator's lag."""

import math

import numpy as np
import pytest
from underwater import Underwater, commands

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.vehicles import vehicle

CALM = np.zeros(3)
STEP_S = 0.0025

KINDS = {
    "multirotor": (MULTIROTOR_PARAMETERS, Multirotor),
    "hexarotor": (MULTIROTOR_PARAMETERS, Multirotor),
    "octorotor": (MULTIROTOR_PARAMETERS, Multirotor),
    "anaconda": (FIXEDWING_PARAMETERS, FixedWing),
    "aerosonde": (FIXEDWING_PARAMETERS, FixedWing),
}
NO_LAG = {"motor_time_constant": 0.0, "servo_tau": 0.0, "thruster_time_constants": [0.0]}


def vehicle_values(name):
    """Parameters of a shipped vehicle's forces."""
    sources = [vehicle(name).parameter_file]
    return given_values(KINDS[name][0], sources, "forces_and_moments", "", vehicle(name).forces_and_moments)


def model(name, **changed):
    """A shipped vehicle's forces, with some parameters changed."""
    if name == "auv":
        return Underwater(name, world="", **{k: v for k, v in changed.items() if k.startswith("thruster")}).forces
    table, kind = KINDS[name]
    values = vehicle_values(name)
    return kind(table.checked({**values, **{key: value for key, value in changed.items() if key in table}}))


def flying(name):
    """Level motion: 20 m/s at 100 m, or 1 m/s at a depth of 5 m."""
    truth = np.zeros(19)
    truth[2], truth[7] = (5.0, 1.0) if name == "auv" else (-100.0, 20.0)
    truth[3], truth[12] = 1.0, 0.3
    return truth


def outputs(name, size):
    """All outputs, each commanded by another amount; those of motors from half throttle."""
    if name == "auv":
        return commands(*(size * np.linspace(0.5, 1.0, 6)))
    return 1500.0 + 500.0 * size * np.linspace(0.2, 1.0, 14)


def settled(name, **changed):
    one = model(name, **changed)
    for _ in range(2000):
        one.update(flying(name), CALM, outputs(name, 0.0), STEP_S)
    return one


NAMES = (*KINDS, "auv")


@pytest.mark.parametrize("name", NAMES)
def test_output_has_no_effect_at_its_own_instant(name):
    one, other = settled(name, rotor_inertia=0.0), settled(name, rotor_inertia=0.0)
    for k, size in enumerate((0.4, -0.3, 0.2, 0.1)):
        # Every output acts a step after it was given, so the two differ from the second step on.
        stepped = one.update(flying(name), CALM, outputs(name, size), STEP_S).copy()
        kept = other.update(flying(name), CALM, outputs(name, 0.0), STEP_S).copy()
        assert np.array_equal(stepped, kept) == (k == 0)


@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "octorotor"])
def test_body_reacts_at_once_to_the_motors_torque_and_to_nothing_else(name):
    one, other = settled(name), settled(name)
    stepped = one.update(flying(name), CALM, outputs(name, 0.4), STEP_S).copy()
    kept = other.update(flying(name), CALM, outputs(name, 0.0), STEP_S).copy()
    at_step = one.rotor_speeds.copy()
    one.update(flying(name), CALM, outputs(name, 0.4), STEP_S)
    gained = (one.rotor_speeds - at_step) / STEP_S
    values = vehicle_values(name)
    # The mean of none before the step and all of it after.
    moment = -0.5 * values["rotor_inertia"] * np.dot(values["rotor_rotation_directions"], gained)
    assert abs(moment) > 0.02
    assert stepped - kept == pytest.approx(np.array([0.0, 0.0, 0.0, 0.0, 0.0, moment]), abs=1e-4 * abs(moment))


@pytest.mark.parametrize("name", NAMES)
def test_output_acts_at_once_without_a_lag(name):
    one, other = settled(name, **NO_LAG), settled(name, **NO_LAG)
    stepped = one.update(flying(name), CALM, outputs(name, 0.4), STEP_S)
    kept = other.update(flying(name), CALM, outputs(name, 0.0), STEP_S)
    assert np.max(np.abs(stepped - kept)) > 0.3


@pytest.mark.parametrize("name", NAMES)
def test_step_of_no_length_gives_the_same_wrench_again(name):
    one = settled(name)
    first = one.update(flying(name), CALM, outputs(name, 0.4), STEP_S).copy()
    for _ in range(3):
        assert np.array_equal(one.update(flying(name), CALM, outputs(name, 0.4), 0.0), first)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_in_force_survive_a_change_of_parameters(name):
    one, rebuilt = settled(name), model(name)
    one.update(flying(name), CALM, outputs(name, 0.4), STEP_S)
    rebuilt.adopt(one)
    for size in (0.1, -0.2):
        expected = one.update(flying(name), CALM, outputs(name, size), STEP_S)
        assert np.array_equal(rebuilt.update(flying(name), CALM, outputs(name, size), STEP_S), expected)


def test_surface_follows_a_step_from_its_instant_on():
    name = "aerosonde"
    plane = settled(name)
    start, pwm = plane.deflections.copy(), outputs(name, 0.4)
    reached = []
    for _ in range(5):
        plane.update(flying(name), CALM, pwm, STEP_S)
        reached.append(float(plane.deflections[0] - start[0]))
    for _ in range(400):
        plane.update(flying(name), CALM, pwm, STEP_S)
    final = float(plane.deflections[0] - start[0])
    assert np.array(reached) == pytest.approx([final * (1.0 - math.exp(-k * STEP_S / 0.02)) for k in range(5)])


@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_speed_of_rotors_does_not_depend_on_the_size_of_the_step(name):
    reached = []
    for dt in (0.01, 0.0025, 0.0001):
        one = model(name, battery_internal_resistance=0.0, battery_capacity_mah=0.0, esc_current_limit=0.0)
        for k in range(round(0.1 / dt) + 1):
            one.update(flying(name), CALM, outputs(name, 0.4), dt if k else 0.0)
        reached.append(one.rotor_speeds.copy())
    assert reached[0] == pytest.approx(reached[2], rel=1e-9)
    assert reached[1] == pytest.approx(reached[2], rel=1e-9)


@pytest.mark.parametrize("name", ["multirotor", "anaconda"])
def test_speed_of_rotors_is_second_order_with_sag_and_current_limit(name):
    speeds = []
    for dt in (0.005, 0.0025, 0.0001):
        one = model(name, esc_current_limit=30.0, battery_internal_resistance=0.02)
        for k in range(round(0.1 / dt) + 1):
            one.update(flying(name), CALM, outputs(name, 0.4), dt if k else 0.0)
        speeds.append(one.rotor_speeds.copy())
    coarse, fine = np.abs(speeds[0] - speeds[2]), np.abs(speeds[1] - speeds[2])
    assert np.all(fine < 1e-3 * speeds[2])
    assert np.all(fine < 0.3 * coarse + 1e-9)
