"""What it costs the composed run that somebody looks on from a process beside it."""

from __future__ import annotations

import time

from benchmarks.composed_graph import ComposedRun
from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.fleet import Member
from rosflight_py_sim.parameters import number
from rosflight_py_sim.vehicles import vehicle

WARM_UP_S = 4.0


def watched_run(beside: str, seconds: float) -> ComposedRun:
    """The multirotor as fast as the machine allows, with these nodes beside it (with commas)."""
    graph = ComposedGraph(
        [Member(vehicle("multirotor"))],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn"],
        beside=[name for name in beside.split(",") if name],
    )
    clock = graph.nodes[0].get_clock()
    try:
        began = time.monotonic()
        # Until the first step, which may have to wait for compilation, and until those beside it are at work.
        graph.spin(lambda: clock.now().nanoseconds == 0 and time.monotonic() - began < 60.0)
        began = time.monotonic()
        graph.spin(lambda: time.monotonic() - began < WARM_UP_S)
        began, began_cpu, began_ns = time.monotonic(), time.process_time(), clock.now().nanoseconds
        graph.spin(lambda: time.monotonic() - began < seconds)
        steps = (clock.now().nanoseconds - began_ns) * 1e-9 / number(graph.values_of("time_manager"), "step_size")
        return ComposedRun(steps / (time.monotonic() - began), 1e6 * (time.process_time() - began_cpu) / steps)
    finally:
        graph.close()
