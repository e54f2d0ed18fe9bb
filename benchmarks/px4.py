"""PX4's steps per second through TCP in lockstep, with all nodes in one process."""

from __future__ import annotations

from benchmarks.ardupilot import ArduPilotRun, figures_of, is_measuring, measuring_client
from benchmarks.free_ports import free_ports
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.vehicles import vehicle


def composed_run(duration_s: float = 5.0, name: str = "multirotor") -> ArduPilotRun:
    """Measure with all nodes in one process."""
    (port,) = free_ports(1)
    graph = ComposedGraph(
        [Member(vehicle(name), flight_controller="px4")],
        settings={"real_time_multiplier": 0.0},
        arguments=["--log-level", "warn", "-p", f"px4.port:={port}"],
    )
    with measuring_client("lean_px4", port, duration_s) as client:
        graph.spin(is_measuring(client))
        figures = figures_of(client)
    graph.close()
    return figures
