"""Start time of a time manager, in a graph that may already be running."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rclpy.qos import DurabilityPolicy
from rclpy.subscription import Subscription

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE, topic_of
from rosflight_py_sim.step.vehicle_state import VehicleState

# Time limits for the truth state of a dynamics node that publishes only after a wrench (ROSflight's), and for the
# discovery of any dynamics node. A process that misses the first discovery announcement of another receives the next
# after 3 s.
_ARRIVAL_S = 2.0
_DISCOVERY_S = 7.0

# Interval of the check for dynamics nodes.
_CHECK_S = 0.05


class StartTime:
    """Time of the newest truth state, or 0 if there is none.

    A time manager that is restarted in a running graph continues where the previous one stopped. The wait for this
    package's dynamics is unlimited, because it publishes its state at least every half second. The wait for another
    dynamics node is limited, because it may publish nothing until time advances.
    """

    def __init__(self, node: SimulationNode, vehicles: Sequence[str]) -> None:
        """Subscribe to the truth states of all vehicles, by their namespaces."""
        self._node = node
        self._topics = [topic_of(vehicle, TRUTH_STATE.name) for vehicle in vehicles]
        self._newest_ns = -1
        self._give_up_s = time.monotonic() + _DISCOVERY_S
        self._next_check_s = 0.0
        self._found_s: float | None = None
        self._subscriptions: list[Subscription] = [
            node.subscribe(TRUTH_STATE, self._on_truth, vehicle, qos=CHAIN) for vehicle in vehicles
        ]

    def known_ns(self) -> int | None:
        """Start time, ns; None while it is unknown. Do not call again once it is known."""
        if self._newest_ns < 0 and not self._has_waited():
            return None
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        return max(self._newest_ns, 0)

    def _on_truth(self, state: VehicleState) -> None:
        self._newest_ns = max(self._newest_ns, state.time_ns)

    def _has_waited(self) -> bool:
        now_s = time.monotonic()
        if now_s < self._next_check_s:
            return False
        self._next_check_s = now_s + _CHECK_S
        sources = [source for topic in self._topics for source in self._node.get_publishers_info_by_topic(topic)]
        if any(source.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL for source in sources):
            # This package's dynamics, which repeats its state.
            self._found_s = None
            return False
        if not sources:
            return now_s >= self._give_up_s
        if self._found_s is None:
            self._found_s = now_s
        return now_s >= self._found_s + _ARRIVAL_S
