"""Pressure sensor calibration at rest: the mean of readings with low variance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rosflight_py_sim.firmware.state_machine import Log, Severity

READINGS_LET_PASS = 128
READINGS = 127
LEAST_INTERVAL_US = 20_000
"""Readings closer together than this are not counted."""


class PressureCalibration:
    """Skips 128 readings and averages the next 127, more than 20 ms apart: 8 s at 100 Hz.

    `store` receives the mean and returns the text to log; its ValueError is logged as the reason for failure.
    """

    def __init__(
        self,
        what: str,
        greatest_variance: float,
        log: Log,
        store: Callable[[float], str],
        *,
        runs_until_it_succeeds: bool = False,
    ) -> None:
        """Set up a calibration that fails above `greatest_variance` (Pa^2), as in movement or wind.

        With `runs_until_it_succeeds` it starts at the first reading.
        """
        self._what = what
        self._greatest_variance = greatest_variance
        self._log = log
        self._store = store
        self._again = runs_until_it_succeeds
        self._readings: list[float] | None = [] if runs_until_it_succeeds else None
        self._last_us = 0

    @property
    def running(self) -> bool:
        """Whether readings are being taken."""
        return self._readings is not None

    def start(self, time_us: int) -> None:
        """Begin, or restart."""
        self._readings, self._last_us = [], time_us

    def take(self, time_us: int, pressure_pa: float) -> None:
        """Process a reading while running."""
        assert self._readings is not None
        # After the clock went backwards, do not wait for the old time.
        if 0 <= time_us - self._last_us <= LEAST_INTERVAL_US:
            return
        self._last_us = time_us
        self._readings.append(pressure_pa)
        if len(self._readings) == READINGS_LET_PASS + READINGS:
            readings, self._readings = np.array(self._readings[READINGS_LET_PASS:]), None
            self._finish(float(readings.mean()), float(readings.var(ddof=1)))

    def _finish(self, mean: float, variance: float) -> None:
        if variance >= self._greatest_variance:
            reason = f"too much movement: variance of {variance:.3g} Pa^2 (allowed: {self._greatest_variance:g})"
        else:
            try:
                self._log(Severity.INFO, f"{self._what} calibrated: {self._store(mean)}")
                return
            except ValueError as error:
                reason = str(error)
        if self._again:
            self._readings = []
            self._log(Severity.ERROR, f"{self._what} calibration failed: {reason}; restarting")
        else:
            self._log(Severity.ERROR, f"{self._what} calibration failed: {reason}; the old value is kept")
