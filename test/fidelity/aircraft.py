"""The aircraft under test: the package's models with the parameters of a configuration file, and flights of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.parts.fixedwing_forces import FixedwingForces
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.physics.steady_model import SteadyModel
from rosflight_py_sim.vehicles import vehicle

NAMES = ("anaconda", "aerosonde")
CRUISE = {"anaconda": 20.0, "aerosonde": 25.0}
"""Airspeeds (m/s) of the comparisons: where each vehicle flies in the middle of its range."""
ALTITUDE = 100.0

# Settings of the book's equations where the configuration has more: constant air density, the propeller in the whole
# airspeed, its quadratics not cut off, no slipstream, and a constant battery voltage.
AS_THE_BOOK = {
    "use_standard_atmosphere": False,
    "rho": 1.2682,
    "propeller_inflow": "airspeed",
    "propeller_brakes": True,
    "slipstream_tail_share": 0.0,
    "battery_internal_resistance": 0.0,
}
# The smallest propeller, whose blades give no thrust, has neither thrust nor drag, and a torque of some nN m.
WITHOUT_PROPELLER = {**AS_THE_BOOK, "D_prop": 0.005, "CT_0": 1e-9, "CT_1": 0.0, "CT_2": 0.0}

SETTLING_ROUNDS = 100
"""Motor speed and battery voltage settle in turn."""

Array = np.ndarray


@dataclass(frozen=True)
class Flight:
    """A flight: times (s), truth states (n, 19) and Euler angles (n, 3), rad."""

    time: Array
    truth: Array
    euler: Array

    @property
    def small_states(self) -> Array:
        """u, v, w, phi, theta, p, q, r (n, 8): the states of the modes in linearisation.py."""
        return np.column_stack([self.truth[:, 7:10], self.euler[:, :2], self.truth[:, 10:13]])

    @property
    def speed(self) -> Array:
        return np.linalg.norm(self.truth[:, 7:10], axis=1)


class Aircraft:
    """A fixed wing of config/, with some parameters changed."""

    def __init__(self, name: str, **changes: float | bool | str) -> None:
        self.name = name
        chosen = vehicle(name)
        sources = [chosen.parameter_file]
        executable = chosen.forces_and_moments
        forces = given_values(FIXEDWING_PARAMETERS, sources, "forces_and_moments", "", executable)
        dynamics = given_values(DYNAMICS_PARAMETERS, sources, "dynamics", "", "standalone_dynamics")
        own = {key: value for key, value in changes.items() if key in FIXEDWING_PARAMETERS}
        # With a battery that empties, no flight is steady.
        self.forces = FIXEDWING_PARAMETERS.checked({**forces, "battery_capacity_mah": 0.0, **own})
        own = {key: value for key, value in changes.items() if key in DYNAMICS_PARAMETERS}
        self.dynamics = DYNAMICS_PARAMETERS.checked({**dynamics, **own, "ground_contact": False})
        self.model: SteadyModel = FixedwingForces.steady(self.forces, self.dynamics, chosen.firmware_file).model

    @property
    def parameters(self) -> dict[str, float]:
        """All numbers, by the names of the files."""
        both = {**self.forces, **self.dynamics}
        return {name: float(value) for name, value in both.items() if isinstance(value, (int, float))}

    def fly(self, truth: Array, inputs: Array, duration: float, step: float, every: int = 1) -> Flight:
        """Fly from `truth` with the inputs held, in still air, with servos and motor settled to begin with.

        The loop is that of the graph: a wrench from the state, held over one step of the rigid body.
        """
        aircraft, body = FixedWing(self.forces), VehicleDynamics(self.dynamics)
        pwm_us = self._pulse_widths(inputs)
        still = np.zeros(3)
        body.set_truth(truth)
        for _ in range(SETTLING_ROUNDS):
            aircraft.update(body.truth, still, pwm_us, math.inf)
        rows = [body.truth.copy()]
        steps = round(duration / step)
        for k in range(1, steps + 1):
            body.step(aircraft.update(body.truth, still, pwm_us, 0.0 if k == 1 else step), step)
            if k % every == 0:
                rows.append(body.truth.copy())
        states = np.array(rows)
        angles = np.array([euler_from_quaternion(*(float(c) for c in row[3:7])) for row in states])
        return Flight(step * every * np.arange(len(rows)), states, angles)

    def _pulse_widths(self, inputs: Array) -> Array:
        """Pulse widths that command the inputs, with a servo for each surface."""
        pwm_us = np.full(14, 1500.0)
        surfaces = ("aileron", "elevator", "rudder")
        limits = np.radians([float(self.forces[f"max_{s}_deflection_angle"]) for s in surfaces])
        pwm_us[:3] += 500.0 * inputs[:3] / limits
        pwm_us[4] = 1000.0 + 1000.0 * inputs[3]
        return pwm_us


@cache
def without_propeller(name: str) -> Aircraft:
    """The aircraft without a propeller; one object, so that its glides are searched for once."""
    return Aircraft(name, **WITHOUT_PROPELLER)
