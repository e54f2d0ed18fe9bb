"""Path of a vehicle in segments: finished ones are sent to the browsers once, and the oldest are dropped."""

from __future__ import annotations

import math

import numpy as np
import viser
from numpy.typing import NDArray

from rosflight_py_sim.viewer.movement import Movement

PIECE = 100
"""Points per segment."""

PIECES = 40
"""Segments kept."""

PATH_COLOUR = (255, 140, 0)

# Number of new points after which the current segment is sent again.
_SENT_EACH = 2


class Trail:
    """Points at least `spacing` (m) apart; a jump of the vehicle leaves a gap."""

    def __init__(self, scene: viser.SceneApi, name: str, spacing: float) -> None:
        """Start without points."""
        self._scene = scene
        self._name = name
        self._spacing = spacing
        self._points: list[NDArray[np.float64]] = []
        self._pieces: list[viser.LineSegmentsHandle] = []
        self._made = 0
        self._visible = True
        self._movement = Movement()

    @property
    def visible(self) -> bool:
        """Whether the path is drawn."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        for piece in self._pieces:
            piece.visible = visible

    def pass_through(self, position: NDArray[np.float64], time_s: float, speed: float) -> None:
        """Add a position (NED, m) with its time (s) and speed (m/s), if it is far enough from the last one."""
        if self._movement.jumps_to(position, time_s, speed) or not self._points:
            self._points = [position.copy()]
        elif math.dist(position, self._points[-1]) >= self._spacing:
            self._points.append(position.copy())
            if len(self._points) == 2:
                self._add_piece()
            elif len(self._points) % _SENT_EACH == 0:
                self._pieces[-1].points = _segments(self._points)
            if len(self._points) == PIECE:
                self._points = self._points[-1:]

    def clear(self) -> None:
        """Clear the path."""
        for piece in self._pieces:
            piece.remove()
        self._pieces.clear()
        self._points.clear()

    def _add_piece(self) -> None:
        self._made += 1
        self._pieces.append(
            self._scene.add_line_segments(
                f"{self._name}_{self._made % (2 * PIECES)}",
                _segments(self._points),
                PATH_COLOUR,
                thickness=2.5,
                thickness_units="screen",
                visible=self._visible,
            )
        )
        if len(self._pieces) > PIECES:
            self._pieces.pop(0).remove()


def _segments(points: list[NDArray[np.float64]]) -> NDArray[np.float32]:
    line = np.array(points, dtype=np.float32)
    return np.stack([line[:-1], line[1:]], axis=1)
