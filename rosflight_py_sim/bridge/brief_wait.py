"""Wait for a program's answer, which usually arrives within some tens of microseconds."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable

# ArduPilot's median reply takes 30 us, less than the wake-up of a sleeping process, so the sockets are first polled
# without sleep (65 us instead of 100).
_SLEEPLESS_S = 50e-6

BRIEF_S = 1e-3
"""Longest wait, s."""


class BriefWait:
    """Waits until one of some file descriptors is readable."""

    def __init__(self, filenos: Iterable[int]) -> None:
        """Watch file descriptors, which stay open."""
        self._poll = select.poll()
        for fileno in filenos:
            self._poll.register(fileno, select.POLLIN)

    def is_readable_soon(self) -> bool:
        """Wait until one is readable, for up to BRIEF_S; return whether one is."""
        poll, now_s = self._poll.poll, time.perf_counter
        end_s = now_s() + _SLEEPLESS_S
        while now_s() < end_s:
            if poll(0):
                return True
        return bool(poll(BRIEF_S * 1e3))
