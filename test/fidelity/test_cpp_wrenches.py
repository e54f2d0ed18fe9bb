"""The wrenches of ROSflight's C++ nodes, 400 of each vehicle, with intentional differences switched off.

docs/physics.md lists these differences with reasons; `test_difference_has_effect` measures each. The files of
config/rosflight_equal switch them off.
"""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.vehicles import vehicle as named_vehicle

DATA = Path(__file__).parents[1] / "data" / "cpp_forces"
DT = 0.0025


@cache
def values_of(vehicle, node):
    """Parameters in ROSflight's file of a vehicle: of its forces and moments, or of standalone_dynamics."""
    sections = yaml.safe_load((DATA / "vehicle_values.yaml").read_text())[f"{vehicle}_dynamics"]
    (own,) = [name for name in sections if name.endswith(node)]
    return {name: value for section in ("/**", own) for name, value in sections[section]["ros__parameters"].items()}


def shipped_values(table, vehicle, node="forces_and_moments"):
    """Values of a vehicle's own file."""
    return values_in(table, [named_vehicle(vehicle).parameter_file], node)


def equal_values(table, vehicle, node="forces_and_moments"):
    """Values of a vehicle's own file, overridden by its file in config/rosflight_equal."""
    equal = share_directory() / "config" / "rosflight_equal" / f"{vehicle}.yaml"
    return values_in(table, [named_vehicle(vehicle).parameter_file, equal], node)


def values_in(table, files, node):
    return given_values(table, files, node, "", "none")


@cache
def recorded(vehicle):
    """Truth (19,), wind (3,), pulse widths (14,) and wrench (6,) of each row."""
    rows = []
    with (DATA / f"{vehicle}.csv").open() as file:
        for row in csv.DictReader(file):
            numbers = np.array([float(number) for number in row.values()])
            truth, pwm = np.zeros(19), np.full(14, 1000.0)
            truth[:13], pwm[:5] = numbers[:13], numbers[16:21]
            rows.append((truth, numbers[13:16], pwm, numbers[21:27]))
    return rows


def errors(model, vehicle):
    """Relative errors of force and moment (n, 2)."""
    found = []
    for truth, wind, pwm, expected in recorded(vehicle):
        error = model.update(truth, wind, pwm, DT) - expected
        found.append([np.linalg.norm(error[part]) / np.linalg.norm(expected[part]) for part in (FORCE, MOMENT)])
    return np.array(found)


FORCE, MOMENT = slice(0, 3), slice(3, 6)


def fixedwing(values):
    return FixedWing(FIXEDWING_PARAMETERS.checked(values))


@pytest.mark.parametrize("vehicle", ["anaconda", "aerosonde"])
def test_fixedwing_wrench_matches_cpp_node(vehicle):
    found = errors(fixedwing(equal_values(FIXEDWING_PARAMETERS, vehicle)), vehicle)
    assert found.shape == (400, 2)
    assert np.max(found) < 1e-9


def test_multirotor_wrench_matches_cpp_node():
    found = errors(Multirotor(equal_values(MULTIROTOR_PARAMETERS, "multirotor")), "multirotor")
    assert found.shape == (400, 2)
    assert np.max(found[:, 0]) < 1e-9
    # The C++ model stores its arms in single precision.
    assert np.max(found[:, 1]) < 1e-6


OURS = {
    "stall": ("wing_alpha0",),
    "oswald": ("wing_epsilon",),
    "drag": ("C_D_O", "C_D_alpha", "C_D_p"),
    "inflow": ("propeller_inflow",),
    "brakes": ("propeller_brakes",),
    "atmosphere": ("use_standard_atmosphere",),
    "servo": ("servo_tau",),
    "motor": ("motor_time_constant",),
    "slipstream": ("slipstream_tail_share",),
}


@pytest.mark.parametrize("vehicle", ["anaconda", "aerosonde"])
@pytest.mark.parametrize("difference", OURS)
def test_difference_has_effect(vehicle, difference):
    """Each switch has an effect; run with -s to see its size."""
    ours = shipped_values(FIXEDWING_PARAMETERS, vehicle)
    equal = equal_values(FIXEDWING_PARAMETERS, vehicle)
    values = {**equal, **{name: ours[name] for name in OURS[difference]}}
    found = errors(fixedwing(values), vehicle)
    median, largest = np.median(found, axis=0), np.max(found, axis=0)
    print(
        f"{vehicle} {difference}: force {median[0]:.1e} to {largest[0]:.1e}, moment {median[1]:.1e} to {largest[1]:.1e}"
    )
    # Far above the 4e-15 to which both models agree; the least is 3.14159 for pi.
    assert np.max(found) > 1e-8


CHANGED = {
    # docs/physics.md gives the reasons.
    "anaconda": {"wing_alpha0": (0.2618, 0.05236), "C_D_p": (0.0, 0.043), "Jxz": (-0.06, 0.06)},
    "aerosonde": {"wing_epsilon": (0.9, 0.16), "Jxx": (0.8244, 0.8224), "Jxz": (-0.1204, 0.1204)},
    "multirotor": {"V_max": (25.2, 24.0)},
}
ELSEWHERE = {
    # The standard atmosphere replaces rho, KQ is KV in other units, and the servo lag is exact at any rate; the
    # multirotor's rotors are placed by rotor_dists, and have a ground effect each.
    "rho",
    "KV",
    "servo_refresh_rate",
    "rotor_positions",
    "ground_effect",
}


@pytest.mark.parametrize("vehicle", CHANGED)
def test_shipped_values_differ_from_rosflights_file_only_where_stated(vehicle):
    forces = MULTIROTOR_PARAMETERS if vehicle == "multirotor" else FIXEDWING_PARAMETERS
    shipped = shipped_values(DYNAMICS_PARAMETERS, vehicle, "dynamics") | shipped_values(forces, vehicle)
    given = values_of(vehicle, "_dynamics") | values_of(vehicle, "_forces_and_moments")
    compared = given.keys() - ELSEWHERE
    assert compared <= shipped.keys()
    different = {name: (shipped[name], given[name]) for name in compared if shipped[name] != given[name]}
    assert different == CHANGED[vehicle]


@pytest.mark.parametrize("vehicle", CHANGED)
def test_inertia_of_the_equal_file_is_that_of_the_cpp_node(vehicle):
    given = values_of(vehicle, "standalone_dynamics")
    equal = equal_values(DYNAMICS_PARAMETERS, vehicle, "dynamics")
    names = [name for name in given if name != "rho"]
    assert {name: equal[name] for name in names} == {name: given[name] for name in names}
