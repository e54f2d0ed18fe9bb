"""Live plots of the chosen vehicle: attitude, height or depth, outputs of the flight controller."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np
import viser
from numpy.typing import NDArray
from viser import uplot

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

SPAN_S = 30.0
"""Simulated time that a plot shows."""

_SAMPLES = 300

_COLOURS = ("#c2410c", "#2563eb", "#15803d", "#a21caf", "#0e7490", "#a16207", "#475569", "#be123c")


class Plots:
    """The plots, and what they are made of for each vehicle.

    Attributes:
        handles: attitude, height, outputs.
    """

    def __init__(self, gui: viser.GuiApi, vehicles: Iterable[tuple[str, Appearance]], *, underwater: bool) -> None:
        """Empty ones, in the place where elements are added at present."""
        given = dict(vehicles)
        self._outputs = _moving_outputs(next(iter(given.values())))
        self._down_sign = 1.0 if underwater else -1.0
        self._rows: dict[str, deque[list[float]]] = {name: deque(maxlen=_SAMPLES) for name in given}
        height = "depth, m" if underwater else "height, m"
        self.handles = [
            _plot(gui, "attitude, deg", ("roll", "pitch", "yaw")),
            _plot(gui, height, (height.partition(",")[0], "ground speed, m/s" if not underwater else "speed, m/s")),
            _plot(gui, "outputs, us", [f"output {output + 1}" for output in self._outputs]),
        ]

    def take(self, name: str, view: VehicleView) -> None:
        """Add a row for a vehicle, if enough time has passed since the last."""
        rows = self._rows[name]
        if rows and view.time_s < rows[-1][0]:
            rows.clear()
        if not rows or view.time_s - rows[-1][0] >= SPAN_S / _SAMPLES:
            rows.append(self._row(view))

    def draw(self, name: str) -> None:
        """Show what was taken of a vehicle."""
        rows = self._rows[name]
        if not rows:
            return
        columns = np.array(rows).T
        start = 1
        for plot in self.handles:
            width = len(plot.series) - 1
            plot.data = (columns[0], *columns[start : start + width])
            start += width

    def _row(self, view: VehicleView) -> list[float]:
        truth = view.truth.tolist()
        roll, pitch, yaw = euler_from_quaternion(*truth[3:7])
        speed = math.sqrt(sum(part * part for part in truth[7:10]))
        attitude = [math.degrees(angle) for angle in (roll, pitch, yaw)]
        outputs = [float(view.pwm_us[output]) for output in self._outputs]
        return [view.time_s, *attitude, self._down_sign * truth[2], speed, *outputs]


def _moving_outputs(appearance: Appearance) -> list[int]:
    """Numbers of the outputs that move something, or the first four where nothing is known of them."""
    motions = [part.motion for part in appearance.parts if part.motion is not None]
    return sorted({output for motion in motions for output in motion.outputs}) or [0, 1, 2, 3]


def _plot(gui: viser.GuiApi, title: str, labels: Sequence[str]) -> viser.GuiUplotHandle:
    nothing: tuple[NDArray[np.float64], ...] = tuple(np.zeros(1) for _ in range(len(labels) + 1))
    lines = [
        uplot.Series(label=label, stroke=_COLOURS[k % len(_COLOURS)], width=1.5, points={"show": False})
        for k, label in enumerate(labels)
    ]
    return gui.add_uplot(
        nothing,
        (uplot.Series(label="time, s"), *lines),
        title=title,
        scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
        legend=uplot.Legend(show=True),
        height=190,
    )
