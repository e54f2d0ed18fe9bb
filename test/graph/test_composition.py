"""The composed graph starts completely or not at all."""

from __future__ import annotations

import gc
import weakref

import pytest
import rclpy

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.parameters import ParameterError
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
