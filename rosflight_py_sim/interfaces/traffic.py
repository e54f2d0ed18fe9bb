"""Counts of what a node hears and says, and samples of how long its answers take, at next to no cost a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import Any

_SAMPLED = 17
"""One callback of so many is timed: a prime, so that it is not the same one of a step's each time."""

_MICROSECONDS = 1e-3


class Tally:
    """Messages of one publisher or subscription.

    Attributes:
        count: all so far.
        needed: whether the node can do nothing without them.
        has_ended: whether the node has: an executor may still have a message for it.
        took_ns: how long the callbacks took that were timed since the last reading, ns.
    """

    __slots__ = ("count", "has_ended", "needed", "took_ns")

    def __init__(self, needed: bool = False) -> None:
        self.count = 0
        self.needed = needed
        self.has_ended = False
        self.took_ns: list[int] = []

    def counted(self, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """What does the same, counted."""

        def count(message: Any) -> None:
            self.count += 1
            act(message)

        return count

    def timed(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """What does the same, counted, and timed now and then."""

        def count(message: Any) -> None:
            if self.has_ended:
                return
            self.count += 1
            if self.count % _SAMPLED:
                callback(message)
                return
            began_ns = perf_counter_ns()
            callback(message)
            self.took_ns.append(perf_counter_ns() - began_ns)

        return count


@dataclass(frozen=True)
class Flow:
    """What went over a topic during a period.

    Attributes:
        topic: full name.
        count: messages in the period.
        total: messages since the node began.
        needed: whether the node can do nothing without them.
        callback_us: (median, longest) of those callbacks that were timed, us; None: none was.
        load: estimated share of system time that the callbacks took, 0 to 1.
    """

    topic: str
    count: int
    total: int
    needed: bool = False
    callback_us: tuple[float, float] | None = None
    load: float = 0.0


@dataclass(frozen=True)
class Period:
    """What a node heard and said between two reports.

    Attributes:
        wall_s: its length in system time, s.
        simulated_s: its length in the node's own time, s; 0 in a pause, or when the time was put back.
        heard, said: by topic.
    """

    wall_s: float
    simulated_s: float
    heard: tuple[Flow, ...]
    said: tuple[Flow, ...]

    def hz(self, count: int) -> float:
        """Rate of something per second of the node's time; of system time where the node's stood still."""
        return count / (self.simulated_s or self.wall_s)

    @property
    def real_time_factor(self) -> float:
        """Seconds of the node's time per second of system time."""
        return self.simulated_s / self.wall_s

    @property
    def load(self) -> float:
        """Estimated share of system time that the node's callbacks took, 0 to 1."""
        return sum(flow.load for flow in self.heard)

    @property
    def busiest(self) -> Flow | None:
        """What takes the node the most time; None: nothing was timed."""
        return max((flow for flow in self.heard if flow.callback_us), key=lambda flow: flow.load, default=None)


class Traffic:
    """All tallies of a node."""

    def __init__(self) -> None:
        self._heard: dict[Any, tuple[str, Tally]] = {}
        self._said: dict[Any, tuple[str, Tally]] = {}
        self._before: dict[Tally, int] = {}

    def hears(self, subscription: Any, tally: Tally) -> None:
        """Take on the tally of a subscription."""
        self._heard[subscription] = subscription.topic_name, tally

    def says(self, publisher: Any, tally: Tally) -> None:
        """Take on the tally of a publisher."""
        self._said[publisher] = publisher.topic_name, tally

    @property
    def subscriptions(self) -> list[Any]:
        """Those whose tallies it has."""
        return list(self._heard)

    def end(self) -> None:
        """Let no message reach the node any more."""
        for _, tally in self._heard.values():
            tally.has_ended = True

    def forget(self, end: Any) -> None:
        """Drop the tally of a subscription or publisher, if it had one."""
        self._heard.pop(end, None)
        self._said.pop(end, None)

    def read(self, wall_s: float, simulated_s: float) -> Period:
        """What there was since the last reading, which was so long ago."""
        heard = tuple(self._flow(topic, tally, wall_s) for topic, tally in self._heard.values())
        said = tuple(self._flow(topic, tally, wall_s) for topic, tally in self._said.values())
        return Period(wall_s, simulated_s, heard, said)

    def _flow(self, topic: str, tally: Tally, wall_s: float) -> Flow:
        total, took = tally.count, tally.took_ns
        tally.took_ns = []
        count = total - self._before.get(tally, 0)
        self._before[tally] = total
        if not took:
            return Flow(topic, count, total, tally.needed)
        load = count * sum(took) / len(took) * 1e-9 / wall_s
        return Flow(topic, count, total, tally.needed, (median(took) * _MICROSECONDS, max(took) * _MICROSECONDS), load)
