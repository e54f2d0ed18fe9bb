"""Detection of an attitude that oscillates, because the gains of its control loop are too high for the vehicle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.recording.state_log import Array, StateLog

# Length of the windows, s, and of the moving average that is subtracted in them.
_WINDOW_S, _AVERAGE_S = 2.0, 0.26

# Least amplitude, rad/s, and frequency, Hz, of an oscillation; least share of the fast motion in the variance of the
# rate; greatest standard deviation of the intervals between zero crossings, per their mean. A regular oscillation has
# equal intervals; white noise has 0.5 to 0.7.
_LEAST_RADPS, _LEAST_HZ = 0.5, 3.0
_LEAST_SHARE, _GREATEST_SPREAD = 0.75, 0.4

_AXES = {"roll": "PID_ROLL_ANG_D", "pitch": "PID_PITCH_ANG_D", "yaw": "PID_YAW_RATE_P"}


@dataclass(frozen=True)
class Oscillation:
    """An oscillation of a body rate.

    Attributes:
        axis: roll, pitch or yaw.
        frequency_hz: its frequency.
        amplitude: its amplitude, rad/s.
        begin_s: start of the first window with it.
    """

    axis: str
    frequency_hz: float
    amplitude: float
    begin_s: float

    def __str__(self) -> str:
        return (
            f"the {self.axis} rate oscillates at {self.frequency_hz:.2g} Hz from {self.begin_s:.1f} s on, with an "
            f"amplitude of {self.amplitude:.2g} rad/s: the gains of its loop, as {_AXES[self.axis]} of a multirotor "
            "with ROSflight's firmware, are too high for this vehicle; rosflight_py_sim gains designs them"
        )


class OscillationWatch:
    """Looks for the first oscillation in a log, which may still be growing; each window of 2 s is looked at once.

    The rate, less its moving average, has most of the rate's power and crosses zero at equal intervals (crossings: T.
    Haegglund, A Control-Loop Performance Monitor, 1995; intervals: K. Forsman, A. Stattin, A New Criterion for
    Detecting Oscillations in Control Loops, 1999). The log resolves frequencies up to half its rate, 25 Hz.

    Attributes:
        found: the strongest oscillation in the first window with one; None before.
    """

    def __init__(self) -> None:
        self.found: Oscillation | None = None
        self._first, self._needed = 0, 2

    def observe(self, log: StateLog) -> None:
        """Look at the windows that are complete since the last call; takes no time if there are none."""
        if self.found is not None or len(log) < self._needed:
            return
        time_s, rates = log.time_s, log.truth[:, 10:13]
        step_s = float(np.median(np.diff(time_s)))
        length, average = max(2, round(_WINDOW_S / step_s)), 2 * (round(_AVERAGE_S / step_s) // 2) + 1
        while self.found is None and self._first + length <= len(time_s):
            window = slice(self._first, self._first + length)
            found = [
                one
                for axis, rate in zip(_AXES, rates[window].T, strict=True)
                if (one := _oscillation(axis, rate, step_s, average, float(time_s[self._first]))) is not None
            ]
            self.found = max(found, key=lambda one: one.amplitude, default=None)
            self._first += length // 2
        self._needed = self._first + length


def oscillation_of(log: StateLog) -> Oscillation | None:
    """The first oscillation in a complete log, as `OscillationWatch` finds it; None if there is none."""
    watch = OscillationWatch()
    watch.observe(log)
    return watch.found


def _oscillation(axis: str, rate: Array, step_s: float, average: int, begin_s: float) -> Oscillation | None:
    padded = np.pad(rate, average // 2, mode="edge")
    fast = rate - np.convolve(padded, np.full(average, 1.0 / average), "valid")
    power = float(np.mean(fast * fast))
    amplitude = (2.0 * power) ** 0.5
    if not amplitude >= _LEAST_RADPS or power < _LEAST_SHARE * float(np.var(rate)):
        return None
    before, after = fast[:-1], fast[1:]
    at = np.flatnonzero(np.signbit(before) != np.signbit(after))
    # Between two rows, the rate crosses zero where the line between them does.
    crossings = (at + before[at] / (before[at] - after[at])) * step_s
    if len(crossings) < 2 * _LEAST_HZ * _WINDOW_S:
        return None
    intervals = np.diff(crossings)
    mean = float(intervals.mean())
    if float(intervals.std()) > _GREATEST_SPREAD * mean:
        return None
    return Oscillation(axis, 0.5 / mean, amplitude, begin_s)
