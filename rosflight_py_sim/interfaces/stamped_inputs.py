"""Inputs that a step does not depend on, but whose senders take part in the simulation: what counts when."""

from __future__ import annotations

from collections.abc import Callable

# No sender of the graph is further ahead of the firmware than a step; this is the longest that a step may be.
_AHEAD_NS = 20_000_000


class ExpectedInput:
    """A regular input whose sender the machine may hold up while steps go by: worth a step's waiting.

    A sender counts as regular from its first two messages within 25 ms of simulated time until `give_up`, and as late
    50 ms after its last message, which is half of the time after which the firmware reports it as lost.
    """

    def __init__(self) -> None:
        self._last_ns = 0
        self._regular = False

    def received(self, time_ns: int) -> None:
        self._regular = self._regular or 0 <= time_ns - self._last_ns <= 25_000_000
        self._last_ns = time_ns

    def is_late(self, time_ns: int) -> bool:
        return self._regular and time_ns - self._last_ns > 50_000_000

    def give_up(self) -> None:
        self._regular = False


class StampedInputs:
    """Inputs that a pass is to see only when they are of an earlier step, in whatever order they and its IMU come.

    Who sends by another clock than the step's (a terminal, a program in system time) is heard at once.
    """

    def __init__(self) -> None:
        self._held: list[tuple[int, Callable[[], None]]] = []

    def take(self, stamp_ns: int, now_ns: int, act: Callable[[], None]) -> None:
        """Do `act` before the first pass that is later than `stamp_ns`; now, if the last pass was."""
        if now_ns <= stamp_ns < now_ns + _AHEAD_NS:
            self._held.append((stamp_ns, act))
        else:
            act()

    def deliver(self, time_ns: int) -> None:
        """Do what the pass of `time_ns` is to see."""
        if not self._held:
            return
        due = [act for stamp_ns, act in self._held if stamp_ns < time_ns]
        self._held = [one for one in self._held if one[0] >= time_ns]
        for act in due:
            act()
