"""A subscription whose newest message is fetched now and then: a message that arrives wakes nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rclpy.node import Node

from rosflight_py_sim.interfaces.hand_off import Inlet
from rosflight_py_sim.interfaces.qos import NEWEST
from rosflight_py_sim.interfaces.step_topics import StepTopic

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.simulation_node import SimulationNode

M = TypeVar("M")


class PolledSubscription(Generic[M]):
    """A subscription that no executor knows of.

    Of a topic with a thousand messages a second, thirty a second are taken and decoded; the others never reach the
    interpreter. It ends with the node.

    Attributes:
        name: full name of the topic.
    """

    def __init__(self, node: SimulationNode, topic: StepTopic[M], name: str) -> None:
        """Subscribe to `topic` under a name, with the node's namespace and remappings."""
        self._topic = topic
        # By rclpy's own method: what is never received cannot be counted, as SimulationNode does.
        self._subscription = Node.create_subscription(node, topic.message_type, name, _never, NEWEST, raw=True)
        # An executor looks here for what may wake it. rclpy has no public way to leave something out.
        node._subscriptions.remove(self._subscription)
        self.name = self._subscription.topic_name
        self._hand_off = node.hand_off
        self._last: Any = None
        self._inlet = Inlet(topic, NEWEST, self._subscription, None, lambda _: None)
        if self._hand_off is not None:
            self._hand_off.add_inlet(self._inlet)

    def take(self) -> M | None:
        """The newest message; None: there has been none since the last call."""
        outlets = [] if self._hand_off is None else self._hand_off.outlets(self.name)
        for outlet in outlets:
            if outlet.last is not self._last:
                self._last = outlet.last
                message: M = outlet.last
                return message
        handle = self._subscription.handle
        with handle:
            taken = handle.take_message(self._topic.message_type, True)
        if taken is None:
            return None
        data = bytes(taken[0])
        if any(outlet.sent == data for outlet in outlets):
            return None
        return self._topic.decode(data)

    @property
    def is_published(self) -> bool:
        """Whether somebody publishes the topic."""
        return bool(self._subscription.get_publisher_count())

    def close(self) -> None:
        """End the subscription before its node ends."""
        if self._hand_off is not None:
            self._hand_off.remove(self._subscription)
        self._subscription.destroy()


def _never(_: bytes) -> None:
    """Callback that no executor calls."""
