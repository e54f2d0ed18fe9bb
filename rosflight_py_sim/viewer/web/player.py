"""Playback position in a recorded flight, and the states between its samples."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray


class Player:
    """Playback position; used by several threads.

    Attributes:
        first_s, last_s: times of the recording's first and last state, s.
    """

    def __init__(self, first_s: float, last_s: float, speed: float) -> None:
        """Start at the beginning, playing."""
        self.first_s, self.last_s = first_s, last_s
        self._lock = threading.Lock()
        self._time_s = first_s
        self._speed = speed
        self._playing = True

    @property
    def time_s(self) -> float:
        """Playback position, s."""
        return self._time_s

    @property
    def speed(self) -> float:
        """Seconds of the recording per second; 0 while paused."""
        return self._speed if self._playing else 0.0

    @property
    def playing(self) -> bool:
        """Whether playback is running."""
        return self._playing

    def toggle(self) -> None:
        """Pause or resume; at the end, start again from the beginning."""
        with self._lock:
            if not self._playing and self._time_s >= self.last_s:
                self._time_s = self.first_s
            self._playing = not self._playing

    def seek(self, time_s: float) -> None:
        """Move to a time, limited to the recording's span."""
        with self._lock:
            self._time_s = min(max(time_s, self.first_s), self.last_s)

    def play_from(self, time_s: float, first_s: float, last_s: float) -> None:
        """Play from a time of another span."""
        with self._lock:
            self.first_s, self.last_s = first_s, last_s
            self._time_s = min(max(time_s, first_s), last_s)
            self._playing = True

    def set_speed(self, speed: float) -> None:
        """Set the playback speed."""
        with self._lock:
            self._speed = speed

    def advance(self, elapsed_s: float) -> float:
        """Advance by elapsed system time and return the new position; playback pauses at the end."""
        with self._lock:
            if self._playing:
                self._time_s = min(self._time_s + elapsed_s * self._speed, self.last_s)
                self._playing = self._time_s < self.last_s
            return self._time_s


def between(
    time_s: float, before_s: float, before: NDArray[np.float64], after_s: float, after: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Truth vector at a time, s, interpolated between two others; the nearer one outside of their times.

    Quaternions of opposite signs are the same attitude.
    """
    span_s = after_s - before_s
    share = min(max((time_s - before_s) / span_s, 0.0), 1.0) if span_s > 0.0 else 0.0
    turned = after.copy()
    if before[3:7] @ after[3:7] < 0.0:
        turned[3:7] = -turned[3:7]
    truth: NDArray[np.float64] = before + share * (turned - before)
    truth[3:7] /= np.linalg.norm(truth[3:7]) or 1.0
    return truth
