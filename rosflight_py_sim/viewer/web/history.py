"""The last seconds of a flight as columns of numbers, for plots."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SPAN_S = 30.0
"""Simulated time that a history covers, s."""

_PERIOD_S = 0.1


class History:
    """Rows of quantities over the last `SPAN_S` of simulated time, at most ten per simulated second."""

    def __init__(self) -> None:
        """Create an empty history."""
        self._rows: deque[tuple[float, ...]] = deque()

    def take(self, time_s: float, quantities: Sequence[float]) -> None:
        """Add a row unless the last one is less than 0.1 s old; clear the history if time went back."""
        rows = self._rows
        if rows and time_s < rows[-1][0]:
            rows.clear()
        if rows and time_s - rows[-1][0] < _PERIOD_S:
            return
        rows.append((time_s, *quantities))
        while time_s - rows[0][0] > SPAN_S:
            rows.popleft()

    @property
    def columns(self) -> NDArray[np.float64]:
        """One column of numbers per quantity (1 + quantities, rows).

        The first is the time from the newest row: from -`SPAN_S` or later to 0, s.
        """
        columns = np.array(self._rows).T
        if len(columns):
            columns[0] -= columns[0, -1]
        return columns


def broken_at_wraps(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles with NaN where they wrap.

    Both samples next to a wrap are NaN, so the break in the line is a few pixels wide and visible.

    Args:
        angles: samples (n,), deg, in any range of 360 deg.
    """
    wraps = np.flatnonzero(np.abs(np.diff(angles)) > 180.0)
    broken = angles.copy()
    broken[wraps] = broken[wraps + 1] = np.nan
    return broken
