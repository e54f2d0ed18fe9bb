"""Fetching the newest message of a topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from std_msgs.msg import Int32

from rosflight_py_sim.interfaces.hand_off import HandOff
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import make_executor
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import StepTopic

TIMEOUT_S = 30.0
NUMBER = StepTopic[Int32]("number", Int32)


class PollingNode(SimulationNode):
    """A node that polls a topic."""

    DEFAULT_NAME = "poller"


@pytest.fixture
def node(ros_domain: int) -> Iterator[PollingNode]:
    rclpy.init()
    node = PollingNode(namespace="somewhere")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def _taken(newest: PolledSubscription[Int32], enough: Callable[[int], bool]) -> list[int]:
    """Numbers taken until a number meets the condition."""
    numbers: list[int] = []
    end = time.monotonic() + TIMEOUT_S
    while not (numbers and enough(numbers[-1])):
        assert time.monotonic() < end, numbers
        message = newest.take()
        if message is not None:
            numbers.append(message.data)
        time.sleep(0.001)
    return numbers


def test_only_the_latest_message_is_taken(node: PollingNode) -> None:
    newest = node.poll(NUMBER)
    publisher = node.create_publisher(Int32, "number", CHAIN)
    assert newest.name == "/somewhere/number"
    assert newest.take() is None
    for number in range(100):
        publisher.publish(Int32(data=number))
    # In one process, a message has arrived when publish() returns; in another, it arrives a moment later.
    assert _taken(newest, lambda number: number == 99) == [99]
    assert newest.take() is None


def test_messages_do_not_wake_the_executor(node: PollingNode) -> None:
    newest = node.poll(NUMBER)
    publisher = node.create_publisher(Int32, "number", CHAIN)
    received: list[Int32] = []
    node.create_subscription(Int32, "other", received.append, CHAIN)
    executor = make_executor()
    executor.add_node(node)
    publisher.publish(Int32(data=1))
    # If the first message woke the executor, it would be handled first.
    node.create_publisher(Int32, "other", CHAIN).publish(Int32(data=2))
    end = time.monotonic() + TIMEOUT_S
    while not received:
        assert time.monotonic() < end
        executor.spin_once(timeout_sec=0.1)
    assert _taken(newest, bool) == [1]
    executor.shutdown()


def test_closed_subscription_leaves_the_graph(node: PollingNode) -> None:
    newest = node.poll(NUMBER)
    assert node.count_subscribers("number") == 1
    newest.close()
    end = time.monotonic() + TIMEOUT_S
    while node.count_subscribers("number"):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_handed_over_and_external_messages_are_both_taken(ros_domain: int) -> None:
    rclpy.init()
    executor = make_executor()
    hand_off = HandOff(executor)
    sender, poller = PollingNode(name="sender", hand_off=hand_off), PollingNode(hand_off=hand_off)
    newest, send = poller.poll(NUMBER), sender.publisher(NUMBER)
    assert newest.take() is None
    sent = [Int32(data=1), Int32(data=2)]
    for message in sent:
        send(message)
    assert newest.take() is sent[-1]
    assert newest.take() is None
    # Each publisher's newest message is taken once.
    poller.publisher(NUMBER)(Int32(data=4))
    assert newest.take() == Int32(data=4)
    assert newest.take() is None
    outside = rclpy.create_node("outside").create_publisher(Int32, "number", CHAIN)
    outside.publish(Int32(data=3))
    assert _taken(newest, bool) == [3]
    poller.destroy_node()
    sender.destroy_node()
    rclpy.shutdown()
