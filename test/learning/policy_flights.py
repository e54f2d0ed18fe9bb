"""Flights of a policy in the composed graph and in a world, as hashes of all truth states.

    python policy_flights.py NAME [POLICY]
    python policy_flights.py EPISODE POLICY STEPS [PARAMETER_FILE]

flies one of FLIGHTS in a composed graph, with another policy if one is given, or the episode of a parameter file. The
policies here are plain functions and classes of numpy.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.learning.world import World
from rosflight_py_sim.parts.policy import load_policy
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle

Array = npt.NDArray[np.float32]


def attitude(observation: Array) -> Array:
    """Proportional-derivative law for the actions `attitude`."""
    ahead, right, down = 0.15 * observation[:3] + 0.2 * observation[3:6]
    return np.array([right, -ahead, observation[15], -0.1 - 2.0 * down], dtype=np.float32)


def velocity(observation: Array) -> Array:
    """Proportional law for the actions `velocity`."""
    ahead, right, down = 0.12 * observation[:3]
    return np.array([ahead, right, down, observation[15]])


class Rates:
    """Law for the actions `rates`, with a state: the number of its decisions."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, observation: Array) -> list[float]:
        self._count += 1
        ahead, right, down = 0.15 * observation[:3] + 0.2 * observation[3:6]
        roll, pitch = right - 0.8 * observation[10], -ahead + 0.8 * observation[9]
        return [float(roll), float(pitch), 0.1 * (self._count % 2), float(-0.1 - 2.0 * down)]


def motors(observation: Array) -> Array:
    """Law for the motors of a quadrotor in the shape of an X: front right, rear right, rear left, front left."""
    ahead, right, down = 0.06 * observation[:3] + 0.08 * observation[3:6]
    roll = 0.25 * (right - 0.8 * observation[10]) - 0.08 * observation[12]
    pitch = 0.25 * (-ahead + 0.8 * observation[9]) - 0.08 * observation[13]
    thrust = -0.02 - 3.0 * down
    return np.array([thrust - roll + pitch, thrust - roll - pitch, thrust + roll - pitch, thrust + roll + pitch])


def thrusters(observation: Array) -> list[float]:
    """Depth and heading with the thrusters left, right, side and vertical."""
    turn = 0.5 * float(observation[15]) - 0.3 * float(observation[14])
    return [turn, -turn, 0.0, -2.0 * float(observation[2]) - 1.0 * float(observation[5])]


IN_THE_AIR = {
    "starts_in_flight": True,
    "starts_on_ground": False,
    "initial_altitude": 4.0,
    "gyro_bias_range": 0.0,
    "acc_bias_range": 0.0,
    "policy_time": 1e6,
}
WIND = {"sim_has_wind": True, "steady_state_wind": [3.0, -2.0, 0.0], "turbulence_model": "dryden_8785c"}


@dataclass(frozen=True)
class PolicyFlight:
    """A flight of a policy of this module."""

    policy: str
    settings: Mapping[str, Any]
    vehicle: str = "multirotor"
    actions: str = ""
    steps: int = 1200
    started: Mapping[str, Any] = field(default_factory=lambda: IN_THE_AIR | WIND)

    @property
    def scenario(self) -> Scenario:
        chosen = replace(vehicle(self.vehicle), mission=None)
        named = {"policy": self.policy if self.policy.endswith(".onnx") else f"policy_flights:{self.policy}"}
        if self.actions:
            member = Member(replace(chosen, autopilot="policy_autopilot"), executables=("policy_autopilot",))
            named["actions"] = self.actions
        else:
            member = Member(chosen, flight_controller="policy_controller")
        return Scenario([member], "lockstep", settings={**self.started, **named, **self.settings})


FLIGHTS = {
    "attitude": PolicyFlight(
        "attitude",
        {"seed": 4, "failures": ["motor 2 wrong by -60 at 1.5", "gyro noisy 0.01 at 1"], "goal_heading": 20.0},
        actions="attitude",
    ),
    "sensors": PolicyFlight(
        "velocity",
        {"observations": "sensors", "initial_heading": 30.0, "seed": 5, "step_size": 0.005, "task": "path"},
        actions="velocity",
        steps=800,
    ),
    "rates": PolicyFlight("Rates", {"task": "waypoints", "mass": 3.2, "step_size": 0.004}, actions="rates", steps=600),
    "motors": PolicyFlight("motors", {"failures": ["motor 1 noisy 20 at 1"], "command_frequency": 100.0}, steps=800),
    "motors by sensors": PolicyFlight("motors", {"observations": "sensors", "command_frequency": 200.0}, steps=800),
    "depth": PolicyFlight(
        "thrusters",
        {"task": "depth_heading", "goal_position": [0.0, 0.0, 1.0], "goal_heading": 90.0, "step_size": 0.01},
        vehicle="auv",
        started={"seed": 2},
        steps=1000,
    ),
    "depth by sensors": PolicyFlight(
        "thrusters",
        {"observations": "sensors", "task": "depth_heading", "goal_position": [0.0, 0.0, 1.0], "step_size": 0.01},
        vehicle="auv",
        started={},
        steps=1000,
    ),
}


class Recorder:
    """Hashes truth states after time 0."""

    def __init__(self, steps: int) -> None:
        self._digest = hashlib.sha256()
        self._steps, self._last_ns, self._count = steps, 0, 0
        self.truth = np.zeros(19)

    @property
    def is_full(self) -> bool:
        return self._count >= self._steps

    @property
    def text(self) -> str:
        return f"{self._count} {self._digest.hexdigest()} {self.truth[:3].tolist()}"

    def take(self, state: VehicleState) -> None:
        if not self.is_full and state.time_ns > self._last_ns:
            self._last_ns, self._count, self.truth = state.time_ns, self._count + 1, state.truth.copy()
            self._digest.update(state.truth.tobytes())


def flown_in_world(flight: PolicyFlight) -> Recorder:
    """The flight in a world, which is given the actions that the policy returns."""
    recorder = Recorder(flight.steps)
    world = World([(TRUTH_STATE, recorder.take)])
    scenario = flight.scenario
    observation = world.reset(scenario)
    policy = load_policy(str(scenario.settings["policy"]), len(observation), world.seat.action_size)
    while not recorder.is_full:
        observation = world.step(policy(observation))
    return recorder


class Watcher(SimulationNode):
    """A node that takes part in the hand-off."""

    DEFAULT_NAME = "policy_flights"


def main() -> None:
    name, *rest = sys.argv[1:]
    if name in FLIGHTS:
        flight = replace(FLIGHTS[name], policy=rest[0]) if rest else FLIGHTS[name]
        scenario, steps = flight.scenario, flight.steps
    else:
        policy, count, *files = rest
        member = Member(vehicle("multirotor"), executables=("policy_autopilot",))
        scenario, steps = Scenario([member], "lockstep", files=[*files, name], settings={"policy": policy}), int(count)
    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"real_time_multiplier": 0.0, **scenario.settings},
        arguments=["--log-level", "error"],
    )
    recorder = Recorder(steps)
    try:
        graph.join(Watcher).subscribe(TRUTH_STATE, recorder.take)
        graph.spin(lambda: not recorder.is_full)
    finally:
        graph.close()
    print(recorder.text)


if __name__ == "__main__":
    main()
