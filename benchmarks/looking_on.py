"""Cost of a viewer or another subscription in a second process to the composed run.

    python -m benchmarks.looking_on

subscribes to the truth state until it receives SIGINT or SIGTERM.
"""

from __future__ import annotations

import subprocess
import sys
import time

from rclpy.node import Node
from rclpy.qos import QoSProfile

from benchmarks.composed_graph import ComposedRun
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.nodes.running import deferred_signals, initialise, make_executor
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle

WARM_UP_S = 4.0


def subscribed_run(seconds: float) -> ComposedRun:
    """Run the multirotor as fast as the machine allows, with a subscription to its truth state in another process."""
    subscriber = subprocess.Popen([sys.executable, "-m", "benchmarks.looking_on"])
    try:
        return watched_run("", seconds)
    finally:
        subscriber.terminate()
        subscriber.wait()


def watched_run(beside: str, seconds: float) -> ComposedRun:
    """Run the multirotor as fast as the machine allows, with nodes in other processes.

    Args:
        beside: executables of these nodes, separated by commas.
        seconds: length of the measurement, s.
    """
    graph = ComposedGraph(
        [Member(vehicle("multirotor"))],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn"],
        sidecars=[name for name in beside.split(",") if name],
    )
    clock = graph.nodes[0].get_clock()
    try:
        began = time.monotonic()
        # Until the first step, which may have to wait for compilation, and until the other processes run.
        graph.spin(lambda: clock.now().nanoseconds == 0 and time.monotonic() - began < 60.0)
        began = time.monotonic()
        graph.spin(lambda: time.monotonic() - began < WARM_UP_S)
        began, began_cpu, began_ns = time.monotonic(), time.process_time(), clock.now().nanoseconds
        graph.spin(lambda: time.monotonic() - began < seconds)
        steps = (
            (clock.now().nanoseconds - began_ns) / NANOSECONDS / number(graph.values_of("time_manager"), "step_size")
        )
        return ComposedRun(steps / (time.monotonic() - began), 1e6 * (time.process_time() - began_cpu) / steps)
    finally:
        graph.close()


def main() -> None:
    """Receive every truth state."""
    initialise(sys.argv[:1])
    node = Node("subscriber")
    node.create_subscription(
        TRUTH_STATE.message_type, TRUTH_STATE.name, lambda _: None, QoSProfile(depth=1000), raw=True
    )
    executor = make_executor()
    executor.add_node(node)
    with deferred_signals() as signals:
        while not signals:
            executor.spin_once(timeout_sec=0.2)


if __name__ == "__main__":
    main()
