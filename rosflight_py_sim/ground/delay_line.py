"""Delay line: messages that arrive a fixed time after they were sent."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

M = TypeVar("M")


class DelayLine(Generic[M]):
    """Delivers messages in the order of sending; without a delay, at once. Times are integers of any unit.

    Attributes:
        due: time at which the next message arrives; infinite while none is in transit.
    """

    def __init__(self, delay: int, deliver: Callable[[M, int], None]) -> None:
        """`deliver` is called with each message and the time at which it is delivered."""
        self.due: float = math.inf
        self._delay, self._deliver = delay, deliver
        self._in_transit: deque[tuple[int, M]] = deque()

    def send(self, time: int, message: M) -> None:
        """Send a message."""
        if not self._delay:
            self._deliver(message, time)
            return
        self._in_transit.append((time + self._delay, message))
        self.due = self._in_transit[0][0]

    def insert(self, time: int, message: M) -> None:
        """Send a message with the time at which it was sent, possibly after messages that were sent later."""
        if not self._delay:
            self._deliver(message, time)
            return
        arrival, in_transit = time + self._delay, self._in_transit
        in_transit.insert(sum(one[0] <= arrival for one in in_transit), (arrival, message))
        self.due = in_transit[0][0]

    def advance(self, time: int) -> None:
        """Deliver the messages that have arrived by now."""
        in_transit = self._in_transit
        while in_transit and in_transit[0][0] <= time:
            self._deliver(in_transit.popleft()[1], time)
        self.due = in_transit[0][0] if in_transit else math.inf

    def in_transit(self) -> list[M]:
        """The messages in transit, the next to arrive first."""
        return [message for _, message in self._in_transit]

    def clear(self) -> None:
        """Drop the messages in transit."""
        self._in_transit.clear()
        self.due = math.inf
