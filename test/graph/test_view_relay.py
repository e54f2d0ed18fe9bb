"""The newest messages, republished for viewers in other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosflight_msgs.msg import SimState

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.step.topics import BATTERY, RC
from rosflight_py_sim.step.viewed_topics import VIEWED, viewed
from rosflight_py_sim.vehicles import vehicle


def test_relay_republishes_step_topics_at_lower_rate(graph: Callable[..., Any]) -> None:
    sim = graph("-p", "view_rate:=1.0").ready()
    rows = (*VIEWED, RC, BATTERY)
    original = {row.name: sim.collect_messages(row) for row in rows}
    sim.spin_for(0.1)
    relay = sim.add("view_relay", namespace="")
    sim.executor.add_node(relay)
    relayed_messages = {row: sim.collect_messages(viewed(row, relayed=True)) for row in rows}
    sim.spin_until(lambda: all(len(received) == 2 for received in relayed_messages.values()), "two of each")
    for row, received in relayed_messages.items():
        first, second = (original[row.name].index(message) for message in received)
        # Even a machine that is a hundred times slower takes this many steps in a second; others do not come each step.
        assert second > first + (10 if row in VIEWED else 0)


def test_each_vehicle_is_relayed(graph: Callable[..., Any]) -> None:
    sim = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0))
    relay = sim.add("view_relay", namespace="")
    sim.executor.add_node(relay)
    received = [sim.collect_messages(f"/multirotor_{k}/view/truth_state", SimState) for k in (1, 2)]
    sim.spin_until(lambda: all(received), "both")
    assert [round(one[-1].pose.position.y) for one in received] == [0, 20]
