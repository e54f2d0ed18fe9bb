"""Paths of all vehicles in pieces: finished ones are sent to the browsers once, and the oldest are dropped."""

from __future__ import annotations

import math

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.viewer.movement import Movement

PIECE = 100
"""Segments per piece; with more than one vehicle as many for each, but at most `MOST`."""

MOST = 500
"""Largest number of segments per piece."""

PIECES = 40
"""Pieces kept."""

PATH_COLOUR = (255, 140, 0)

# Number of new segments after which the current piece is sent again, or half of the number of vehicles.
_SENT_EACH = 2

# The points of a fleet larger than this are further apart, in the same proportion.
_FLEET = 10


class Trails:
    """Paths whose points are at least `spacing` (m) apart; a jump of a vehicle leaves a gap in its path."""

    def __init__(self, scene: viser.SceneApi, name: str, spacings: dict[str, float]) -> None:
        """Start without points; `spacings`: of each vehicle, for a fleet of up to ten."""
        self._scene = scene
        self._name = name
        further = max(1.0, len(spacings) / _FLEET)
        self._spacings = {vehicle: further * spacing for vehicle, spacing in spacings.items()}
        self._piece = min(PIECE * len(spacings), MOST)
        self._sent_each = max(_SENT_EACH, len(spacings) // 2)
        self._last: dict[str, NDArray[np.float64]] = {}
        self._movements = {vehicle: Movement() for vehicle in spacings}
        self._segments: list[NDArray[np.float64]] = []
        self._sent = 0
        self._pieces: list[viser.LineSegmentsHandle] = []
        self._made = 0
        self._visible = True

    @property
    def visible(self) -> bool:
        """Whether the paths are drawn."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        for piece in self._pieces:
            piece.visible = visible

    def pass_through(self, vehicle: str, position: NDArray[np.float64], time_s: float, speed: float) -> None:
        """Add a position (NED, m) of a vehicle with its time (s) and speed (m/s), if it is far enough from the last."""
        jumps = self._movements[vehicle].jumps_to(position, time_s, speed)
        last = self._last.get(vehicle)
        if jumps or last is None:
            self._last[vehicle] = position.copy()
        elif math.dist(position, last) >= self._spacings[vehicle]:
            self._last[vehicle] = position.copy()
            self._segments.append(np.stack([last, position]))

    def draw(self) -> None:
        """Show the new segments, once there are enough of them."""
        is_new = not self._sent and self._segments
        if not is_new and len(self._segments) - self._sent < self._sent_each:
            return
        points = np.array(self._segments, dtype=np.float32)
        if is_new:
            self._add_piece(points)
        else:
            self._pieces[-1].points = points
        self._sent = len(self._segments)
        if self._sent >= self._piece:
            self._segments, self._sent = [], 0

    def clear(self) -> None:
        """Clear the paths."""
        for piece in self._pieces:
            piece.remove()
        self._pieces.clear()
        self._segments, self._sent = [], 0
        self._last.clear()

    def _add_piece(self, points: NDArray[np.float32]) -> None:
        self._made += 1
        self._pieces.append(
            self._scene.add_line_segments(
                f"{self._name}_{self._made % (2 * PIECES)}",
                points,
                PATH_COLOUR,
                thickness=2.5,
                thickness_units="screen",
                visible=self._visible,
            )
        )
        if len(self._pieces) > PIECES:
            self._pieces.pop(0).remove()
