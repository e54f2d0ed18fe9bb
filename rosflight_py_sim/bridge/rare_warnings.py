"""Rate-limited warnings about events that may occur thousands of times per second."""

from __future__ import annotations

import time

from rosflight_py_sim.bridge.front_end_interface import Logger

_INTERVAL_S = 1.0


class RareWarnings:
    """Logs at most one warning per second over all kinds; each warning has the count of its kind."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._next_s: float | None = None

    def __call__(self, name: str, text: str, count: int, *details: object) -> bool:
        """Log `text` with the count of its kind so far, unless a warning was logged less than a second ago.

        With details, the text has placeholders for them, as in `text % details`. Returns whether it was logged.
        """
        now_s = time.monotonic()
        if self._next_s is not None and now_s < self._next_s:
            return False
        self._next_s = now_s + _INTERVAL_S
        self._logger.warning(f"{text % details if details else text} ({name}: {count} so far)")
        return True
