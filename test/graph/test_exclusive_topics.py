"""Topics that a second simulation must not publish, from the ports of a graph's nodes."""

from __future__ import annotations

from rosflight_py_sim.graph.other_simulation import exclusive_topics
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output
from rosflight_py_sim.step.topics import FORCES_AND_MOMENTS, RC_RAW


def test_each_vehicle_has_the_topics_of_its_nodes_and_the_clock_is_shared() -> None:
    nodes = [node_class("lockstep_time_manager"), node_class("multirotor_forces_and_moments")]
    names = exclusive_topics(nodes, "arena", ["red", "green"])
    own = ["sim/forces_and_moments", "sim/truth_battery", "sim/has_started", "sim/step_size"]
    assert names == ["/clock", *(f"/arena/{vehicle}/{name}" for vehicle in ("red", "green") for name in own)]


class Wrenches(Part):
    """A part of another package that sends wrenches, and a topic that several nodes may publish."""

    DEFAULT_NAME = "wrenches"
    send_wrench = output(FORCES_AND_MOMENTS)
    send_rc = output(RC_RAW)


def test_part_of_another_package_has_the_exclusive_topics_of_its_ports() -> None:
    assert exclusive_topics([node_of(Wrenches)], "", [""]) == ["/sim/forces_and_moments"]
