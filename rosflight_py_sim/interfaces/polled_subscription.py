"""Polled subscription: `take` returns its newest message, and arriving messages wake no executor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rclpy.node import Node

from rosflight_py_sim.interfaces.hand_off_ends import Inlet, Outlet, converted
from rosflight_py_sim.interfaces.rclpy_internals import leave_unserved, serve, take_serialised
from rosflight_py_sim.step.qos import NEWEST
from rosflight_py_sim.step.topics import StepTopic

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.simulation_node import SimulationNode

M = TypeVar("M")


class PolledSubscription(Generic[M]):
    """A subscription that no executor serves.

    A display takes and decodes 30 messages per second from a topic with 1000; the others never reach Python. The
    subscription ends with the node.

    Attributes:
        name: full name of the topic.
    """

    def __init__(self, node: SimulationNode, topic: StepTopic[M], name: str) -> None:
        """Subscribe to `topic` under a name, with the node's namespace and remappings."""
        self._topic, self._node = topic, node
        # rclpy's method: SimulationNode's counts messages in the callback, which is never called here.
        self._subscription = Node.create_subscription(node, topic.message_type, name, _never, NEWEST, raw=True)
        leave_unserved(node, self._subscription)
        self.name = self._subscription.topic_name
        self._hand_off = node.hand_off
        self._taken: dict[Outlet, Any] = {}
        self._inlet = Inlet(topic, NEWEST, self._subscription, None, lambda _: None)
        if self._hand_off is not None:
            self._hand_off.add_inlet(self._inlet)

    def take(self) -> M | None:
        """The newest message; None if there has been none since the last call."""
        outlets = [] if self._hand_off is None else self._hand_off.outlets(self.name)
        if len(self._taken) > len(outlets):
            # An outlet that has been removed would keep its node.
            self._taken = {outlet: last for outlet, last in self._taken.items() if outlet in outlets}
        for outlet in outlets:
            last = outlet.newest()
            if last is not self._taken.get(outlet):
                self._taken[outlet] = last
                message: M = converted(outlet.topic, self._topic, last)
                return message
        taken = take_serialised(self._subscription)
        if taken is None:
            return None
        data, facts = taken
        is_echo = self._inlet.is_echo(data, facts["publication_sequence_number"])
        return None if is_echo else self._topic.decode(data)

    def close(self) -> None:
        """Destroy the subscription before its node is destroyed."""
        if self._hand_off is not None:
            self._hand_off.remove(self._subscription)
        # Only the node also removes the handlers of its events, which keep it alive.
        serve(self._node, self._subscription)
        Node.destroy_subscription(self._node, self._subscription)


def _never(_: bytes) -> None:
    """Callback that no executor calls."""
