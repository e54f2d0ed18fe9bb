"""The ROS graph of the composed run equals that of the same nodes in one process each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from rclpy.node import Node

from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC
from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(180)

TIMEOUT_S = 60.0

Graph = set[tuple[str, ...]]


def graph_of(node: Node) -> Graph:
    """All other nodes, their services and clients, and the endpoints of all topics with type and QoS."""
    found: Graph = set()
    for name, namespace in node.get_node_names_and_namespaces():
        owner = f"{namespace.rstrip('/')}/{name}"
        found.add((owner, "node"))
        for service, types in node.get_service_names_and_types_by_node(name, namespace):
            found.add((owner, "service", service, *types))
        for service, types in node.get_client_names_and_types_by_node(name, namespace):
            found.add((owner, "client", service, *types))
    for topic, _ in node.get_topic_names_and_types():
        for way, ends in (
            ("publishes", node.get_publishers_info_by_topic(topic)),
            # A node with a missing input subscribes to the reports of the others.
            ("subscribes", [] if topic == DIAGNOSTICS_TOPIC else node.get_subscriptions_info_by_topic(topic)),
        ):
            for end in ends:
                qos = end.qos_profile
                owner = f"{end.node_namespace.rstrip('/')}/{end.node_name}"
                found.add((owner, way, topic, end.topic_type, qos.reliability.name, qos.durability.name))
    # A node that needs no /clock destroys rclpy's subscription; discovery may still list it without a node name.
    gone = "_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_"
    return {entry for entry in found if entry[0] not in (gone, node.get_fully_qualified_name())}


@pytest.mark.parametrize("time_mode", ["lockstep", "paced"])
def test_composed_process_has_same_graph_as_separate_processes(
    simulate: Callable[..., Any], processes: Any, time_mode: str
) -> None:
    many = simulate(time_mode, SLOWLY, *few_steps(time_mode))
    many.start("autopilot")
    slowly = ("--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps(time_mode))
    processes.command("sim", "--autopilot", "--time-mode", time_mode, *slowly, "-p", "device:=none")
    asked, other = processes.observer(), many.observer()
    for observer in (asked, other):
        observer.wait_for_advance(0.2)
    end = time.monotonic() + TIMEOUT_S
    while graph_of(asked.node) != graph_of(other.node) and time.monotonic() < end:
        time.sleep(0.5)
    one, separate = graph_of(asked.node), graph_of(other.node)
    assert ("/dynamics", "node") in one and ("/autopilot", "node") in one
    assert one == separate
