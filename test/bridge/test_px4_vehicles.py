"""Vehicles under PX4: its outputs move the vehicle as the parameters in config/px4 tell PX4's control allocation.

Meanings of the parameters: PX4's parameter reference (CA_*, PWM_MAIN_FUNCn), and its file
src/lib/mixer_module/output_functions.yaml.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.bridge.px4_link import CHANNEL_NAMES, channels_us
from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS, instructions
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS, mixer_of_values
from rosflight_py_sim.vehicles import names_of_vehicles, vehicle

MULTIROTORS = ["multirotor", "hexarotor", "octorotor"]
PLANES = ["anaconda", "aerosonde"]
LONG_S = 10.0
"""Long enough for all lags to decay, s."""

_LINE = re.compile(r"param set(?:-default)? ([A-Z][A-Z0-9_]{2,15}) (-?[0-9.]+)")

# Output functions of PX4.
MOTOR_1, SERVO_1, LANDING_GEAR_WHEEL = 101, 201, 440
# Types of control surfaces (CA_SV_CSn_TYPE) to their axis of rotation.
AXES = {15: 0, 3: 1, 4: 2}


def folder(name: str) -> Path:
    """Folder that the vehicle's command puts into PATH."""
    (line,) = instructions([Member(vehicle(name), flight_controller="px4")])
    found = re.fullmatch(
        r"in another terminal: PATH=(\S+):\$PATH PX4_SYS_AUTOSTART=\d+ build/px4_sitl_default/bin/px4", line
    )
    assert found is not None, line
    return Path(found.group(1))


@cache
def parameters(name: str) -> dict[str, float]:
    """PX4's parameters of a vehicle."""
    lines = (folder(name) / "px4-rc.params").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/bin/sh"
    read: dict[str, float] = {}
    for line in lines[1:]:
        if not line.startswith("#"):
            found = _LINE.fullmatch(line)
            assert found is not None, line
            assert found.group(1) not in read
            read[found.group(1)] = float(found.group(2))
    return read


def files(name: str) -> list[Path]:
    return [vehicle(name).parameter_file, *FLIGHT_CONTROLLERS["px4"].files_for(vehicle(name))]


def values(table: ParameterTable, name: str) -> Any:
    return given_values(table, files(name), "forces_and_moments", "", "none")


def outputs(name: str, functions: dict[int, float]) -> NDArray[np.float64]:
    """Outputs (14,) for the values of PX4's output functions."""
    bridge = yaml.safe_load(files(name)[1].read_text(encoding="utf-8"))["/**/bridge"]["ros__parameters"]
    given = [int(parameters(name).get(f"PWM_MAIN_FUNC{channel + 1}", 0)) for channel in range(16)]
    pulses = channels_us(tuple(functions.get(function, 0.0) for function in given))
    chosen = OutputMap("px4.outputs", bridge["px4.outputs"], bridge.get("px4.no_output", [1000] * 14), CHANNEL_NAMES)
    return np.array(chosen.outputs(pulses), dtype=np.float64)


def truth(forward: float = 0.0) -> NDArray[np.float64]:
    state = np.zeros(19)
    state[2], state[3], state[7] = -100.0, 1.0, forward
    return state


@pytest.mark.parametrize("name", [*MULTIROTORS, *PLANES])
def test_rates_are_those_of_the_simulator(name: str) -> None:
    # EKF2 computes once per integrated IMU sample; PX4 answers a step only after it.
    assert parameters(name)["IMU_INTEG_RATE"] == 400.0
    # The default latency of the GNSS receiver, ms.
    assert parameters(name)["EKF2_GPS_DELAY"] == 120.0


@pytest.mark.parametrize("name", MULTIROTORS)
def test_geometry_is_that_of_the_vehicle(name: str) -> None:
    given, model = parameters(name), values(MULTIROTOR_PARAMETERS, name)
    count = int(given["CA_ROTOR_COUNT"])
    assert count == model["num_rotors"]
    angles = np.radians(model["rotor_radial_angles"])
    for rotor in range(count):
        expected = model["rotor_dists"][rotor] * np.array([np.cos(angles[rotor]), np.sin(angles[rotor])])
        assert [given[f"CA_ROTOR{rotor}_PX"], given[f"CA_ROTOR{rotor}_PY"]] == pytest.approx(expected, abs=1e-4)
        assert given[f"PWM_MAIN_FUNC{rotor + 1}"] == MOTOR_1 + rotor
        # Torque over thrust of a hovering propeller.
        ratio = model["CQ_0"] / model["CT_0"] * model["D_prop"]
        assert abs(given[f"CA_ROTOR{rotor}_KM"]) == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize("name", MULTIROTORS)
@pytest.mark.parametrize("axis", [0, 1, 2], ids=["roll", "pitch", "yaw"])
def test_multirotor_rotates_as_px4_commands(name: str, axis: int) -> None:
    given = parameters(name)
    count = int(given["CA_ROTOR_COUNT"])
    # Effect of each rotor's thrust (up) on roll, pitch and yaw, as in ActuatorEffectivenessRotors.cpp.
    effects = [
        (-given[f"CA_ROTOR{rotor}_PY"], given[f"CA_ROTOR{rotor}_PX"], given[f"CA_ROTOR{rotor}_KM"])
        for rotor in range(count)
    ]
    largest = max(abs(one[axis]) for one in effects)
    commands = {MOTOR_1 + rotor: 0.5 + 0.05 * one[axis] / largest for rotor, one in enumerate(effects)}
    copter = Multirotor(values(MULTIROTOR_PARAMETERS, name))
    # The rotors follow outputs from their instant on.
    for _ in range(2):
        wrench = copter.update(truth(), np.zeros(3), outputs(name, commands), LONG_S)
    moments = wrench[3:]
    assert wrench[2] < 0.0 and moments[axis] > 0.01
    # Outputs are whole microseconds, and thrust is not linear in them.
    assert np.abs(np.delete(moments, axis)).max() < 0.02 * moments[axis]


def plane_wrench(name: str, functions: dict[int, float]) -> NDArray[np.float64]:
    """Wrench of a plane in straight flight at 20 m/s."""
    plane, mixer = FixedWing(values(FIXEDWING_PARAMETERS, name)), mixer_of_values(values(SURFACE_MIX_PARAMETERS, name))
    assert mixer is not None
    plane.set_mixer(mixer)
    driven = outputs(name, functions)
    # The battery's voltage follows from the motor's previous speed: repeat until both settle.
    for _ in range(100):
        wrench = plane.update(truth(20.0), np.zeros(3), driven, 0.02)
    return wrench.copy()


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("surface", [0, 1, 2])
def test_surfaces_move_the_plane_as_px4_commands(name: str, surface: int) -> None:
    given = parameters(name)
    axis = AXES[int(given[f"CA_SV_CS{surface}_TYPE"])]
    assert given["CA_SV_CS_COUNT"] == 3 and given["PWM_MAIN_REV"] == 0
    assert given[f"CA_SV_CS{surface}_TRQ_{'RPY'[axis]}"] == 1.0
    change = plane_wrench(name, {MOTOR_1: 0.5, SERVO_1 + surface: 0.4}) - plane_wrench(name, {MOTOR_1: 0.5})
    assert change[3 + axis] > 0.1
    assert np.argmax(np.abs(change[3:])) == axis


@pytest.mark.parametrize("name", PLANES)
def test_motor_and_nose_wheel_of_a_plane_are_px4s(name: str) -> None:
    thrusts = [plane_wrench(name, {MOTOR_1: command})[0] for command in (0.0, 0.7, 1.0)]
    assert thrusts[0] < thrusts[1] - 1.0 < thrusts[2] - 2.0
    turned = outputs(name, {LANDING_GEAR_WHEEL: 0.5})
    assert list(turned[:5]) == [1500, 1500, 1000, 1500, 1750]
    mix = yaml.safe_load(files(name)[1].read_text(encoding="utf-8"))["/**/dynamics"]["ros__parameters"]["steering_mix"]
    # To the right, as PX4's positive yaw.
    assert mix == [0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", names_of_vehicles(lambda one: "px4" in one.pairings))
def test_command_names_the_folder_of_the_vehicles_parameters(name: str) -> None:
    assert parameters(name)


def test_each_vehicle_of_a_fleet_has_an_instance() -> None:
    members = [replace(one, flight_controller="px4") for one in fleet(vehicle("octorotor"), count=2, seed=0)]
    assert [line.rpartition(" -i ")[2] for line in instructions(members)] == ["0", "1"]
