"""Vehicles on the ground do not creep, even in wind, while a flight controller calibrates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.vehicles import vehicle

STEP_S, MINUTE_S, SETTLED_S = 0.0025, 60.0, 1.0
G = 9.81
CALM, BREEZE = (0.0, 0.0, 0.0), (3.0, 4.0, 0.0)


def standing(
    name: str, wind_ned: tuple[float, float, float], gusts: Wind | None = None, idle_us: float = 1000.0
) -> NDArray[np.float64]:
    """Truth states (n, 19) of the first minute, with motors at `idle_us`; `gusts` replace the wind."""
    sources = [vehicle(name).parameter_file]
    dynamics = VehicleDynamics(given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", "none"))
    pwm_us = np.full(14, idle_us)
    forces: Multirotor | FixedWing
    if vehicle(name).forces_and_moments.startswith("multirotor"):
        forces = Multirotor(given_values(MULTIROTOR_PARAMETERS, sources, "forces_and_moments", "", "none"))
    else:
        forces = FixedWing(given_values(FIXEDWING_PARAMETERS, sources, "forces_and_moments", "", "none"))
        # Surfaces centred; the throttle is on output 4.
        pwm_us[:3] = 1500.0
    wind = np.array(wind_ned) if gusts is None else gusts.wind_ned
    states = [dynamics.truth.copy()]
    for _ in range(round(MINUTE_S / STEP_S)):
        dynamics.step(forces.update(dynamics.truth, wind, pwm_us, STEP_S), STEP_S)
        if gusts is not None:
            gusts.step(dynamics.truth, STEP_S)
        states.append(dynamics.truth.copy())
    return np.array(states)


def specific_force_error(states: NDArray[np.float64]) -> float:
    """Largest deviation of the accelerometer from one g (m/s^2)."""
    forces = [state[13:16] - rotate_to_body(*state[3:7].tolist(), 0.0, 0.0, G) for state in states]
    return float(np.abs(np.linalg.norm(forces, axis=1) - G).max())


@pytest.mark.parametrize("name", ["multirotor", "anaconda", "aerosonde"])
def test_parked_vehicle_is_stationary_from_first_step_on(name: str) -> None:
    states = standing(name, CALM)
    # Rounding, and the remaining motion of the settling before the start.
    assert np.ptp(states[:, 0:3], axis=0).max() < 1e-9
    assert np.abs(states[:, 10:13]).max() < 1e-9
    assert specific_force_error(states[::10]) < 1e-8


@pytest.mark.parametrize("name", ["multirotor", "anaconda", "aerosonde"])
def test_wind_compresses_springs_without_creep(name: str) -> None:
    states = standing(name, BREEZE)
    settled = states[round(SETTLED_S / STEP_S) :]
    # A 20 Hz spring under a force of tenths of the weight: millimetres at once, then no further motion.
    assert np.ptp(states[:, 0:3], axis=0).max() < 5e-3
    assert np.ptp(settled[:, 0:3], axis=0).max() < 1e-6
    assert np.abs(settled[:, 10:13]).max() < 1e-4
    assert specific_force_error(settled[::10]) < 1e-3


@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "octorotor"])
def test_idling_motors_do_not_move_vehicle(name: str) -> None:
    states = standing(name, BREEZE, idle_us=1150.0)
    settled = states[round(SETTLED_S / STEP_S) :]
    assert np.ptp(states[:, 0:3], axis=0).max() < 5e-3
    # The thrust falls a little with the battery's charge.
    assert np.ptp(settled[:, 0:3], axis=0).max() < 1e-5
    assert np.abs(settled[:, 10:13]).max() < 1e-4


@pytest.mark.parametrize("name", ["multirotor", "anaconda", "aerosonde"])
def test_side_gusts_leave_imu_still_enough_to_calibrate(name: str) -> None:
    sources = [share_directory() / "config" / "wind.yaml"]
    values = given_values(WIND_PARAMETERS, sources, "dynamics", "", "none")
    states = standing(name, CALM, Wind(values, np.random.default_rng(0)))[round(SETTLED_S / STEP_S) :]
    spreads = [np.linalg.norm(np.ptp(states[k : k + 1001, 13:16], axis=0)) for k in range(0, len(states) - 1001, 1001)]
    # The firmware allows 1 m/s^2, of which the IMU's own noise takes a third. The lighter aircraft fails now and then.
    assert np.median(spreads) < 0.8
    assert max(spreads) < 2.0


@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "octorotor", "anaconda", "aerosonde"])
def test_vehicle_starts_in_equilibrium_with_the_wind(name: str) -> None:
    states = standing(name, BREEZE)[: round(SETTLED_S / STEP_S)]
    moving = states[1:]
    # The wind at the new attitude differs a little from that under which the vehicle came to rest.
    assert np.ptp(moving[:, 0:3], axis=0).max() < 2e-4
    assert np.abs(moving[:, 10:13]).max() < 0.01
    assert specific_force_error(moving) < 0.05
    # It leans and sinks on its gear at once.
    assert np.linalg.norm(states[1, 0:3] - states[0, 0:3]) > 1e-6
