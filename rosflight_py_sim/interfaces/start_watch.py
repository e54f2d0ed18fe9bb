"""Whether a node's time of 0 is the time of the graph, or the time of the graph has not arrived yet."""

from __future__ import annotations

import time

from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import Bool

from rosflight_py_sim.step.topics import HAS_STARTED, topic_of

# System time in which a node discovers the time manager, and in which the time of a running graph arrives, s. The time
# never arrives if, for example, the subscription to /clock requests another QoS than is offered.
_DISCOVERED_S, _ARRIVES_S = 5.0, 15.0


class StartWatch:
    """Subscription to sim/has_started of a vehicle, while the time of a node is 0."""

    def __init__(self, node: Node, vehicle: str) -> None:
        """Start the watch.

        Args:
            node: node without a time.
            vehicle: namespace of a vehicle, relative to the node's own; empty for the node's own.
        """
        self._node, self._topic = node, topic_of(vehicle, HAS_STARTED.name)
        self._has_started: bool | None = None
        self._start_s = time.monotonic()
        self._subscription: Subscription[Bool] | None = node.create_subscription(
            Bool, self._topic, self._on_has_started, HAS_STARTED.qos
        )

    def time_is_zero(self) -> bool:
        """Whether 0 is the time of the graph, as far as is known.

        It is if sim/has_started is false. Otherwise 0 counts as the time once no other time has arrived for 5 s, or for
        15 s if sim/has_started is published.
        """
        if self._has_started is False:
            return True
        is_known = self._has_started or self._node.count_publishers(self._topic)
        return time.monotonic() - self._start_s >= (_ARRIVES_S if is_known else _DISCOVERED_S)

    def close(self) -> None:
        """End the watch; call it when the time is known."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _on_has_started(self, message: Bool) -> None:
        self._has_started = message.data
