"""Detection of jumps in a vehicle's position, as after a reset."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# A vehicle jumped if it moved further than this margin times the mean of both speeds times the time, plus the slack.
_MARGIN, _SLACK_M = 1.5, 0.5


class Movement:
    """Detects jumps between successive positions of a vehicle.

    A vehicle has jumped if time went back, or if it moved further than the mean of both speeds explains, as after a
    reset or a state set by a service.
    """

    def __init__(self) -> None:
        """Start without a position; the first one counts as a jump."""
        self._position = np.zeros(3)
        self._time_s, self._speed = math.inf, 0.0

    def jumps_to(self, position: NDArray[np.float64], time_s: float, speed: float) -> bool:
        """Add the next position (3,), m, its time, s, and speed, m/s; return whether the vehicle jumped there."""
        elapsed_s = time_s - self._time_s
        farthest = _MARGIN * 0.5 * (speed + self._speed) * elapsed_s + _SLACK_M
        jumps = elapsed_s < 0.0 or math.dist(position, self._position) > farthest
        self._position[:], self._time_s, self._speed = position, time_s, speed
        return jumps
