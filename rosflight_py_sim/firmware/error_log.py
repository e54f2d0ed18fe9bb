"""Log lines for the error bits: one when an error begins and one when it ends."""

from __future__ import annotations

import math
from collections.abc import Callable

from rosflight_py_sim.firmware.state_machine import ErrorFlag, Log, Severity

FLICKERING = ErrorFlag.UNHEALTHY_ESTIMATOR | ErrorFlag.IMU_NOT_RESPONDING
"""Errors that flicker: in wind the specific force differs briefly from 1 g; a slow machine delays samples."""

SETTLED_US = 10_000_000
"""Time for which a flickering error must be absent to count as ended."""


class ErrorLog:
    """Logs each error once, however often its bit is set before it counts as ended.

    A flickering error counts as ended once its bit has been clear for SETTLED_US, any other as soon as its bit is
    clear. `due_us` is the time at which `update` must be called even if no bit has changed.
    """

    def __init__(self, log: Log, detail: Callable[[ErrorFlag], str]) -> None:
        """Start without errors; `detail` returns text to append when an error begins, or an empty text."""
        self.due_us: float = math.inf
        self._log = log
        self._detail = detail
        self._logged = 0
        self._cleared_us: dict[ErrorFlag, int] = {}

    def update(self, time_us: int, errors: int, armed: bool) -> None:
        """Log which errors have begun or ended, given the bits that are set."""
        for flag in ErrorFlag:
            if flag & errors:
                self._cleared_us.pop(flag, None)
                if not flag & self._logged:
                    self._logged |= flag
                    begun = "error" if armed else "not ready to arm"
                    self._log(_severity(flag, armed), f"{begun}: {flag.reason}{self._detail(flag)}")
            elif flag & self._logged:
                cleared_us = self._cleared_us.setdefault(flag, time_us)
                # Do not wait for the old time after the clock was set back.
                if not flag & FLICKERING or not 0 <= time_us - cleared_us < SETTLED_US:
                    del self._cleared_us[flag]
                    self._logged &= ~flag
                    self._log(Severity.INFO, f"error cleared: {flag.reason}")
        self.due_us = min(self._cleared_us.values(), default=math.inf) + SETTLED_US

    def clock_went_back(self) -> None:
        """Make `update` due at the next pass."""
        self.due_us = -math.inf


def _severity(flag: ErrorFlag, armed: bool) -> Severity:
    if flag is ErrorFlag.UNHEALTHY_ESTIMATOR:
        return Severity.WARNING
    # Before arming, errors are part of normal preparation.
    return Severity.ERROR if armed else Severity.INFO
