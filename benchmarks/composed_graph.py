"""Steps per second of the whole graph in one process, lockstep, as fast as the machine allows."""

from __future__ import annotations

import time

from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.fleet import Member
from rosflight_py_sim.vehicles import vehicle

WARM_UP_S = 3.0


def composed_rate(name: str = "multirotor", duration_s: float = 5.0) -> float:
    """Steps per second of system time, every sensor at its default rate."""
    settings = {"real_time_multiplier": 0.0}
    graph = ComposedGraph([Member(vehicle(name))], settings=settings, arguments=["--log-level", "warn"])
    clock = graph.nodes[0].get_clock()

    def run_for(seconds: float) -> float:
        began, began_ns = time.monotonic(), clock.now().nanoseconds
        graph.spin(lambda: time.monotonic() - began < seconds)
        return (clock.now().nanoseconds - began_ns) / (time.monotonic() - began)

    run_for(WARM_UP_S)
    step_ns = 1e9 * float(graph.values_of("time_manager")["step_size"])  # type: ignore[arg-type]
    rate = run_for(duration_s) / step_ns
    graph.close()
    return rate


if __name__ == "__main__":
    print(f"{composed_rate():.0f} steps/s")
