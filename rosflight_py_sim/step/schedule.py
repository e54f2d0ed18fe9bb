"""Periodic actions in simulated time, and pauses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import NEVER_NS, ChainLink, Due, StepTime, gate, skip_after
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record

LONGEST_STEP_NS = NANOSECONDS // 10
"""Outside of lockstep, a longer gap between two messages is a pause (a node was stopped), not a step."""


@kernel_record
class Periods:
    """A schedule in a chain, whose time does not go back.

    Attributes:
        next_ns: time from which on the action is due again, ns.
        since_ns: time at which the action was last due in the chain, ns; -1 before.
        period_ns: ns.
    """

    next_ns: int
    since_ns: int
    period_ns: int


@kernel
def skip_unless_due(time: StepTime, periods: Periods, skipped: int) -> int:
    """Return 0 if the action is due, else -skipped."""
    if time.time_ns < periods.next_ns:
        return -skipped
    periods.since_ns = time.time_ns
    periods.next_ns += periods.period_ns * (1 + (time.time_ns - periods.next_ns) // periods.period_ns)
    return 0


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

    @property
    def period_ns(self) -> int:
        """Time between two actions, ns."""
        return self._period_ns

    def restart(self) -> None:
        """Restart the grid at the next time given."""
        self.since_ns, self.next_ns = math.inf, 0

    def link(self, time: StepTime, skipped: int) -> ChainLink:
        """Link of a chain that skips so many links unless the action is due."""
        periods = self.periods()
        return ChainLink(bound(skip_unless_due, time, periods, skipped), leave=lambda _: self.store(periods))

    def periods(self) -> Periods:
        """The schedule for `skip_unless_due` in a chain."""
        return Periods(next_ns=self.next_ns, since_ns=-1, period_ns=self._period_ns)

    def store(self, periods: Periods) -> None:
        """Store when the action has been due in a chain."""
        self.next_ns = periods.next_ns
        if periods.since_ns >= 0:
            self.since_ns = periods.since_ns

    def links(
        self,
        time: StepTime,
        links: Sequence[ChainLink],
        by_python: Callable[[int], None],
        leave: Callable[[int], None],
    ) -> Sequence[ChainLink]:
        """The links of a part, to be run when the action is due.

        If the chain is left within a step, the memory of the links is out of date in the rest of that step; the action
        is then left to Python.

        Args:
            time: time of the step.
            links: the links.
            by_python: does the action if it is due, given the time, ns.
            leave: stores for Python what the links have changed, as `ChainLink.leave`; called once.
        """
        left = Due(at_ns=NEVER_NS)
        due = self.link(time, len(links))

        def leave_once(answered_ns: int) -> None:
            if left.at_ns == NEVER_NS:
                left.at_ns = 0
                due.leave(answered_ns)
                leave(answered_ns)

        return (
            gate(time, left, by_python),
            ChainLink(bound(skip_after, time, left, len(links) + 1)),
            due._replace(leave=leave_once),
            *links,
        )

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
