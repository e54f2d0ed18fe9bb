"""Newest messages of any topics of the graph, for plots of their fields."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.interfaces.message_definitions import message_class
from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.viewer.recorded_messages import LARGE


class LiveMessages:
    """Subscribes to the topics that are plotted, and polls them."""

    def __init__(self, node: SimulationNode) -> None:
        """Subscribe to nothing yet."""
        self._node = node
        self._types: dict[str, Any] = {}
        self._subscriptions: dict[str, PolledSubscription[Any]] = {}
        self._newest: dict[str, Any] = {}

    def topics(self) -> list[str]:
        """Names of the topics of the graph, without images and hidden topics."""
        for name, types in self._node.get_topic_names_and_types():
            if name in self._types or types[0] in LARGE or any(part.startswith("_") for part in name.split("/")):
                continue
            try:
                self._types[name] = message_class(types[0])
            except ImportError:
                # A type of another workspace, whose messages this process cannot read.
                continue
        return sorted(self._types)

    def newest(self, topic: str, time_s: float) -> Any:
        """Newest message of a topic; None before the first."""
        subscription = self._subscriptions.get(topic)
        message = None if subscription is None else subscription.take()
        if message is not None:
            self._newest[topic] = message
        return self._newest.get(topic)

    def keep(self, topics: set[str]) -> None:
        """Subscribe to these topics, and to no others."""
        for gone in self._subscriptions.keys() - topics:
            self._subscriptions.pop(gone).close()
            self._newest.pop(gone, None)
        for name in topics - self._subscriptions.keys():
            self._subscriptions[name] = self._node.poll(StepTopic(name, self._types[name]))
