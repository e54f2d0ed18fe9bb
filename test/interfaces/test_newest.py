"""Looking at the newest message of a topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int32

from rosflight_py_sim.interfaces.newest import Newest
from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.nodes.running import make_executor

PATIENCE_S = 30.0


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    rclpy.init()
    node = Node("looker", namespace="somewhere")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def _taken(newest: Newest, enough: Callable[[int], bool]) -> list[int]:
    """Numbers taken until one is enough."""
    numbers: list[int] = []
    end = time.monotonic() + PATIENCE_S
    while not (numbers and enough(numbers[-1])):
        assert time.monotonic() < end, numbers
        message = newest.take()
        if message is not None:
            numbers.append(deserialize_message(message, Int32).data)
        time.sleep(0.001)
    return numbers


def test_newest_message_is_taken_and_those_before_it_are_not(node: Node) -> None:
    newest = Newest(node, "number", Int32)
    publisher = node.create_publisher(Int32, "number", CHAIN)
    assert newest.topic == "/somewhere/number"
    assert newest.take() is None
    for number in range(100):
        publisher.publish(Int32(data=number))
    # In one process a message has arrived when publish() returns; elsewhere it would come a moment later.
    assert _taken(newest, lambda number: number == 99) == [99]
    assert newest.take() is None
    assert newest.is_published


def test_messages_wake_no_executor(node: Node) -> None:
    newest = Newest(node, "number", Int32)
    publisher = node.create_publisher(Int32, "number", CHAIN)
    heard: list[Int32] = []
    node.create_subscription(Int32, "other", heard.append, CHAIN)
    executor = make_executor()
    executor.add_node(node)
    publisher.publish(Int32(data=1))
    # What came first would be answered first.
    node.create_publisher(Int32, "other", CHAIN).publish(Int32(data=2))
    end = time.monotonic() + PATIENCE_S
    while not heard:
        assert time.monotonic() < end
        executor.spin_once(timeout_sec=0.1)
    assert _taken(newest, bool) == [1]
    executor.shutdown()


def test_closed_one_leaves_the_graph(node: Node) -> None:
    newest = Newest(node, "number", Int32)
    assert node.count_subscribers("number") == 1
    newest.close()
    end = time.monotonic() + PATIENCE_S
    while node.count_subscribers("number"):
        assert time.monotonic() < end
        time.sleep(0.01)
