"""Start-up time of nodes and graphs with compiled kernels, and memory of a graph's processes."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass, field

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from benchmarks.separate_graph import START_UP_S, WARM_UP_S, node_commands, node_processes
from rosflight_py_sim.ground.stamps import stamp_ns
from rosflight_py_sim.nodes.running import make_executor, settle
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import vehicle


@dataclass
class GraphStart:
    """Result of one start of a graph with one process per node.

    Attributes:
        first_step: time to the first step, s.
        rss_mib: resident memory of each node.
        pss_mib: proportional set size of each node: shared pages are divided among the processes that share them.
    """

    first_step: float = 0.0
    rss_mib: dict[str, float] = field(default_factory=dict)
    pss_mib: dict[str, float] = field(default_factory=dict)


NODE = """
import sys
from rosflight_py_sim.nodes.running import node_class, run
run(node_class(sys.argv[1]), sys.argv[1:], started=lambda refusal: print(refusal, flush=True))
"""

FLIGHT = """
import sys
from rosflight_py_sim.commands import cli
from rosflight_py_sim.graph.composition import ComposedGraph
spin = ComposedGraph.spin

def to_the_first_step(graph, go_on):
    clock = graph.nodes[0].get_clock()
    spin(graph, lambda: clock.now().nanoseconds == 0)
    print(flush=True)
    spin(graph, go_on)

ComposedGraph.spin = to_the_first_step
cli.main(["fly", "--vehicle", sys.argv[1]])
"""


def node_start(executable: str, name: str = "multirotor") -> float:
    """Time from the start of a node's process until its executor runs, with no other node running, s."""
    arguments = node_commands(vehicle(name))[executable]
    return _time_to_line(NODE, executable, *arguments[arguments.index("--ros-args") :])


def composed_start(name: str = "multirotor") -> float:
    """Time from the start of `rosflight_py_sim fly` to its first step, s."""
    return _time_to_line(FLIGHT, name)


def _time_to_line(program: str, *arguments: str) -> float:
    """Time from the start of a Python program to the first line that it prints, s."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        taken = time.monotonic() - began
    finally:
        process.terminate()
        process.communicate(timeout=20.0)
    if line != "\n":
        raise RuntimeError(f"no start: {line}")
    return taken


def separate_start(name: str = "multirotor") -> GraphStart:
    """Start the graph with one process per node, all at once, and measure memory while it runs in real time.

    The first step is detected through DDS, which discovers a new process within 0.1 s or only after 3 s.
    """
    seen: list[float] = []

    def on_truth(message: bytes) -> None:
        if stamp_ns(message) > 0:
            seen.append(time.monotonic())

    rclpy.init()
    node = Node("watcher")
    deep = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
    node.create_subscription(TRUTH_STATE.message_type, TRUTH_STATE.name, on_truth, deep, raw=True)
    executor = make_executor()
    executor.add_node(node)
    settle()
    result = GraphStart()
    began = time.monotonic()
    with node_processes(vehicle(name), "-p", "real_time_multiplier:=1.0") as processes:
        while not seen and time.monotonic() < began + START_UP_S:
            executor.spin_once(timeout_sec=0.01)
        result.first_step = seen[0] - began
        time.sleep(WARM_UP_S)
        for executable, process in processes.items():
            result.rss_mib[executable], result.pss_mib[executable] = _memory_mib(process.pid)
    executor.remove_node(node)
    node.destroy_node()
    rclpy.try_shutdown()
    return result


def _memory_mib(pid: int) -> tuple[float, float]:
    """Resident and proportional set size of a process, MiB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:  # noqa: PTH123
        kib = dict(line.split()[:2] for line in rollup if line.startswith(("Rss:", "Pss:")))
    return int(kib["Rss:"]) / 1024.0, int(kib["Pss:"]) / 1024.0


if __name__ == "__main__":
    print(separate_start())
