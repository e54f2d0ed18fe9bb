"""Fly the start of the mission in a composed graph; print a hash of all truth states and the position each second.

    python flown_truth.py VEHICLE SECONDS [--dynamics DYNAMICS] [--count COUNT] [--watch HOW] [--record FILE]
        [--scenario] [--step-size S] [ROS ARGUMENTS]

With --count, a fleet of that size flies, and each line begins with the vehicle's namespace. With --scenario, VEHICLE is
a scenario, whose vehicles all have autopilots. The hashing node takes part in the hand-off (`member`, the default) or
is a plain rclpy node (`guest`), which is slower. This is a separate program because two runs are independent only in
two processes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable
from dataclasses import replace

from rclpy.node import Node

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.scenario import Scenario, load_scenario
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import STANDALONE, vehicle


class TruthHash:
    """Hashes every truth state from the first stamp on; prints hash and position (m) at each full second.

    Attributes:
        done: whether the last second has been printed.
    """

    def __init__(self, seconds: int, namespace: str, step_s: float) -> None:
        self.prefix = f"{namespace} " if namespace else ""
        self.done = False
        self._seconds = seconds
        self._digest = hashlib.sha256()
        self._last_ns = 0
        self._step_ns = round(step_s * NANOSECONDS)

    def take(self, state: VehicleState) -> None:
        """Add a truth state to the hash."""
        stamp = state.time_ns
        # The state at time 0 and repeated answers may or may not be received: that depends on discovery.
        if self.done or stamp == self._last_ns:
            return
        assert stamp == self._last_ns + self._step_ns, f"{stamp} after {self._last_ns}"
        self._last_ns = stamp
        self._digest.update(TRUTH_STATE.encode(state))
        if stamp % NANOSECONDS == 0:
            place = " ".join(f"{x:.4f}" for x in state.position_ned)
            print(f"{self.prefix}{stamp // NANOSECONDS} {self._digest.hexdigest()} {place}", flush=True)
            self.done = stamp // NANOSECONDS >= self._seconds


class Watcher(SimulationNode):
    """A node that takes part in the hand-off."""

    DEFAULT_NAME = "truth_hash"


def guest(namespace: str, take: Callable[[VehicleState], None], graph: ComposedGraph) -> None:
    """Add a plain rclpy node that receives every truth state."""
    node = Node("truth_hash", namespace=namespace)
    row = TRUTH_STATE
    node.create_subscription(row.message_type, row.name, lambda data: take(row.decode(data)), CHAIN, raw=True)
    graph.include(node)


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("vehicle")
    parser.add_argument("seconds", type=int)
    parser.add_argument("--dynamics", default=STANDALONE)
    parser.add_argument("--count", type=int)
    parser.add_argument("--scenario", action="store_true")
    parser.add_argument("--watch", choices=("guest", "member"), default="member")
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--step-size", type=float, default=0.0025)
    options, arguments = parser.parse_known_args()
    if options.scenario:
        scenario = load_scenario(options.vehicle)
    else:
        chosen = vehicle(options.vehicle, options.dynamics)
        members = [Member(chosen)]
        if options.count is not None:
            members = fleet(chosen, count=options.count, spacing=20.0, seed=7)
        scenario = Scenario([replace(member, executables=(chosen.autopilot,)) for member in members], "lockstep")
    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"real_time_multiplier": 0.0, "step_size": options.step_size, **scenario.settings},
        arguments=arguments,
        record=options.record,
    )
    flights: list[tuple[TruthHash, MissionPilot]] = []
    for m in scenario.members:
        truth, pilot = (
            TruthHash(options.seconds, m.namespace, options.step_size),
            graph.join(MissionPilot, namespace=m.namespace),
        )
        if options.watch == "guest":
            guest(m.namespace, truth.take, graph)
        else:
            graph.join(Watcher, namespace=m.namespace).subscribe(TRUTH_STATE, truth.take, qos=CHAIN)
        flights.append((truth, pilot))
    try:
        graph.spin(lambda: not all(truth.done or pilot.failure for truth, pilot in flights))
    finally:
        graph.close()
    for truth, pilot in flights:
        print(truth.prefix + (pilot.activity if pilot.failure is None else f"failure: {pilot.failure}"))


if __name__ == "__main__":
    main()
