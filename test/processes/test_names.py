"""Namespaces, node names and topics of processes can be remapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rcl_interfaces.srv import GetParameters

from test.processes.conftest import SLOWLY, few_steps

pytestmark = pytest.mark.timeout(120)


def test_vehicles_in_separate_namespaces_coexist(simulate: Callable[..., Any]) -> None:
    first = simulate("paced", SLOWLY, *few_steps("paced"), "-r", "__ns:=/uav1")
    observer = first.observer(namespace="/uav1")
    observer.wait_for_advance(0.2)
    wanted = {(n, "/uav1") for n in ("dynamics", "sensors", "sil_board", "rc", "forces_and_moments")}
    # Node names have a topic of their own, and arrive after the data.
    observer.wait_for(lambda: wanted <= set(observer.node.get_node_names_and_namespaces()), "all names are known")
    assert not [t for t, _ in observer.node.get_topic_names_and_types() if t.startswith("/sim/")]
    observer.trigger("toggle_arm")

    # A second vehicle follows the clock of the first one's time manager.
    for executable in first.nodes:
        if not executable.endswith("time_manager"):
            first.start(executable, "-r", "__ns:=/uav2")
    other = first.observer(namespace="/uav2")
    other.wait_for_advance(0.2, "the second vehicle moves")
    observer.wait_for_advance(0.2, "the first vehicle continues")


def test_node_and_topic_can_be_renamed(simulate: Callable[..., Any]) -> None:
    simulation = simulate("lockstep", SLOWLY, *few_steps("lockstep"), "-r", "sim/truth_state:=other/truth")
    simulation.programs["rc"].kill()
    simulation.start("rc", "-r", "__node:=my_transmitter")
    observer = simulation.observer(truth="other/truth")
    observer.wait_for_advance(0.2)
    assert not observer.node.get_publishers_info_by_topic("sim/truth_state")
    observer.wait_for(lambda: observer.has_node("my_transmitter"), "the renamed node")
    request = GetParameters.Request(names=["rc_frequency"])
    answer = observer.call(GetParameters, "my_transmitter/get_parameters", request)
    assert answer.values[0].double_value == 50.0
