"""A clock shared by the nodes of one process."""

from __future__ import annotations

from rclpy.clock import ClockType, ROSClock
from rclpy.time import Time
from rclpy.time_source import TimeSource

from rosflight_py_sim.ground.stamps import EPOCH


class SharedClock:
    """Simulated time of all nodes, set by the first node that receives a /clock message.

    Attributes:
        clock: clock that the nodes use; it counts from EPOCH.
    """

    def __init__(self) -> None:
        """Begin at time 0."""
        self.clock = ROSClock()
        self._clocks = [self.clock]
        self._time_ns = 0
        # The source only switches clocks to simulated time; without a node it has no subscription.
        self._source = TimeSource()
        self._source.attach_clock(self.clock)
        self._source.ros_time_is_active = True

    @property
    def time_ns(self) -> int:
        """Simulated time, ns."""
        return self._time_ns

    def lead(self, clock: ROSClock) -> None:
        """Keep the clock of a plain rclpy node at the same time from now on."""
        self._source.attach_clock(clock)
        clock.set_ros_time_override(self.clock.now())
        self._clocks.append(clock)

    def set(self, time_ns: int) -> None:
        """Set all clocks."""
        if time_ns == self._time_ns:
            return
        self._time_ns = time_ns
        time = Time(nanoseconds=time_ns + EPOCH.ns, clock_type=ClockType.ROS_TIME)
        for clock in self._clocks:
            clock.set_ros_time_override(time)
