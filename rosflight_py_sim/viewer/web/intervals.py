"""Intervals of system time at which parts of the page are updated."""

from __future__ import annotations

import time


class Intervals:
    """When each part is due again."""

    def __init__(self, **periods_s: float) -> None:
        """Let every part be due at once; `periods_s`: shortest time between updates of each part, s."""
        self._periods_s = periods_s
        self._due_s: dict[str, float] = {}

    def is_due(self, part: str) -> bool:
        """Whether a part is due; if so, its next interval begins."""
        now_s = time.monotonic()
        if now_s < self._due_s.get(part, 0.0):
            return False
        self._due_s[part] = now_s + self._periods_s[part]
        return True

    def restart(self) -> None:
        """Let every part be due at once."""
        self._due_s.clear()
