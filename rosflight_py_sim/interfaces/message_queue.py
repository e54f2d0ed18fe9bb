"""Messages of a subscription that its node fetches, with the number of those lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.node import Node
from rclpy.subscription import Subscription

from rosflight_py_sim.interfaces.rclpy_internals import leave_unserved, take_serialised


class MessageQueue:
    """Queue of a subscription that no executor serves.

    A gap in the sequence numbers of a publisher counts as lost. DDS's own event for lost messages is not used: its
    handler and the thread that receives messages each wait for a lock that the other holds (rmw_fastrtps 9.3), and an
    overloaded process stops for good.

    Attributes:
        subscription: the subscription.
        lost: number of messages lost so far; 0 while they are not counted.
        counts: whether losses are counted; False once a message has come without its number or its publisher, as every
            message does with rclpy before release 9.
    """

    def __init__(self, node: Node, subscription: Subscription[Any]) -> None:
        """Take the subscription from the node's executor."""
        self.subscription = subscription
        self.lost = 0
        self.counts = True
        self._numbers: dict[bytes, int] = {}
        self._last_ns = 0
        leave_unserved(node, subscription)

    def take(self) -> Iterator[tuple[int, bytes]]:
        """Arrival time (ns since 1970) and serialised data of each message since the last call.

        The times never decrease: a message kept for late subscribers arrives after later ones, but is delivered before.
        """
        # At most as many as fit in the queue: messages may arrive as fast as they are taken.
        for _ in range(self.subscription.qos_profile.depth):
            taken = take_serialised(self.subscription)
            if taken is None:
                return
            data, facts = taken
            self._count(facts)
            self._last_ns = max(self._last_ns, facts["received_timestamp"])
            yield self._last_ns, data

    def _count(self, facts: dict[str, Any]) -> None:
        number, publisher = facts.get("publication_sequence_number"), facts.get("publisher_gid")
        if number is None or publisher is None:
            self.counts = False
            return
        before = self._numbers.get(publisher["data"], number - 1)
        self.lost += max(0, number - before - 1)
        self._numbers[publisher["data"]] = max(number, before)
