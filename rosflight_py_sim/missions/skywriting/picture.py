"""Picture of a skywriting flight: the letters from above, height, airspeed, attitude, mode and cage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.missions.skywriting.log import SkywritingLog
from rosflight_py_sim.missions.skywriting.summary import SkywritingSummary, letter_rows
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.viewer.log_panels import draw_ends, draw_title, drawn_rows
from rosflight_py_sim.viewer.picture_page import (
    AMBER,
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    fit_map,
    picture_page,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_POINTS = 6000

MODE_COLOURS: Mapping[Mode, str] = {
    Mode.STANDBY: GREY,
    Mode.MANUAL: BLACK,
    Mode.TAKE_OFF: GREEN,
    Mode.WAYPOINT: BLUE,
    Mode.RETURN_HOME: PURPLE,
    Mode.LOST_SIGNAL: ORANGE,
    Mode.PACKET_TARGET: AMBER,
}
"""Colour of the path in each mode."""

_SHADE = "#EEF3F8"


def draw_skywriting(
    log: SkywritingLog, summary: SkywritingSummary, limits: Mapping[str, float], path: Path | str
) -> Path:
    """Draw the flight as a PNG of 1600 by 1000 pixels at `path` (folders are created) and return its path.

    `limits` are the cage's, by name, in SI units.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the text gives the install command.
        ValueError: the log has fewer than two rows.
    """
    rows, time = drawn_rows(log, PLOT_POINTS)
    with picture_page(path) as figure:
        _title(figure, summary)
        above = figure.add_gridspec(1, 1, left=0.05, right=0.61, top=0.875, bottom=0.30)
        beside = figure.add_gridspec(3, 1, left=0.67, right=0.97, top=0.875, bottom=0.30, hspace=0.5)
        below = figure.add_gridspec(1, 2, left=0.12, right=0.97, top=0.20, bottom=0.06, wspace=0.35)
        _draw_letters(figure.add_subplot(above[0]), log, rows)
        panels = [figure.add_subplot(place) for place in (*(beside[row] for row in range(3)), below[0], below[1])]
        _draw_height(panels[0], log, rows, time, limits)
        _draw_airspeed(panels[1], log, rows, time, limits)
        _draw_attitude(panels[2], log, rows, time, limits)
        _draw_modes(panels[3], log, rows, time)
        _draw_cage(panels[4], log, rows, time)
        for axes in panels:
            _mark_letters(axes, log)
            axes.set_xlim(0.0, float(time[-1]))
        for axes in panels[3:]:
            axes.set_xlabel("simulated time (s)")
    return Path(path)


def _title(figure: Figure, summary: SkywritingSummary) -> None:
    facts = [f"{summary.path_length_m / 1000.0:.1f} km"]
    if summary.letters and all(math.isfinite(letter.error_max_m) for letter in summary.letters):
        facts.append(f"letters within {max(letter.error_max_m for letter in summary.letters):.1f} m")
    if summary.cage_break is not None:
        facts.append(
            f"left the cage at {summary.cage_break.left_s:.0f} s, resumed at {summary.cage_break.again_s:.0f} s"
        )
    heading = f"Skywriting by {summary.vehicle}: {summary.word}"
    draw_title(figure, heading, summary, f"{summary.duration_s:.0f} s", facts)


def _draw_letters(axes: Axes, log: SkywritingLog, rows: Array) -> None:
    from matplotlib.lines import Line2D

    north, east = log.position_ned[rows, 0], log.position_ned[rows, 1]
    fit_map(axes, north, east)
    for letter in log.letters:
        for stroke in letter.strokes_ned:
            axes.plot(stroke[:, 1], stroke[:, 0], color="#D5D5D5", linewidth=9.0, solid_capstyle="round", zorder=1)
            axes.plot(stroke[:, 1], stroke[:, 0], ".", color=BLACK, markersize=4, zorder=4)
    mode = log.mode[rows]
    shown = [one for one in MODE_COLOURS if (mode == one).any()]
    for one in shown:
        # Each line covers one mode; neighbours share a point.
        here = (mode == one) | np.r_[False, mode[:-1] == one]
        axes.plot(
            np.where(here, east, np.nan),
            np.where(here, north, np.nan),
            color=MODE_COLOURS[one],
            linewidth=1.8,
            zorder=3,
        )
    draw_ends(axes, north, east)
    broken = np.flatnonzero(
        (mode[:-1] == Mode.PACKET_TARGET) & (log.triggered_last[rows][1:] != 0) & (np.diff(mode) != 0)
    )
    for row in broken[:1]:
        axes.annotate(
            "outside the cage",
            (east[row], north[row]),
            xytext=(14, 14),
            textcoords="offset points",
            fontsize=9,
            arrowprops={"arrowstyle": "->", "color": BLACK},
            zorder=6,
        )
    handles = [Line2D([], [], color=MODE_COLOURS[one], linewidth=2.0, label=one.label) for one in shown]
    handles.append(Line2D([], [], color="#D5D5D5", linewidth=8.0, label="wanted"))
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=len(handles))
    axes.set_title("From above: true path, coloured by mode, and waypoints")


def _draw_height(axes: Axes, log: SkywritingLog, rows: Array, time: Array, limits: Mapping[str, float]) -> None:
    axes.plot(time, log.height[rows], color=BLUE)
    _draw_limits(axes, limits["cage_altitude_minimum"], limits["cage_altitude_maximum"])
    axes.set_ylim(0.0, 1.2 * max(limits["cage_altitude_maximum"], float(log.height.max())))
    axes.set_ylabel("height (m)")
    axes.set_title("Height above home, and the cage's limits")


def _draw_airspeed(axes: Axes, log: SkywritingLog, rows: Array, time: Array, limits: Mapping[str, float]) -> None:
    axes.plot(time, log.airspeed[rows], color=BLUE)
    _draw_limits(axes, limits["cage_airspeed_min"], limits["cage_airspeed_max"])
    axes.set_ylim(0.0, 1.15 * max(limits["cage_airspeed_max"], float(log.airspeed.max())))
    axes.set_ylabel("airspeed (m/s)")
    axes.set_title("Airspeed")


def _draw_attitude(axes: Axes, log: SkywritingLog, rows: Array, time: Array, limits: Mapping[str, float]) -> None:
    angles = np.degrees(log.euler[rows])
    axes.plot(time, angles[:, 0], color=SKY, linewidth=1.0, label="roll")
    axes.plot(time, angles[:, 1], color=ORANGE, linewidth=1.0, label="pitch")
    roll = math.degrees(limits["cage_roll_max"])
    _draw_limits(axes, -roll, roll)
    axes.set_ylim(-1.2 * roll, 1.2 * roll)
    axes.set_ylabel("angle (deg)")
    axes.set_title("Attitude, and the limits of roll")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2)


def _draw_limits(axes: Axes, low: float, high: float) -> None:
    for limit in (low, high):
        axes.axhline(limit, color=ORANGE, linestyle=":", linewidth=1.2)


def _draw_modes(axes: Axes, log: SkywritingLog, rows: Array, time: Array) -> None:
    mode = log.mode[rows]
    shown = [one for one in MODE_COLOURS if (mode == one).any()]
    for place, one in enumerate(shown):
        _draw_bar(axes, time, mode == one, place, MODE_COLOURS[one])
    _name_bars(axes, [f"{one.label} {int(one)}" for one in shown])
    axes.set_title("Mode (control_operate_mode)")


def _draw_cage(axes: Axes, log: SkywritingLog, rows: Array, time: Array) -> None:
    bits = log.cage_triggered[rows]
    shown = [bit for bit in CageBit if (bits >> bit & 1).any()]
    for place, bit in enumerate(shown):
        _draw_bar(axes, time, (bits >> bit & 1) == 1, place, ORANGE)
    _name_bars(axes, [f"{bit.name.lower().replace('_', ' ')} {int(bit)}" for bit in shown] or ["none"])
    axes.set_title("Cage (bits of cage_triggered)")


def _draw_bar(axes: Axes, time: Array, is_on: Array, place: int, colour: str) -> None:
    edges = np.flatnonzero(np.diff(np.r_[0, is_on.astype(int), 0]))
    ends = np.r_[time, time[-1]]
    spans = [(float(time[start]), float(ends[end] - time[start])) for start, end in edges.reshape(-1, 2)]
    axes.broken_barh(spans, (place - 0.35, 0.7), facecolors=colour, linewidth=1.0, edgecolors=colour)


def _name_bars(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _mark_letters(axes: Axes, log: SkywritingLog) -> None:
    start_s = log.time_s[0]
    for letter, rows in zip(log.letters, letter_rows(log), strict=True):
        begin, end = (float(log.time_s[min(row, len(log) - 1)] - start_s) for row in (rows.start, rows.stop))
        axes.axvspan(begin, end, color=_SHADE, zorder=0, linewidth=0.0)
        inside = axes.get_xaxis_transform()
        axes.text(0.5 * (begin + end), 0.02, letter.text, transform=inside, ha="center", va="bottom", color=GREY)
