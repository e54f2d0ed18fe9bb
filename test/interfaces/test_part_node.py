"""Nodes of parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.dynamics_interface import DynamicsInterface
from rosflight_py_sim.interfaces.node_of_part import node_of, part_of
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import newest, output, polled, service, synchronized, trigger
from rosflight_py_sim.step.topics import FAULT, TRUTH_STATE, TRUTH_WIND, WAITING_FOR, StepTopic

StandaloneDynamics = node_of(RigidBodyDynamics)


@pytest.fixture
def initialised(ros_domain: int) -> Iterator[None]:
    rclpy.init(args=[])
    yield
    rclpy.shutdown()


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


@pytest.mark.usefixtures("initialised")
def test_part_that_waits_without_a_time_mode_is_refused_and_leaves_no_node() -> None:
    observer = Node("observer")
    reason = r"input 'wind' is synchronized, which depends on .* 'time_mode'; add"
    # The exception keeps the frames in which the node was made.
    with pytest.raises(ParameterError, match=reason) as refused:
        node_of(Waiting)()
    # A node of a test before may still be visible.
    assert Waiting.DEFAULT_NAME not in observer.get_node_names(), refused
    observer.destroy_node()


class Echo(Part):
    """A part that sends the texts that it receives, and the newest of another topic."""

    send = output(FAULT)
    newest_note = polled(StepTopic[String]("note", String))

    @newest(WAITING_FOR)
    def _on_text(self, message: String) -> None:
        self.send(message)

    @service(Trigger, "note/read")
    def _read(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        note = self.newest_note()
        response.message = "" if note is None else note.data
        return response


class Hosting(PartNode):
    """A node with one part for each of two vehicles."""

    DEFAULT_NAME = "hosting"
    HOSTS = (Echo,)

    def begin(self) -> None:
        """Connect both parts."""
        super().begin()
        for name in ("red", "green"):
            self.host(Echo({}), name)


@pytest.mark.usefixtures("initialised")
def test_node_connects_each_hosted_part_in_its_namespace() -> None:
    node, tester = Hosting(), Node("tester")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(tester)
    received: list[str] = []
    tester.create_subscription(String, "red/sim/fault", lambda message: received.append(message.data), FAULT.qos)
    text = tester.create_publisher(String, f"red/{WAITING_FOR.name}", WAITING_FOR.qos)
    note = tester.create_publisher(String, "red/note", 1)
    client = tester.create_client(Trigger, "red/note/read")
    while not (text.get_subscription_count() and note.get_subscription_count() and client.service_is_ready()):
        executor.spin_once(timeout_sec=0.05)
    note.publish(String(data="calm"))
    text.publish(String(data="wind"))
    while not received:
        executor.spin_once(timeout_sec=0.05)
    reply = client.call_async(Trigger.Request())
    while not reply.done():
        executor.spin_once(timeout_sec=0.05)
    assert (received, reply.result().message) == (["wind"], "calm")
    assert node.count_publishers("green/sim/fault") == 1
    node.destroy_node()
    while tester.count_subscribers("red/note"):
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    tester.destroy_node()


class Listener(Part):
    """Reads each step's wind while it wants to."""

    DEFAULT_NAME = "listener"
    wants_wind = False
    take_wind = polled(TRUTH_WIND, wanted="is_curious")

    def is_curious(self) -> bool:
        """Whether it wants to."""
        return self.wants_wind


@pytest.mark.usefixtures("initialised")
def test_topic_has_a_receiver_while_the_part_wants_messages() -> None:
    node = node_of(Listener)()
    counts = []
    for node.wants_wind in (False, True, False, True):
        assert node.take_wind() is None
        counts.append(node.count_subscribers(TRUTH_WIND.name))
    assert counts == [0, 1, 0, 1]
    node.destroy_node()
