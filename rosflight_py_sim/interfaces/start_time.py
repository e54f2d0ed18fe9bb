"""Start time of a time manager, in a graph that may already be running."""

from __future__ import annotations

import time

from rclpy.qos import DurabilityPolicy

from rosflight_py_sim.interfaces.time_manager_interface import TimedVehicle, TimeManagerInterface
from rosflight_py_sim.step.ports import queued
from rosflight_py_sim.step.topics import TRUTH_STATE, topic_of

# Time limits for the truth state of a dynamics node that publishes only after a wrench (ROSflight's), and for the
# discovery of any dynamics node. A process that misses the first discovery announcement of another receives the next
# after 3 s.
_ARRIVAL_S = 2.0
_DISCOVERY_S = 7.0

# Interval of the check for dynamics nodes.
_CHECK_S = 0.05


class StartingVehicle(TimedVehicle):
    """A vehicle whose truth state gives the time of a running graph.

    Attributes:
        newest_ns: stamp of the newest truth state, ns; -1 before the first.
    """

    newest_ns = -1

    @queued(TRUTH_STATE, is_stamp=True)
    def take_truth(self, time_ns: int) -> None:
        """Store the stamp."""
        self.newest_ns = time_ns


class StartTime:
    """Time of the newest truth state, or 0 if there is none.

    A time manager that is restarted in a running graph continues where the previous one stopped. The wait for this
    package's dynamics is unlimited, because it publishes its state at least every half second. The wait for another
    dynamics node is limited, because it may publish nothing until time advances.
    """

    def __init__(self, manager: TimeManagerInterface) -> None:
        """Wait for the truth states of a time manager's vehicles, each a StartingVehicle."""
        self._manager = manager
        self._give_up_s = time.monotonic() + _DISCOVERY_S
        self._next_check_s = 0.0
        self._found_s: float | None = None

    def known_ns(self) -> int | None:
        """Start time, ns; None while it is unknown."""
        newest_ns = max((vehicle.newest_ns for vehicle in self._manager.timed), default=0)
        return None if newest_ns < 0 and not self._has_waited() else max(newest_ns, 0)

    def _has_waited(self) -> bool:
        now_s = time.monotonic()
        if now_s < self._next_check_s:
            return False
        self._next_check_s = now_s + _CHECK_S
        topics = [topic_of(vehicle.name, TRUTH_STATE.name) for vehicle in self._manager.timed]
        sources = [source for topic in topics for source in self._manager.get_publishers_info_by_topic(topic)]
        if any(source.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL for source in sources):
            # This package's dynamics, which repeats its state.
            self._found_s = None
            return False
        if not sources:
            return now_s >= self._give_up_s
        if self._found_s is None:
            self._found_s = now_s
        return now_s >= self._found_s + _ARRIVAL_S
