"""Time manager that follows the system clock, faster or slower by a factor (time mode `paced`)."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from rclpy.timer import Timer

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.start_time import StartingVehicle, StartTime
from rosflight_py_sim.interfaces.time_manager_interface import TIME_MANAGER_PARAMETERS, TimeManagerInterface, only

# After a longer interruption (a stopped process, a closed laptop) time continues where it stopped.
_CATCH_UP_NS = NANOSECONDS // 10


class StandaloneTimeManager(TimeManagerInterface):
    """Publishes /clock every default_pub_rate_us of simulated time, real_time_multiplier times as fast as system time.

    It starts at the time of the newest truth state (so a manager that is restarted in a running graph continues where
    the previous one stopped), or at 0 if there is none: see StartTime.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_time_manager",)
    PARAMETERS: ClassVar[ParameterTable] = TIME_MANAGER_PARAMETERS + ParameterTable(
        only("paced"),
        Parameter(
            "default_pub_rate_us",
            2500.0,
            "Simulated time between two /clock messages; no timer on simulated time can be finer",
            "us",
            minimum=1.0,
            maximum=1e6,
        ),
    )

    HOSTS: ClassVar[tuple[type[Any], ...]] = (StartingVehicle,)

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        self._time_ns = 0
        self._timer: Timer | None = None
        self._start_time: StartTime | None = None

    def begin(self) -> None:
        """Wait for the time to begin with."""
        super().begin()
        self._start_time = StartTime(self)
        self._anchor()

    def configure(self, values: dict[str, Value]) -> None:
        """Set interval and pace."""
        super().configure(values)
        self._interval_ns = round(number(values, "default_pub_rate_us") * 1e3)
        self._multiplier = number(values, "real_time_multiplier")
        timer = self.create_system_timer(self._interval_ns / NANOSECONDS / self._multiplier, self._on_timer)
        if self._timer is not None:
            self.destroy_timer(self._timer)
        self._timer = timer
        self._anchor()

    @property
    def has_time(self) -> bool:
        """Whether the time to begin with is known."""
        return self._start_time is None

    def update_time(self) -> None:
        """Advance by one interval."""
        self._time_ns += self._interval_ns

    def get_seconds(self) -> int:
        """Whole seconds of the simulation's time."""
        return self._time_ns // NANOSECONDS

    def get_nanoseconds(self) -> int:
        """Nanoseconds beyond the whole seconds."""
        return self._time_ns % NANOSECONDS

    def add_vehicle(self, name: str) -> None:
        """Serve another vehicle; once time has started, its truth state does not set the time."""
        super().add_vehicle(name)
        if self.has_time:
            self.timed[-1].end_port("take_truth")

    def on_resume(self) -> None:
        """Measure the pace from now."""
        self._anchor()

    def _anchor(self) -> None:
        self._anchor_wall_ns = time.monotonic_ns()
        self._anchor_time_ns = self._time_ns

    def _on_timer(self) -> None:
        if self._start_time is not None and not self._start(self._start_time):
            return
        self.check_end()
        if not self.may_advance:
            return
        if self.paused:
            self.advance()
            return
        elapsed_ns = time.monotonic_ns() - self._anchor_wall_ns
        behind_ns = self._anchor_time_ns + int(elapsed_ns * self._multiplier) - self._time_ns
        if behind_ns > _CATCH_UP_NS * self._multiplier:
            self.lags += 1
            self._anchor()
            self.advance()
        # Half an interval of tolerance keeps one message per timer call if the timer is slightly early.
        while not self.paused and 2 * behind_ns >= self._interval_ns:
            self.advance()
            behind_ns -= self._interval_ns

    def _start(self, start_time: StartTime) -> bool:
        """Set the start time; return False while it is not known."""
        known_ns = start_time.known_ns()
        if known_ns is None:
            return False
        self._start_time, self._time_ns = None, known_ns
        for vehicle in self.timed:
            vehicle.end_port("take_truth")
        self._anchor()
        return True
