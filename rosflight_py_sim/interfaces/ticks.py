"""Regular calls in the node's time, triggered by the system clock or by /clock."""

from __future__ import annotations

import math
from collections.abc import Callable

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import CLOCK
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.stamps import NANOSECONDS


class Schedule:
    """Determines when a periodic action is due, on a grid that starts at the first time given.

    Attributes:
        next_ns: time from which on the action is due again, unless time goes back, ns.
    """

    __slots__ = ("_last_ns", "_period_ns", "next_ns")

    def __init__(self, rate_hz: float) -> None:
        self._period_ns = round(NANOSECONDS / rate_hz)
        # No time given so far: any is earlier than the last.
        self._last_ns: float = math.inf
        self.next_ns = 0

    def restart(self) -> None:
        """Restart the grid at the next time given."""
        self._last_ns, self.next_ns = math.inf, 0

    def due(self, time_ns: int) -> bool:
        """Whether the action is due: true once per period. A time before the previous one restarts the grid."""
        if self._last_ns <= time_ns < self.next_ns:
            self._last_ns = time_ns
            return False
        if time_ns < self._last_ns:
            self.next_ns = time_ns
        self._last_ns = time_ns
        # Missed periods are skipped, not caught up with.
        self.next_ns += self._period_ns * (1 + (time_ns - self.next_ns) // self._period_ns)
        return True


def subscribe_to_clock(node: SimulationNode, on_time: Callable[[int], None]) -> None:
    """Call `on_time` with the time, ns, of every /clock message, including repeated ones."""

    def on_clock(time_ns: int) -> None:
        node.update_clock(time_ns)
        on_time(time_ns)

    node.follow_stamps()
    node.subscribe(CLOCK, on_clock)


def start_ticks(node: SimulationNode, rate_hz: float, on_tick: Callable[[int], None]) -> None:
    """Call `on_tick` with the time, ns, `rate_hz` times a second of the node's time.

    Without use_sim_time a timer on system time triggers the calls; with it the /clock messages do, even in time mode
    `wall`, so launch files that set only use_sim_time, such as ROSflight's, need no other parameter.

    Raises:
        ParameterError: time mode `paced` or `gated` without use_sim_time.
    """
    if not node.get_parameter("use_sim_time").value:
        time_mode = node.values["time_mode"]
        if time_mode != "wall":
            raise ParameterError(f"parameter 'use_sim_time': False given; with time_mode '{time_mode}' allowed: true")
        node.create_timer(1.0 / rate_hz, lambda: on_tick(node.now_ns))
        return
    schedule = Schedule(rate_hz)

    def on_time(time_ns: int) -> None:
        if schedule.due(time_ns):
            on_tick(time_ns)

    subscribe_to_clock(node, on_time)
