"""Timing rules of inputs that are not part of the step: RC frames, commands and status."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from rosflight_py_sim.kernels.chain import NEVER_NS

M = TypeVar("M")

# The longest step: a publisher of the graph is never further ahead of the firmware.
_AHEAD_NS = 20_000_000


class ExpectedInput:
    """A regular input that a step waits for if a busy machine delays its publisher.

    The input is regular from its first two messages within 25 ms of simulated time until `give_up`. It is late 50 ms
    after the last message, half of the time after which the firmware reports it as lost.

    Attributes:
        late_after_ns: time after which the next message is late, ns; infinite while the input is not regular.
    """

    __slots__ = ("_last_ns", "late_after_ns")

    def __init__(self) -> None:
        self._last_ns = 0
        self.late_after_ns: float = math.inf

    def received(self, time_ns: int) -> None:
        if self.late_after_ns < math.inf or 0 <= time_ns - self._last_ns <= 25_000_000:
            self.late_after_ns = time_ns + 50_000_000
        self._last_ns = time_ns

    def is_late(self, time_ns: int) -> bool:
        return time_ns > self.late_after_ns

    def give_up(self) -> None:
        self.late_after_ns = math.inf


class StampedInputs:
    """Inputs that take effect in the first step after their stamp, regardless of the order in which messages arrive.

    Inputs stamped by another clock (from a terminal, or a program on system time) take effect at once.

    Attributes:
        waiting: stamp, function and message of each input that has not taken effect.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[int, Callable[[Any], None], Any]] = []

    def take(self, stamp_ns: int, now_ns: int, act: Callable[[M], None], message: M) -> bool:
        """Pass the message to `act` before the first step after `stamp_ns`; return whether it waits for that step.

        If the last step, `now_ns`, is later than that stamp, or the stamp is of another clock, pass it at once.
        """
        if now_ns <= stamp_ns <= now_ns + _AHEAD_NS:
            self.waiting.append((stamp_ns, act, message))
            return True
        act(message)
        return False

    @property
    def due_ns(self) -> int:
        """Time from which on one takes effect, ns."""
        return min((one[0] for one in self.waiting), default=NEVER_NS) + 1

    def deliver(self, time_ns: int) -> None:
        """Pass on the messages that take effect in the step of `time_ns`."""
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            if one[0] < time_ns:
                one[1](one[2])
            else:
                self.waiting.append(one)
