"""Nodes of parts."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.node import Node

from rosflight_py_sim.interfaces.dynamics_interface import DynamicsInterface
from rosflight_py_sim.interfaces.node_of_part import node_of, part_of
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import synchronized, trigger
from rosflight_py_sim.step.topics import TRUTH_STATE, TRUTH_WIND

StandaloneDynamics = node_of(RigidBodyDynamics)


def test_part_of_a_node_is_the_class_that_it_runs() -> None:
    assert part_of(StandaloneDynamics) is RigidBodyDynamics


def test_node_made_of_dynamics_is_a_dynamics_node() -> None:
    made = node_of(RigidBodyDynamics)
    assert issubclass(made, TruthInterface)
    assert part_of(made) is RigidBodyDynamics


class DerivedNode(StandaloneDynamics):
    """A node that could change anything."""


class NodeWithAMethod(RigidBodyDynamics, TruthInterface):
    """A node that changes the part."""

    def start_over(self) -> None:
        """Stay."""


class NodeWithState(RigidBodyDynamics, TruthInterface):
    """A node with a publisher of its own, say."""

    def __init__(self) -> None:
        super().__init__()


@pytest.mark.parametrize("cls", [DerivedNode, NodeWithAMethod, NodeWithState, DynamicsInterface, SimulationNode])
def test_node_that_adds_to_a_part_has_none_without_ros(cls: type) -> None:
    assert part_of(cls) is None


class Waiting(Part):
    """A part that waits for the wind, but has no time mode."""

    DEFAULT_NAME = "waiting"
    state = trigger(TRUTH_STATE)
    wind = synchronized(TRUTH_WIND)


def test_part_that_waits_without_a_time_mode_is_refused_and_leaves_no_node(ros_domain: int) -> None:
    with rclpy.init(args=[]):
        observer = Node("observer")
        reason = r"input 'wind' is synchronized, which depends on .* 'time_mode'; add"
        # The exception keeps the frames in which the node was made.
        with pytest.raises(ParameterError, match=reason) as refused:
            node_of(Waiting)()
        assert observer.get_node_names() == ["observer"], refused
        observer.destroy_node()
