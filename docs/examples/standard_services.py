"""Pauses any simulator with the standard services, takes 400 steps, prints where its entities are, and lets it go on.

Start the simulation first: `.venv/bin/rosflight_py_sim sim --simulation-interfaces`; then, in another terminal,
`.venv/bin/python docs/examples/standard_services.py`.
"""

import os
import sys
from typing import Any

import rclpy
from rclpy.node import Node
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import GetEntitiesStates, SetSimulationState, StepSimulation

LIMIT_S = 10.0


class Simulator(Node):
    """Client of the standard services."""

    def __init__(self) -> None:
        """Create the node."""
        super().__init__("standard_services_client")

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        """Call a service and return its response; a result that is not OK ends the program."""
        client = self.create_client(kind, service)
        if not client.wait_for_service(LIMIT_S):
            sys.exit(
                f"no service {service} within {LIMIT_S:g} s; is a simulation running with --simulation-interfaces?"
            )
        future = client.call_async(kind.Request(**fields))
        rclpy.spin_until_future_complete(self, future, timeout_sec=LIMIT_S)
        if not future.done():
            sys.exit(f"no response of {service} within {LIMIT_S:g} s")
        if future.result().result.result != Result.RESULT_OK:
            sys.exit(f"{service}: {future.result().result.error_message}")
        return future.result()


def main() -> None:
    """Pause, step, print, resume."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    simulator = Simulator()
    paused, playing = SimulationState.STATE_PAUSED, SimulationState.STATE_PLAYING
    simulator.call(SetSimulationState, "set_simulation_state", state=SimulationState(state=paused))
    simulator.call(StepSimulation, "step_simulation", steps=400)
    states = simulator.call(GetEntitiesStates, "get_entities_states")
    for name, state in zip(states.entities, states.states, strict=True):
        place = state.pose.position
        print(f"{name}: east {place.x:.2f} m  north {place.y:.2f} m  up {place.z:.2f} m")
    simulator.call(SetSimulationState, "set_simulation_state", state=SimulationState(state=playing))
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
