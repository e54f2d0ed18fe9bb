"""The newest messages, again, for viewers in other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosflight_msgs.msg import SimState

from rosflight_py_sim.graph.fleet import fleet
from rosflight_py_sim.interfaces.viewed_topics import VIEWED, viewed
from rosflight_py_sim.vehicles import vehicle


def test_relay_says_again_what_the_topics_of_the_step_say_but_less_often(graph: Callable[..., Any]) -> None:
    sim = graph("-p", "view_rate:=1.0").ready()
    said = {row.name: sim.hear(row) for row in VIEWED}
    sim.spin_for(0.1)
    relay = sim.add("view_relay", namespace="")
    sim.executor.add_node(relay)
    again = {row.name: sim.hear(viewed(row, relayed=True)) for row in VIEWED}
    sim.spin_until(lambda: all(len(heard) == 2 for heard in again.values()), "two of each")
    for name, heard in again.items():
        first, second = (said[name].index(message) for message in heard)
        # In a second a machine that is a hundred times slower would take as many steps.
        assert second > first + 10


def test_each_vehicle_is_relayed(graph: Callable[..., Any]) -> None:
    sim = graph(vehicles=fleet(vehicle("multirotor"), count=2, seed=0))
    relay = sim.add("view_relay", namespace="")
    sim.executor.add_node(relay)
    heard = [sim.hear(f"/multirotor_{k}/view/truth_state", SimState) for k in (1, 2)]
    sim.spin_until(lambda: all(heard), "both")
    assert [round(one[-1].pose.position.y) for one in heard] == [0, 20]
