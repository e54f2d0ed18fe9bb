"""Messages that a node fetches: their order, their times, and the number of lost messages."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import UInt32

from rosflight_py_sim.ground.ros_distributions import rclpy_version
from rosflight_py_sim.interfaces.message_queue import MessageQueue

NAMES_PUBLISHERS = int(rclpy_version().partition(".")[0]) >= 9

DEPTH = 10
TIMEOUT_S = 30.0


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    rclpy.init(args=[])
    made = Node("tester")
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def queue(node: Node) -> MessageQueue:
    return MessageQueue(node, node.create_subscription(UInt32, "x", lambda _: None, QoSProfile(depth=DEPTH), raw=True))


def fetched(queue: MessageQueue, last: int) -> list[int]:
    """Numbers of the messages up to the last one."""
    numbers: list[int] = []
    end = time.monotonic() + TIMEOUT_S
    while not numbers or numbers[-1] != last:
        assert time.monotonic() < end, numbers
        numbers += [int.from_bytes(data[4:8], "little") for _, data in queue.take()]
    return numbers


def test_messages_come_in_order_with_their_arrival_times(node: Node, queue: MessageQueue) -> None:
    publisher = node.create_publisher(UInt32, "x", 100)
    began_ns = time.time_ns()
    for number in range(DEPTH):
        publisher.publish(UInt32(data=number))
    time.sleep(0.2)
    arrived = list(queue.take())
    times = [time_ns for time_ns, _ in arrived]
    assert [data[4] for _, data in arrived] == list(range(DEPTH))
    assert times == sorted(times) and began_ns <= times[0] and times[-1] <= time.time_ns()
    assert list(queue.take()) == []
    assert queue.lost == 0
    assert queue.counts == NAMES_PUBLISHERS


@pytest.mark.skipif(not NAMES_PUBLISHERS, reason="rclpy before release 9 does not name the publisher of a message")
def test_messages_that_did_not_fit_are_counted_for_each_publisher(node: Node, queue: MessageQueue) -> None:
    first, second = (node.create_publisher(UInt32, "x", 100) for _ in range(2))
    first.publish(UInt32(data=1))
    assert fetched(queue, 1) == [1]
    second.publish(UInt32(data=2))
    assert fetched(queue, 2) == [2]
    assert queue.lost == 0, "the second publisher has numbers of its own"
    for number in range(3 * DEPTH):
        first.publish(UInt32(data=100 + number))
    time.sleep(0.2)
    received = fetched(queue, 100 + 3 * DEPTH - 1)
    assert len(received) + queue.lost == 3 * DEPTH
    assert queue.lost >= DEPTH
