"""Time manager that follows the system clock, faster or slower by a factor (time mode `paced`)."""

from __future__ import annotations

import math
import time
from typing import Any, ClassVar

from rclpy.qos import DurabilityPolicy
from rclpy.timer import Timer
from rosflight_msgs.msg import SimState

from rosflight_py_sim.interfaces.qos import LATCHED
from rosflight_py_sim.interfaces.time_manager_interface import TIME_MANAGER_PARAMETERS, TimeManagerInterface, topic_of
from rosflight_py_sim.interfaces.wire import NANOSECONDS, stamp_ns
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value, number

# After a longer hold-up (a stopped process, a laptop's lid) time goes on from where it was.
_CATCH_UP_NS = NANOSECONDS // 10

# How long to wait for word of a simulation that is already under way: from dynamics whose state comes with the clock
# alone (ROSflight's), and for anybody at all. A process that missed the others' first words hears of them 3 s later.
_ARRIVAL_S = 2.0
_LONELY_S = 7.0


class StandaloneTimeManager(TimeManagerInterface):
    """Publishes /clock every default_pub_rate_us of simulated time, real_time_multiplier times as fast as system time.

    It starts when it has heard a truth state, from that state's time (so a manager started into a running graph goes on
    where the one before it stopped), or from 0 when none has come for 2 s.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_time_manager",)
    PARAMETERS: ClassVar[ParameterTable] = TIME_MANAGER_PARAMETERS + ParameterTable(
        Parameter(
            "default_pub_rate_us",
            2500.0,
            "Simulated time between two /clock messages; no timer on simulated time can be finer",
            "us",
            minimum=1.0,
            maximum=1e6,
        )
    )

    def __init__(self, **arguments: Any) -> None:
        """Start publishing."""
        self._time_ns = 0
        self._timer: Timer | None = None
        self._under_way = False
        self._wait_until_s = time.monotonic() + _LONELY_S
        self._dynamics_is_there = False
        super().__init__(**arguments)
        for vehicle in self.vehicles:
            self.listen(topic_of(vehicle, "sim/truth_state"), SimState, self._on_truth, LATCHED)
        self._anchor()

    def configure(self, values: dict[str, Value]) -> None:
        """Set interval and pace."""
        super().configure(values)
        self._interval_ns = round(number(values, "default_pub_rate_us") * 1e3)
        self._multiplier = number(values, "real_time_multiplier")
        if self._timer is not None:
            self.destroy_timer(self._timer)
        self._timer = self.create_system_timer(self._interval_ns / NANOSECONDS / self._multiplier, self._on_timer)
        self._anchor()

    def update_time(self) -> None:
        """Move on by one interval."""
        self._time_ns += self._interval_ns

    def get_seconds(self) -> int:
        """Whole seconds of the simulation's time."""
        return self._time_ns // NANOSECONDS

    def get_nanoseconds(self) -> int:
        """Nanoseconds beyond the whole seconds."""
        return self._time_ns % NANOSECONDS

    def on_resume(self) -> None:
        """Go on from now."""
        self._anchor()

    def _anchor(self) -> None:
        self._anchor_wall_ns = time.monotonic_ns()
        self._anchor_time_ns = self._time_ns

    def _on_timer(self) -> None:
        if not self._under_way:
            if not self._waited():
                return
            self._begin(0)
        if not self.may_advance:
            return
        if self.paused:
            self.advance()
            self.answer_step()
            return
        elapsed_ns = time.monotonic_ns() - self._anchor_wall_ns
        behind_ns = self._anchor_time_ns + int(elapsed_ns * self._multiplier) - self._time_ns
        if behind_ns > _CATCH_UP_NS * self._multiplier:
            self.lags += 1
            self._anchor()
            self.advance()
        # Half an interval of tolerance keeps one message per timer call when the timer comes a little early.
        while not self.paused and 2 * behind_ns >= self._interval_ns:
            self.advance()
            behind_ns -= self._interval_ns

    def _waited(self) -> bool:
        """Whether word of a simulation under way would have come by now."""
        now_s = time.monotonic()
        if not self._dynamics_is_there:
            topics = [topic_of(vehicle, "sim/truth_state") for vehicle in self.vehicles]
            sources = [source for topic in topics for source in self.get_publishers_info_by_topic(topic)]
            latched = [s.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL for s in sources]
            self._dynamics_is_there = bool(sources)
            if any(latched):
                # Its word is on the way, however slow the machine.
                self._wait_until_s = math.inf
            elif sources:
                self._wait_until_s = now_s + _ARRIVAL_S
        return now_s >= self._wait_until_s

    def _on_truth(self, message: bytes) -> None:
        if not self._under_way:
            self._begin(stamp_ns(message))

    def _begin(self, time_ns: int) -> None:
        self._under_way = True
        self._time_ns = time_ns
        self._anchor()


def main() -> None:
    """Run the node."""
    run(StandaloneTimeManager)


if __name__ == "__main__":
    main()
