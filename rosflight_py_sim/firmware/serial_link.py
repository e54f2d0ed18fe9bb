"""Serial link from the companion computer, whose messages arrive after a delay."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable


class SerialLink:
    """Delivers messages in the order of sending; without a delay, at once.

    `due_us` is the time at which the next message arrives; infinite while none is in transit.
    """

    def __init__(self, delay_us: int) -> None:
        self.due_us: float = math.inf
        self._delay_us = delay_us
        self._under_way: deque[tuple[int, Callable[[], None]]] = deque()

    def send(self, time_us: int, deliver: Callable[[], None]) -> None:
        """Send a message; `deliver` is called when it arrives."""
        if not self._delay_us:
            deliver()
            return
        self._under_way.append((time_us + self._delay_us, deliver))
        self.due_us = self._under_way[0][0]

    def receive(self, time_us: int) -> None:
        """Deliver the messages that have arrived by now."""
        while self._under_way and self._under_way[0][0] <= time_us:
            self._under_way.popleft()[1]()
        self.due_us = self._under_way[0][0] if self._under_way else math.inf

    def clock_went_back(self) -> None:
        """Drop the messages in transit: their times belong to the later clock."""
        self._under_way.clear()
        self.due_us = math.inf
