"""The composed graph starts completely or not at all."""

from __future__ import annotations

import gc
import time
import weakref

import pytest
import rclpy

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.time_manager_interface import TimeManagerInterface
from rosflight_py_sim.vehicles import vehicle


def test_graph_can_be_created_after_a_rejected_one(ros_domain: int) -> None:
    members = [Member(vehicle("multirotor"))]
    with pytest.raises(ParameterError, match=r"'mass': -3\.0 given"):
        ComposedGraph(members, arguments=["-p", "mass:=-3.0"])
    assert not rclpy.ok()
    graph = ComposedGraph(members)
    try:
        assert {"dynamics", "sil_board", "time_manager"} <= {node.get_name() for node in graph.nodes}
    finally:
        graph.close()


def test_closed_graph_releases_its_nodes_while_a_delivery_is_pending(ros_domain: int) -> None:
    graph = ComposedGraph([Member(vehicle("multirotor"), executables=("visualizer",))])
    nodes = [weakref.ref(node) for node in graph.nodes]
    graph.hand_off.when_idle(lambda: None)
    graph.close()
    del graph
    gc.collect()
    assert [one() for one in nodes if one() is not None] == []


def test_paced_steps_are_never_early_whoever_spins_the_executor(ros_domain: int) -> None:
    settings = {"step_size": 0.02, "real_time_multiplier": 2.0}
    graph = ComposedGraph([Member(vehicle("multirotor"))], settings=settings)
    manager = graph.node_of("time_manager")
    assert isinstance(manager, TimeManagerInterface)
    try:
        graph.spin(lambda: graph.time_ns == 0)
        began_s, began_ns = time.monotonic(), graph.time_ns
        graph.spin(lambda: graph.time_ns < began_ns + 0.2 * NANOSECONDS)
        # A loop that does not know of the pace: here a timer begins the steps.
        manager.advance_while(lambda: True)
        while graph.time_ns < began_ns + 0.4 * NANOSECONDS:
            graph.executor.spin_once(0.1)
            graph.hand_off.check()
        # The first step may have begun before the time was read; the last may be 0.05 ms early.
        assert 2.0 * (time.monotonic() - began_s) >= 0.4 - 0.02 - 2.0 * 50e-6
    finally:
        graph.close()
