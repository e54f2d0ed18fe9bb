"""Message counts and sampled callback durations of a node's topics, at negligible cost per message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import Any

from rosflight_py_sim.ground.stamps import NANOSECONDS

SAMPLED = 17
"""One callback in this many is timed; a prime number, so that the timed callback varies within the step."""

_MICROSECONDS = 1e-3


class TopicCounter:
    """Messages of one publisher or subscription.

    Attributes:
        count: number of messages so far, without those of the publishers that the counter follows.
        needed: whether the node requires these messages.
        has_ended: whether the node has been destroyed; an executor may still have a message for it.
        took_ns: durations of the callbacks timed since the last reading, ns.
    """

    __slots__ = ("_followed", "count", "has_ended", "needed", "took_ns")

    def __init__(self, needed: bool = False) -> None:
        self.count = 0
        self._followed: list[tuple[TopicCounter, int]] = []
        self.needed = needed
        self.has_ended = False
        self.took_ns: list[int] = []

    @property
    def total(self) -> int:
        """Number of messages so far."""
        return self.count + sum(sender.count - before for sender, before in self._followed)

    def follow(self, senders: Iterable[TopicCounter]) -> None:
        """From now on, also count each message of these publishers, and of no others."""
        self.count = self.total
        self._followed = [(sender, sender.count) for sender in senders]

    def counted(self, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """The same function, with its calls counted."""

        def count(message: Any) -> None:
            self.count += 1
            act(message)

        return count

    def timed(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """The same function, with its calls counted and some of them timed."""

        def count(message: Any) -> None:
            if self.has_ended:
                return
            self.count += 1
            if self.count % SAMPLED:
                callback(message)
            else:
                self.time(callback, message)

        return count

    def time(self, callback: Callable[[Any], None], message: Any) -> None:
        """Call a callback, and note its duration."""
        began_ns = perf_counter_ns()
        callback(message)
        self.took_ns.append(perf_counter_ns() - began_ns)


@dataclass(frozen=True)
class TopicFlow:
    """Messages of a topic in a period.

    Attributes:
        topic: full name.
        count: messages in the period.
        total: messages since the start of the node.
        needed: whether the node requires these messages.
        callback_us: (median, maximum) duration of the timed callbacks, us; None if none was timed.
        load: estimated share of system time spent in the callbacks, 0 to 1.
    """

    topic: str
    count: int
    total: int
    needed: bool = False
    callback_us: tuple[float, float] | None = None
    load: float = 0.0


@dataclass(frozen=True)
class Period:
    """Messages of a node between two reports.

    Attributes:
        wall_s: length in system time, s.
        simulated_s: length in the node's time, s; 0 in a pause and after time has gone back.
        received, published: by topic.
    """

    wall_s: float
    simulated_s: float
    received: tuple[TopicFlow, ...]
    published: tuple[TopicFlow, ...]

    def hz(self, count: int) -> float:
        """Rate per second of the node's time, or of system time while the node's time does not advance."""
        return count / (self.simulated_s or self.wall_s)

    @property
    def real_time_factor(self) -> float:
        """Seconds of the node's time per second of system time."""
        return self.simulated_s / self.wall_s

    @property
    def load(self) -> float:
        """Estimated share of system time that the node's callbacks took, 0 to 1."""
        return sum(flow.load for flow in self.received)

    @property
    def busiest(self) -> TopicFlow | None:
        """Subscription with the highest load; None if no callback was timed."""
        return max((flow for flow in self.received if flow.callback_us), key=lambda flow: flow.load, default=None)


class TopicStatistics:
    """Counters of all topics of a node."""

    def __init__(self) -> None:
        self._subscriptions: dict[Any, tuple[str, TopicCounter]] = {}
        self._publishers: dict[Any, tuple[str, TopicCounter]] = {}
        self._before: dict[TopicCounter, int] = {}

    def add_subscription(self, subscription: Any, counter: TopicCounter) -> None:
        """Add the counter of a subscription."""
        self._subscriptions[subscription] = subscription.topic_name, counter

    def add_publisher(self, publisher: Any, counter: TopicCounter) -> None:
        """Add the counter of a publisher."""
        self._publishers[publisher] = publisher.topic_name, counter

    @property
    def subscriptions(self) -> list[Any]:
        """Subscriptions with a counter."""
        return list(self._subscriptions)

    def end(self) -> None:
        """Discard all further messages."""
        for _, counter in self._subscriptions.values():
            counter.has_ended = True

    def forget(self, end: Any) -> None:
        """Remove the counter of a subscription or publisher, if there is one."""
        for ends in (self._subscriptions, self._publishers):
            _, counter = ends.pop(end, ("", None))
            if counter is not None:
                self._before.pop(counter, None)

    def read(self, wall_s: float, simulated_s: float) -> Period:
        """Messages since the last reading, for a period of these lengths (s)."""
        received = tuple(self._flow(topic, counter, wall_s) for topic, counter in self._subscriptions.values())
        published = tuple(self._flow(topic, counter, wall_s) for topic, counter in self._publishers.values())
        return Period(wall_s, simulated_s, received, published)

    def _flow(self, topic: str, counter: TopicCounter, wall_s: float) -> TopicFlow:
        total, took = counter.total, counter.took_ns
        counter.took_ns = []
        count = total - self._before.get(counter, 0)
        self._before[counter] = total
        if not took:
            return TopicFlow(topic, count, total, counter.needed)
        load = count * sum(took) / len(took) / NANOSECONDS / wall_s
        return TopicFlow(
            topic, count, total, counter.needed, (median(took) * _MICROSECONDS, max(took) * _MICROSECONDS), load
        )
