"""The newest message of a topic, for those who look at it now and then: it wakes nobody when it comes."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from rosflight_py_sim.interfaces.qos import NEWEST


class Newest:
    """A subscription that no executor knows of.

    Of a topic that speaks a thousand times a second, thirty messages a second are taken and decoded; the others never
    reach the interpreter. It ends with the node.
    """

    def __init__(self, node: Node, topic: str, message_type: Any) -> None:
        """Subscribe, with the node's namespace and remappings; `topic` as in create_subscription."""
        self._type = message_type
        # By rclpy's own method: what is never heard cannot be counted, as our nodes do.
        self._subscription = Node.create_subscription(node, message_type, topic, _never, NEWEST, raw=True)
        # An executor looks here for what may wake it. rclpy has no public way to leave something out.
        node._subscriptions.remove(self._subscription)
        self.topic = self._subscription.topic_name

    def take(self) -> bytes | None:
        """The newest message, serialised; None: there has been none since the last call."""
        handle = self._subscription.handle
        with handle:
            taken = handle.take_message(self._type, True)
        return None if taken is None else bytes(taken[0])

    @property
    def is_published(self) -> bool:
        """Whether somebody publishes the topic."""
        return bool(self._subscription.get_publisher_count())

    def close(self) -> None:
        """End the subscription before its node ends."""
        self._subscription.destroy()


def _never(_: bytes) -> None:
    """What no executor calls."""
