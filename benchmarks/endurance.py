"""A long flight in one process: change of speed and growth of memory."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.composed_graph import resident_mib
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle


@dataclass
class LongRun:
    """Result of a long run.

    Attributes:
        first_factor, last_factor: real-time factor of the first and of the last simulated minute.
        growth_mib: growth of resident memory from the end of the first simulated minute to the end, MiB.
    """

    first_factor: float
    last_factor: float
    growth_mib: float


def long_run(minutes: float) -> LongRun:
    """Run the multirotor on the ground as fast as the machine allows, every sensor at its default rate."""
    graph = ComposedGraph(
        [Member(vehicle("multirotor"))],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn"],
    )
    clock = graph.nodes[0].get_clock()

    def run_until(simulated_s: float) -> None:
        graph.spin(lambda: clock.now().nanoseconds / NANOSECONDS < simulated_s)

    try:
        # Start-up time and one-time allocations count towards neither minute.
        run_until(10.0)
        began = time.monotonic()
        run_until(70.0)
        first_s = time.monotonic() - began
        memory = resident_mib()
        run_until(60.0 * minutes - 50.0)
        began = time.monotonic()
        run_until(60.0 * minutes + 10.0)
        return LongRun(60.0 / first_s, 60.0 / (time.monotonic() - began), resident_mib() - memory)
    finally:
        graph.close()
