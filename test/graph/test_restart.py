"""A running graph that is started again at time 0."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

MakeGraph = Callable[..., Any]

NODES = ("rc", "sensors", "sil_board", "forces_and_moments", "dynamics", "time_manager")


def restarted(graph: Any, *, paused: bool) -> None:
    control = graph.node("dynamics").control
    control.request(lambda: control.simulation.restart(paused=paused, entirely=True))
    assert control.has_request
    control.carry_out()
    assert not control.has_request
    assert control.error is None


def test_restarted_graph_runs_from_time_0_with_new_nodes(graph: MakeGraph) -> None:
    g = graph(services=["simulation_interfaces"])
    services = g.node("simulation_interfaces")
    # Reads the newest messages of the other nodes, and stays.
    g.executor.add_node(g.add("view_relay", namespace=""))
    for _ in range(2):
        g.spin_for(0.1)
        ended = [weakref.ref(g.node(name)) for name in NODES]
        restarted(g, paused=True)
        # Nodes that still exist would keep publishers, and grow the process with each restart.
        assert [node() for node in ended] == [None] * len(NODES)
        g.spin_until(lambda: g.time_ns == 0, "the initial state")
        assert g.node("time_manager").paused
        g.step()
        assert g.node("simulation_interfaces") is services
        g.call("time_manager/toggle_pause")
    g.spin_for(0.1)


def test_call_under_way_is_answered_before_the_restart(graph: MakeGraph) -> None:
    g = graph()
    # The nodes read parameters of the flight controller, one call after the other.
    restarted(g, paused=False)
    assert not g.hand_off.awaits_replies
    restarted(g, paused=False)
    g.spin_for(0.1)


def test_system_time_is_not_set_back(graph: MakeGraph) -> None:
    assert not graph(time_mode="wall").node("dynamics").control.simulation.can_restart


def test_recorded_runs_do_not_change(graph: MakeGraph, tmp_path: Path) -> None:
    assert graph(record=str(tmp_path / "run.mcap")).node("dynamics").control.simulation is None
