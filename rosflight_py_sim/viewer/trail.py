"""Path of a vehicle so far, with bounded memory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.coordinate_frames import Array
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.viewer.movement import Movement


class Trail:
    """Points (n, 3) of a path, at least `spacing` (m) apart, limited to the newest `limit`.

    The path restarts if time goes back or the vehicle jumps, as after a reset or a state set by a service.
    """

    def __init__(self, limit: int, spacing: float) -> None:
        """Start without points."""
        self._limit, self._spacing = limit, spacing
        # Twice the limit, so that old points are discarded only now and then.
        self._points = np.zeros((2 * limit, 3))
        self._first = self._end = 0
        self._movement = Movement()

    @property
    def points(self) -> Array:
        """The points, oldest first; a view, valid until the next call of `add`."""
        return self._points[self._first : self._end]

    def add(self, time_ns: int, position: NDArray[np.float64], speed: float) -> bool:
        """Add a position (3,) with its time (ns) and speed (m/s); return whether the points changed."""
        if self._movement.jumps_to(position, time_ns / NANOSECONDS, speed):
            self._first = self._end = 0
        if self._end > self._first and math.dist(position, self._points[self._end - 1]) < self._spacing:
            return False
        if self._end == len(self._points):
            kept = self._points[self._end - self._limit + 1 :]
            self._points[: len(kept)] = kept
            self._first, self._end = 0, len(kept)
        self._points[self._end] = position
        self._end += 1
        self._first = max(self._first, self._end - self._limit)
        return True
