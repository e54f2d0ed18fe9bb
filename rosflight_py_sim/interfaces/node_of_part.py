"""Parts and their nodes: which node runs a part, and which part a node adds nothing to."""

from __future__ import annotations

from functools import cache
from inspect import isabstract
from typing import Any

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.truth import Truth
from rosflight_py_sim.step.part import Part


def node_of(part: type[Part]) -> type[SimulationNode]:
    """Node class of a part; a node class itself is its own."""
    if issubclass(part, SimulationNode):
        return part
    made: type[SimulationNode] = _node_of(part)  # type: ignore[arg-type]
    return made


@cache
def _node_of(part: type[Any]) -> Any:
    shell = TruthInterface if issubclass(part, Truth) else PartNode
    return type(part.__name__, (part, shell), {"__doc__": part.__doc__, "__module__": part.__module__})


def part_of(node_class: type) -> type[Part] | None:
    """The part that takes a node's place in a flight without ROS; None if the node has facilities that need ROS.

    It is the part to which the node class adds nothing, or the class's own WITHOUT_ROS.
    """
    declared: type[Part] | None = vars(node_class).get("WITHOUT_ROS")
    if declared is not None:
        return declared
    base = node_class.__mro__[1]
    if not issubclass(base, Part) or issubclass(base, SimulationNode) or isabstract(base):
        return None
    added = [name for name in vars(node_class) if name == "__init__" or not name.startswith(("__", "_abc_"))]
    return None if added else base
