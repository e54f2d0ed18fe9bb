"""The running graph, seen from one of its nodes: namespaces, foreign and hidden nodes, and which nodes report."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from std_msgs.msg import String

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer import graph_watch
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry
from rosflight_py_sim.viewer.graph_watch import GraphWatch


def entry(model: GraphModel, name: str) -> NodeEntry | None:
    return next((node for node in model.nodes if node.name == name), None)


def rate_limited(condition: Callable[[], bool]) -> Callable[[], bool]:
    """The condition, evaluated twice a second: an evaluation takes longer than a step."""
    next_s = 0.0

    def holds() -> bool:
        nonlocal next_s
        if time.monotonic() < next_s:
            return False
        next_s = time.monotonic() + 0.5
        return condition()

    return holds


def test_fleet_and_foreign_nodes_are_listed_with_topics_and_health(graph: Callable[..., Any]) -> None:
    made = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0), namespace="range", multiplier=1.0)
    foreign, hidden = Node("camera_driver", namespace="elsewhere"), Node("_looks_on")
    for node in (foreign, hidden):
        made.include(node)
    foreign.create_publisher(String, "words", 1)
    hidden.create_subscription(String, "/elsewhere/words", lambda message: None, 1)
    watch = GraphWatch(hidden)
    own = {f"/range/multirotor_{n}/{name}" for n in (1, 2) for name in ("dynamics", "sensors", "sil_board", "rc")}

    def all_well() -> bool:
        model = watch.model()
        found = [entry(model, name) for name in own | {"/range/time_manager"}]
        rated = {topic.name for topic in model.topics if topic.rate_hz}
        return all(one and one.health is Health.OK for one in found) and "/range/multirotor_2/sim/truth_state" in rated

    made.spin_until(rate_limited(all_well), "all nodes present and healthy")
    model = watch.model()
    driver = entry(model, "/elsewhere/camera_driver")
    assert driver is not None and driver.health is Health.UNKNOWN
    assert entry(model, "/_looks_on") is None
    topics = {topic.name: topic for topic in model.topics}
    assert topics["/elsewhere/words"].publishers == ("/elsewhere/camera_driver",)
    assert topics["/elsewhere/words"].subscribers == ()
    assert topics["/range/multirotor_1/sim/pwm_output"].publishers == ("/range/multirotor_1/sil_board",)
    assert topics["/range/multirotor_1/sim/pwm_output"].subscribers == ("/range/multirotor_1/forces_and_moments",)
    assert "/diagnostics" not in topics
    assert "/diagnostics" in {topic.name for topic in watch.model(plumbing=True).topics}


def test_third_party_report_by_node_name_is_used_until_it_goes_stale(
    graph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_watch, "STALE_S", 1.0)
    made = graph(multiplier=1.0)
    driver, onlooker = Node("driver", namespace="elsewhere"), Node("_looks_on")
    for node in (driver, onlooker):
        made.include(node)
    watch = GraphWatch(onlooker)
    publisher = driver.create_publisher(DiagnosticArray, "/diagnostics", 1)
    status = DiagnosticStatus(name="driver: lens", level=DiagnosticStatus.WARN, message="dirty")

    def is_reported() -> bool:
        publisher.publish(DiagnosticArray(status=[status]))
        found = entry(watch.model(), "/elsewhere/driver")
        return found is not None and found.message == "lens: dirty"

    made.spin_until(rate_limited(is_reported), "the report of another node")
    assert not watch.model().well

    def silent() -> bool:
        found = entry(watch.model(), "/elsewhere/driver")
        return found is not None and found.health is Health.STALE

    made.spin_until(rate_limited(silent), "the stale report")
