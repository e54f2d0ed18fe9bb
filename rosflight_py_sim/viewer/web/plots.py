"""Live plots of the selected vehicle: attitude, height or depth, speed, outputs of the flight controller."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import viser
from numpy.typing import NDArray
from viser import uplot

from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.viewer.web.axis_range import round_range
from rosflight_py_sim.viewer.web.history import SPAN_S, History, broken_at_wraps
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

_ANGLES = ("roll", "pitch", "yaw")

_COLOURS = ("#c2410c", "#2563eb", "#15803d", "#a21caf", "#0e7490", "#a16207", "#475569", "#be123c")


class Plots:
    """The plots, and the history of each vehicle.

    Attributes:
        handles: attitude, height, speed, outputs.
    """

    def __init__(self, gui: viser.GuiApi, vehicles: Iterable[tuple[str, Appearance]], *, underwater: bool) -> None:
        """Add empty plots at the current place."""
        given = dict(vehicles)
        self._outputs = _moving_outputs(next(iter(given.values())))
        self._down_sign = 1.0 if underwater else -1.0
        self._histories = {name: History() for name in given}
        height = "depth" if underwater else "height"
        speed = "speed" if underwater else "ground speed"
        self.handles = [
            time_plot(gui, "attitude, deg", _ANGLES),
            time_plot(gui, f"{height}, m", (height,)),
            time_plot(gui, f"{speed}, m/s", (speed,)),
            time_plot(gui, "outputs, us", [f"output {output + 1}" for output in self._outputs]),
        ]

    def take(self, name: str, view: VehicleView) -> None:
        """Add a view to a vehicle's history."""
        self._histories[name].take(view.time_s, self._quantities(view))

    def draw(self, name: str) -> None:
        """Show a vehicle's history."""
        columns = self._histories[name].columns
        if not len(columns):
            return
        times, *quantities = columns
        angles = [broken_at_wraps(column) for column in quantities[: len(_ANGLES)]]
        shown = [*angles, *quantities[len(_ANGLES) :]]
        for plot in self.handles:
            width = len(plot.series) - 1
            send(plot, times, shown[:width])
            shown = shown[width:]

    def _quantities(self, view: VehicleView) -> list[float]:
        truth = view.truth.tolist()
        angles = [math.degrees(angle) for angle in euler_from_quaternion(*truth[3:7])]
        speed = math.sqrt(sum(part * part for part in truth[7:10]))
        outputs = [float(view.pwm_us[output]) for output in self._outputs]
        return [*angles, self._down_sign * truth[2], speed, *outputs]


def send(plot: viser.GuiUplotHandle, times: NDArray[np.float64], quantities: Sequence[NDArray[np.float64]]) -> None:
    """Show quantities (n,) over times (n,), s before the present; a line breaks at NaN."""
    # uPlot breaks a line at null but not at NaN. viser turns the items of a tuple into arrays of floats, which have no
    # null, and sends a list as it is.
    plot.data = [times, *map(_with_nulls, quantities)]  # type: ignore[assignment]
    finite = np.concatenate([column[np.isfinite(column)] for column in quantities])
    if len(finite):
        limits = round_range(float(finite.min()), float(finite.max()))
        scales = _scales(limits)
        # A change of the scales makes the browser draw the whole plot again.
        if plot.scales != scales:
            plot.scales = scales


def _with_nulls(column: NDArray[np.float64]) -> NDArray[np.float64] | list[float | None]:
    if np.isfinite(column).all():
        return column
    return [value if math.isfinite(value) else None for value in column.tolist()]


def _moving_outputs(appearance: Appearance) -> list[int]:
    """Numbers of the outputs that move a part, or the first four if none is known."""
    motions = [part.motion for part in appearance.parts if part.motion is not None]
    return sorted({output for motion in motions for output in motion.outputs}) or [0, 1, 2, 3]


def _scales(limits: tuple[float, float]) -> dict[str, uplot.Scale]:
    # Fixed ranges: viser would fit the range of time to the first data, before the plot has a width, and the plot could
    # then show only the first second; it would fit the other to values whose labels have no digits left.
    return {"x": uplot.Scale(time=False, range=(-SPAN_S, 0.0)), "y": uplot.Scale(range=limits)}


def time_plot(gui: viser.GuiApi, title: str, labels: Sequence[str]) -> viser.GuiUplotHandle:
    """Add an empty plot of the last `SPAN_S` at the current place."""
    nothing: tuple[NDArray[np.float64], ...] = tuple(np.zeros(1) for _ in range(len(labels) + 1))
    lines = [
        uplot.Series(label=label, stroke=_COLOURS[k % len(_COLOURS)], width=1.0, points={"show": False})
        for k, label in enumerate(labels)
    ]
    return gui.add_uplot(
        nothing,
        (uplot.Series(label="time from now, s"), *lines),
        title=title,
        scales=_scales(round_range(0.0, 0.0)),
        legend=uplot.Legend(show=True),
        height=160,
        padding=(8, 24, 0, 0),
    )
