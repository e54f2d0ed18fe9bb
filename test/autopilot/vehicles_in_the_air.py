"""Vehicles that tests fly at 100 commands a second, without ROS: physics, and everything from command to outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from project_programs import project_program

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.flight_state import FlightState, flight_state
from rosflight_py_sim.ground.parameters import ParameterTable, Value
from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.rotations import quaternion_from_euler
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.vehicles import vehicle

STEP_S = 0.0025
PERIOD_S = 4 * STEP_S
"""Period of commands, s."""

CALM: dict[str, Value] = {}
BREEZE: dict[str, Value] = {
    "sim_has_wind": True,
    "use_random_wind": False,
    "steady_state_wind": [0.0, 4.0, 0.0],
    "turbulence_model": "dryden_8785c",
    "turbulence_wind_speed_20ft": 5.0,
}
STEADY: dict[str, Value] = {"sim_has_wind": True, "use_random_wind": False, "steady_state_wind": [0.0, 4.0, 0.0]}
"""4 m/s from the west, with turbulence and without."""


class VehicleInTheAir(Protocol):
    """A vehicle that flies by commands."""

    @property
    def state(self) -> FlightState:
        """Its true state now."""

    def move(self, guided: AutopilotCommand) -> None:
        """Hold a command for PERIOD_S."""


def configured(name: str, table: ParameterTable, node: str) -> dict[str, Value]:
    """Checked values of a vehicle's configuration for one node."""
    values = merged_values([vehicle(name).parameter_file], (node,))
    return table.checked({key: value for key, value in values.items() if key in table})


class Aircraft:
    """A fixed wing at rest at the origin, facing north; mixer 9 and REV_ELEVATOR determine its outputs."""

    def __init__(self, name: str, wind: Mapping[str, Value], seed: int = 3) -> None:
        self.dynamics = VehicleDynamics(configured(name, DYNAMICS_PARAMETERS, "dynamics"))
        self.wing = FixedWing(configured(name, FIXEDWING_PARAMETERS, "forces_and_moments"))
        self.wind = Wind(WIND_PARAMETERS.checked(wind), np.random.default_rng(seed))
        self._pwm = np.full(14, 1500.0)

    @property
    def state(self) -> FlightState:
        """Its true state now."""
        return flight_state(self.dynamics.truth.tolist(), self.wind.wind_ned.tolist())

    def place(self, position_ned: tuple[float, float, float], airspeed: float, heading: float, pitch: float) -> None:
        """Put the aircraft into the air, with wings level."""
        truth = self.dynamics.truth.copy()
        truth[0:3] = position_ned
        truth[3:7] = quaternion_from_euler(0.0, pitch, heading)
        truth[7:13] = (airspeed * math.cos(pitch), 0.0, airspeed * math.sin(pitch), 0.0, 0.0, 0.0)
        self.dynamics.set_truth(truth)

    def move(self, guided: AutopilotCommand) -> None:
        """Hold a command for PERIOD_S."""
        throttle, _, _, aileron, elevator, rudder = guided.u[:6]
        pwm = self._pwm
        pwm[0], pwm[1], pwm[2] = 1500.0 + 500.0 * aileron, 1500.0 - 500.0 * elevator, 1500.0 + 500.0 * rudder
        pwm[4] = 1000.0 + 1000.0 * throttle
        # A positive rudder yaws left.
        self.dynamics.steering.turn(-rudder)
        truth, wind = self.dynamics.truth, self.wind
        for _ in range(4):
            self.dynamics.step(self.wing.update(truth, wind.wind_ned, pwm, STEP_S), STEP_S)
            wind.step(truth, STEP_S)


class Copter:
    """The multirotor with its sensors and its flight controller, armed on the ground."""

    def __init__(self, wind: Mapping[str, Value], seed: int = 1) -> None:
        self.loop = project_program("benchmarks/closed_loop.py").ClosedLoop(seed, wind)
        self.loop.arm()

    @property
    def state(self) -> FlightState:
        """Its true state now."""
        return flight_state(self.loop.truth.tolist(), self.loop.wind.wind_ned.tolist())

    def move(self, guided: AutopilotCommand) -> None:
        """Hold a command for PERIOD_S."""
        loop = self.loop
        loop.firmware.set_command(loop.count * 2500, guided.mode, 0, list(guided.u))
        for _ in range(4):
            loop.step()
