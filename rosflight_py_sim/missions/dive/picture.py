"""Picture of a dive: path over the world's objects, depth, heading, thrusters, and camera images."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.missions.client_log import Mark
from rosflight_py_sim.missions.dive.log import DiveLog
from rosflight_py_sim.missions.dive.summary import DiveSummary
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.viewer.log_panels import draw_actuators, draw_attitude, draw_ends, draw_title, drawn_rows
from rosflight_py_sim.viewer.picture_page import BLACK, BLUE, GREY, fit_map, picture_page
from rosflight_py_sim.viewer.world_map import draw_world
from rosflight_py_sim.world import World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_POINTS = 4000
MOMENTS = 6

# Time before the gate (s) at which it is in the front camera's view.
_BEFORE_GATE_S = 6.0


# Moments closer in time than this (s) show the same view.
_APART_S = 2.0

# Moments closer than this (m) share one label position on the map.
_SAME_PLACE_M = 0.4


@dataclass(frozen=True)
class Moment:
    """A time of the dive to show: simulated time (s) and activity."""

    time_s: float
    text: str


def key_moments(log: DiveLog, summary: DiveSummary) -> list[Moment]:
    """Up to MOMENTS times to show: the middle of each long part of the mission, just before the gate, and the end."""
    start_s, end_s = float(log.time_s[0]), float(log.time_s[-1])
    # The first row follows the first printed step after a moment.
    begun = [Mark(max(mark.time_s, start_s), mark.text) for mark in log.marks if mark.time_s < end_s]
    spans = itertools.pairwise([*(mark.time_s for mark in begun), end_s])
    parts = [(end - begin, 0.5 * (begin + end), mark.text) for mark, (begin, end) in zip(begun, spans, strict=True)]
    candidates = [Moment(middle, text) for _, middle, text in sorted(parts, reverse=True)]
    if not math.isnan(summary.gate_s):
        candidates.insert(0, Moment(start_s + max(summary.gate_s - _BEFORE_GATE_S, 0.0), "the gate ahead"))
    moments = [Moment(end_s, "at the end")]
    for moment in candidates:
        apart = all(abs(moment.time_s - other.time_s) >= _APART_S for other in moments)
        if apart and len(moments) < MOMENTS:
            moments.append(moment)
    return sorted(moments, key=lambda moment: moment.time_s)


def draw_dive(log: DiveLog, summary: DiveSummary, world: World, path: Path | str) -> Path:
    """Draw the dive as a PNG of 1600 by 1000 pixels at `path` (folders are created) and return its path.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the text gives the install command.
        ValueError: the log has fewer than two rows.
    """
    rows, time = drawn_rows(log, PLOT_POINTS)
    moments = key_moments(log, summary)
    with picture_page(path) as figure:
        _title(figure, summary)
        edges = {"top": 0.88, "bottom": 0.43}
        left = figure.add_gridspec(1, 1, left=0.05, right=0.45, **edges)
        right = figure.add_gridspec(3, 1, left=0.51, right=0.97, hspace=0.5, **edges)
        _draw_path(figure.add_subplot(left[0]), log, world, rows, moments)
        panels = [figure.add_subplot(right[0])]
        panels += [figure.add_subplot(right[row], sharex=panels[0]) for row in (1, 2)]
        _draw_depth(panels[0], log, world, rows, time)
        draw_attitude(panels[1], log, rows, time)
        draw_actuators(panels[2], log, rows, time, "Thrusters")
        for axes in panels:
            _mark(axes, log, moments, numbered=axes is panels[0])
            axes.set_xlim(0.0, float(time[-1]))
        panels[-1].set_xlabel("simulated time (s)")
        _draw_images(figure, log, moments)
    return Path(path)


def _title(figure: Figure, summary: DiveSummary) -> None:
    gate = "gate not passed" if math.isnan(summary.gate_s) else f"gate passed {summary.gate_offset_m:.2f} m from centre"
    ring = (
        "ring not reached" if math.isnan(summary.ring_s) else f"in the ring {summary.ring_offset_m:.2f} m from centre"
    )
    heading = f"Dive of {summary.vehicle} in the world '{summary.world}'"
    facts = [f"{summary.path_length_m:.1f} m", gate, ring]
    draw_title(figure, heading, summary, f"{summary.duration_s:.1f} s", facts)


def _draw_path(axes: Axes, log: DiveLog, world: World, rows: Array, moments: list[Moment]) -> None:
    north, east = log.position_ned[rows, 0], log.position_ned[rows, 1]
    fit_map(axes, north, east)
    axes.grid(visible=False)
    draw_world(axes, world)
    axes.plot(east, north, color="white", linewidth=4.0, alpha=0.8)
    axes.plot(east, north, color=BLUE, linewidth=2.0, label="true path")
    draw_ends(axes, north, east)
    marked: list[Array] = []
    for number, moment in enumerate(moments, start=1):
        place = log.position_ned[int(np.argmin(np.abs(log.time_s - moment.time_s)))]
        # Labels at one position are drawn side by side.
        before = sum(float(np.linalg.norm((place - other)[:2])) < _SAME_PLACE_M for other in marked)
        marked.append(place)
        axes.annotate(
            str(number),
            (place[1], place[0]),
            xytext=(-16 - 20 * before, 10),
            textcoords="offset points",
            fontweight="bold",
            color="white",
            fontsize=9,
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": BLACK, "edgecolor": "white"},
            arrowprops={"arrowstyle": "-", "color": BLACK, "linewidth": 0.8},
            zorder=6,
        )
    axes.set_title("Path from above")
    axes.legend(loc="lower right", frameon=True, framealpha=0.8)


def _draw_depth(axes: Axes, log: DiveLog, world: World, rows: Array, time: Array) -> None:
    axes.plot(time, log.position_ned[rows, 2], color=BLUE)
    axes.axhline(0.0, color="#56B4E9", linewidth=1.2)
    if world.pool or world.sea_floor:
        axes.axhline(world.floor_down, color=GREY, linewidth=2.5)
    deepest = max(world.floor_down, float(log.position_ned[:, 2].max()))
    axes.set_ylim(1.08 * deepest, -0.12 * deepest)
    axes.set_ylabel("depth (m)")
    axes.set_title("Depth, between surface and floor", pad=18)


def _mark(axes: Axes, log: DiveLog, moments: list[Moment], numbered: bool) -> None:
    for mark in log.marks:
        axes.axvline(mark.time_s - log.time_s[0], color="#BBBBBB", linewidth=0.8, zorder=0.5)
    for number, moment in enumerate(moments, start=1):
        at = moment.time_s - log.time_s[0]
        if numbered:
            above = axes.get_xaxis_transform()
            axes.text(at, 1.02, str(number), transform=above, ha="center", va="bottom", fontsize=9, fontweight="bold")


def _draw_images(figure: Figure, log: DiveLog, moments: list[Moment]) -> None:
    from matplotlib.image import imread

    grid = figure.add_gridspec(2, MOMENTS, left=0.05, right=0.97, top=0.335, bottom=0.01, hspace=0.03, wspace=0.04)
    for column, moment in enumerate(moments):
        for row, camera in enumerate(("front", "bottom")):
            axes = figure.add_subplot(grid[row, column])
            axes.set_xticks([])
            axes.set_yticks([])
            for spine in axes.spines.values():
                spine.set_visible(False)
            axes.grid(visible=False)
            image = log.image_near(moment.time_s, camera)
            if image is not None:
                axes.imshow(imread(io.BytesIO(image.jpeg), format="jpeg"))
            if row == 0:
                title = f"{column + 1}  {moment.text}, {moment.time_s - log.time_s[0]:.0f} s"
                axes.set_title(title, fontsize=9)
            if column == 0:
                axes.set_ylabel(f"{camera} camera", fontsize=9)
