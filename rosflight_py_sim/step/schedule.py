"""Periodic actions in simulated time, and pauses."""

from __future__ import annotations

import math

from rosflight_py_sim.ground.stamps import NANOSECONDS

LONGEST_STEP_NS = NANOSECONDS // 10
"""Outside of lockstep, a longer gap between two messages is a pause (a node was stopped), not a step."""


class Schedule:
    """Determines when a periodic action is due, on a grid that starts at the first time given.

    Attributes:
        since_ns: time at which the action was last due, ns; infinite before the first.
        next_ns: time from which on the action is due again, ns; it is not due from `since_ns` until then.
    """

    __slots__ = ("_period_ns", "next_ns", "since_ns")

    def __init__(self, rate_hz: float) -> None:
        self._period_ns = round(NANOSECONDS / rate_hz)
        # No time given so far: any is earlier.
        self.since_ns: float = math.inf
        self.next_ns = 0

    def restart(self) -> None:
        """Restart the grid at the next time given."""
        self.since_ns, self.next_ns = math.inf, 0

    def due(self, time_ns: int) -> bool:
        """Whether the action is due: true once per period. A time before that of the last action restarts the grid."""
        if self.since_ns <= time_ns < self.next_ns:
            return False
        if time_ns < self.since_ns:
            self.next_ns = time_ns
        self.since_ns = time_ns
        # Missed periods are skipped, not caught up with.
        self.next_ns += self._period_ns * (1 + (time_ns - self.next_ns) // self._period_ns)
        return True
