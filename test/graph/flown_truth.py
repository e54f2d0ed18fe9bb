"""Fly the beginning of the mission in a composed graph and print a hash of all truth states, second by second.

    python flown_truth.py VEHICLE SECONDS [--dynamics DYNAMICS] [--count COUNT] [ROS ARGUMENTS]

With a count, a fleet of so many flies, and each line begins with the vehicle's namespace. A program of its own because
two runs are only independent in two processes.
"""

from __future__ import annotations

import argparse
import hashlib

from rclpy.node import Node
from rosflight_msgs.msg import SimState

from rosflight_py_sim.autopilot_flight import autopilot_class
from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.fleet import Member, fleet
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.wire import NANOSECONDS, stamp_ns
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.vehicles import STANDALONE, vehicle


class TruthHash(Node):
    """Hashes every truth state from the first stamp on; prints the hash at each full second."""

    def __init__(self, seconds: int, namespace: str) -> None:
        super().__init__("truth_hash", namespace=namespace)
        self.prefix = f"{namespace} " if namespace else ""
        self.done = False
        self._seconds = seconds
        self._digest = hashlib.sha256()
        self._last_ns = 0
        self._step_ns = 2_500_000
        self.create_subscription(SimState, "sim/truth_state", self._on_truth, CHAIN, raw=True)

    def _on_truth(self, message: bytes) -> None:
        stamp = stamp_ns(message)
        # The state at time 0 and repeated answers may or may not be heard: they depend on the system's discovery.
        if self.done or stamp == self._last_ns:
            return
        assert stamp == self._last_ns + self._step_ns, f"{stamp} after {self._last_ns}"
        self._last_ns = stamp
        self._digest.update(bytes(message))
        if stamp % NANOSECONDS == 0:
            print(f"{self.prefix}{stamp // NANOSECONDS} {self._digest.hexdigest()}", flush=True)
            self.done = stamp // NANOSECONDS >= self._seconds


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("vehicle")
    parser.add_argument("seconds", type=int)
    parser.add_argument("--dynamics", default=STANDALONE)
    parser.add_argument("--count", type=int)
    options, arguments = parser.parse_known_args()
    chosen = vehicle(options.vehicle, options.dynamics)
    lands = autopilot_class(chosen).LANDS
    members = [Member(chosen)]
    if options.count is not None:
        members = fleet(chosen, count=options.count, spacing=20.0, seed=7)
    graph = ComposedGraph(
        members,
        settings={"real_time_multiplier": 0.0},
        arguments=arguments,
        executables=[chosen.autopilot],
    )
    pairs = [
        (TruthHash(options.seconds, m.namespace), MissionPilot(lands=lands, namespace=m.namespace)) for m in members
    ]
    for node in (node for pair in pairs for node in pair):
        graph.adopt(node)
        graph.executor.add_node(node)
    try:
        graph.spin(lambda: not all(truth.done or pilot.failure for truth, pilot in pairs))
    finally:
        graph.close()
    for truth, pilot in pairs:
        print(truth.prefix + (pilot.doing if pilot.failure is None else f"failure: {pilot.failure}"))


if __name__ == "__main__":
    main()
