"""A clock shared by the nodes of one process."""

from __future__ import annotations

from rclpy.clock import ROSClock
from rclpy.time_source import TimeSource

from rosflight_py_sim.ground.stamps import EPOCH
from rosflight_py_sim.interfaces.rclpy_internals import time_setter


class SharedClock:
    """Simulated time of all nodes, set before the first node receives a /clock message.

    Attributes:
        clock: clock that the nodes use; it counts from EPOCH.
        time_ns: simulated time, ns.
    """

    def __init__(self) -> None:
        """Begin at time 0."""
        self.clock = ROSClock()
        self._set_clock = time_setter(self.clock)
        self._led: list[ROSClock] = []
        self.time_ns = 0
        # The source only switches clocks to simulated time; without a node it has no subscription.
        self._source = TimeSource()
        self._source.attach_clock(self.clock)
        self._source.ros_time_is_active = True

    def lead(self, clock: ROSClock) -> None:
        """Keep the clock of a plain rclpy node at the same time from now on."""
        self._source.attach_clock(clock)
        clock.set_ros_time_override(self.clock.now())
        self._led.append(clock)

    def set(self, time_ns: int) -> None:
        """Set all clocks."""
        if time_ns != self.time_ns:
            self.time_ns = time_ns
            self._set_clock(time_ns + EPOCH.ns)
            for clock in self._led:
                clock.set_ros_time_override(self.clock.now())
