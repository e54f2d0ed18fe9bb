"""The whole graph with one process per node, lockstep or gated: steps, lost steps, CPU and memory of each node."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.plan import planned_nodes
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.diagnostics import watch_reports
from rosflight_py_sim.nodes.running import make_executor, settle
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import Vehicle, vehicle

START_UP_S = 60.0
WARM_UP_S = 3.0

# Key of the time manager's report.
STEP_MEDIAN = "step median (ms)"


@dataclass
class SeparateRun:
    """Result of one run.

    Attributes:
        rate: steps per second of system time.
        steps: steps received.
        lost: steps without a truth state.
        step_ms: median duration of a step, from /clock to the last message that the time manager waits for, ms.
        cpu: CPU time of each node, as a share of one core.
        memory_mib: resident memory of each node.
    """

    rate: float = 0.0
    steps: int = 0
    lost: int = 0
    step_ms: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    memory_mib: dict[str, float] = field(default_factory=dict)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, s."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _memory_mib(pid: int) -> float:
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:  # noqa: PTH123
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def node_commands(
    chosen: Vehicle, *arguments: str, flight_controller: str = "sil_board", time_mode: str = "lockstep"
) -> dict[str, list[str]]:
    """Command that starts each node, by executable."""
    planned = planned_nodes([Member(chosen, flight_controller=flight_controller)])
    executables = [*(one.executable for one in planned), TIME_MANAGERS[time_mode]]
    files = [chosen.parameter_file, *chosen_flight_controller(flight_controller).files_for(chosen)]
    common = ["--ros-args", "--log-level", "warn", "-p", f"firmware_param_file:={chosen.firmware_file}"]
    common += [word for file in files for word in ("--params-file", str(file))]
    common += ["-p", "use_sim_time:=true", "-p", f"time_mode:={time_mode}", "-p", "real_time_multiplier:=0.0"]
    common += arguments
    return {one: [sys.executable, "-m", "rosflight_py_sim.executables", one, *common] for one in executables}


def start_here(_: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the process of an executable."""
    return subprocess.Popen(command)


@contextmanager
def node_processes(
    chosen: Vehicle,
    *arguments: str,
    flight_controller: str = "sil_board",
    time_mode: str = "lockstep",
    start: Callable[[str, Sequence[str]], subprocess.Popen[bytes]] = start_here,
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """One process per node, as fast as possible unless the arguments change it; `start` starts each."""
    commands = node_commands(chosen, *arguments, flight_controller=flight_controller, time_mode=time_mode)
    processes = {executable: start(executable, command) for executable, command in commands.items()}
    try:
        yield processes
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait(timeout=20.0)


def separate_run(
    multiplier: float = 0.0,
    duration_s: float = 5.0,
    name: str = "multirotor",
    step_rate: float = 400.0,
    time_mode: str = "lockstep",
) -> SeparateRun:
    """Run the graph at `multiplier` times real time (0: unlimited), and count its truth states."""
    arguments = ["-p", f"real_time_multiplier:={multiplier}", "-p", f"step_size:={1.0 / step_rate}"]
    with node_processes(vehicle(name), *arguments, time_mode=time_mode) as processes:
        ids = {executable: process.pid for executable, process in processes.items()}
        return watched(ids, duration_s, round(NANOSECONDS / step_rate))


def watched(ids: Mapping[str, int], duration_s: float, step_ns: int) -> SeparateRun:
    """Count the truth states of a running graph, and measure the processes with these ids, by executable."""
    stamps: list[int] = []
    took_ms: list[float] = []

    def on_report(status: DiagnosticStatus) -> None:
        took_ms.extend(float(one.value) for one in status.values if one.key == STEP_MEDIAN)

    rclpy.init()
    node = Node("watcher")
    deep = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
    node.create_subscription(
        TRUTH_STATE.message_type, TRUTH_STATE.name, lambda m: stamps.append(stamp_ns(m)), deep, raw=True
    )
    watch_reports(node, on_report)
    executor = make_executor()
    executor.add_node(node)
    settle()

    def spin_for(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)

    end = time.monotonic() + START_UP_S
    while (not stamps or stamps[-1] < 400 * step_ns) and time.monotonic() < end:
        spin_for(0.1)
    spin_for(WARM_UP_S)
    result = SeparateRun()
    before = {name: cpu_seconds(process) for name, process in ids.items()}
    took_ms.clear()
    first, began = len(stamps), time.monotonic()
    spin_for(duration_s)
    elapsed = time.monotonic() - began
    seen = sorted(set(stamps[first:]))
    result.steps = len(seen)
    result.rate = (seen[-1] - seen[0]) / step_ns / elapsed if seen else 0.0
    result.lost = (seen[-1] - seen[0]) // step_ns + 1 - len(seen) if seen else 0
    result.step_ms = median(took_ms) if took_ms else 0.0
    for name, process in ids.items():
        result.cpu[name] = (cpu_seconds(process) - before[name]) / elapsed
        result.memory_mib[name] = _memory_mib(process)
    executor.remove_node(node)
    node.destroy_node()
    rclpy.try_shutdown()
    return result


if __name__ == "__main__":
    print(separate_run())
