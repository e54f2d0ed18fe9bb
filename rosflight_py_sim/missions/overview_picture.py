"""Picture of the missions of several vehicles on one page: a common map and a row for each vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.viewer.picture_page import ACTUATOR_COLOURS, GREY, fit_map, picture_page, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Number of points of a line: more would not be visible.
_POINTS = 3000

# Largest number of vehicles with a row; further vehicles appear only on the common map.
_ROWS = 8


def draw_overview(title: str, judges: Sequence[MissionJudge], path: Path | str) -> Path:
    """Draw the missions as a PNG of 1600 by 1000 pixels at `path` (folders are created) and return its path.

    The page shows all vehicles on one map from above. Beside it, a row for each vehicle has a map in its own scale and
    its height.

    Args:
        title: title of the page.
        judges: judges whose logs have at least two rows each.
        path: file to write.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the text gives the install command.
    """
    with picture_page(path) as figure:
        verdicts = [f"{one.name}: {'completed' if one.verdict().completed else 'not completed'}" for one in judges]
        write_title(figure, title, verdicts)
        edges = {"top": 0.88, "bottom": 0.06}
        rows = judges[:_ROWS]
        left = figure.add_gridspec(1, 1, left=0.05, right=0.44, **edges)
        right = figure.add_gridspec(
            len(rows), 2, left=0.50, right=0.97, hspace=0.55, wspace=0.22, width_ratios=(1.0, 1.6), **edges
        )
        colours = [ACTUATOR_COLOURS[index % len(ACTUATOR_COLOURS)] for index in range(len(judges))]
        _draw_common_map(figure.add_subplot(left[0]), judges, colours)
        ends_s = [float(one.log.time_s[-1]) for one in judges]
        begins_s = [float(one.log.time_s[0]) for one in judges]
        for row, (judge, colour) in enumerate(zip(rows, colours, strict=False)):
            _draw_own_map(figure.add_subplot(right[row, 0]), judge, colour)
            axes = figure.add_subplot(right[row, 1])
            _draw_height(axes, judge, colour)
            axes.set_xlim(min(begins_s), max(ends_s))
            if row == len(rows) - 1:
                axes.set_xlabel("simulated time (s)")
    return Path(path)


def _thinned(judge: MissionJudge) -> tuple[Array, Array]:
    """Times (s) and positions NED (m) of the rows to draw."""
    count = len(judge.log)
    rows = np.unique(np.linspace(0, count - 1, min(count, _POINTS)).astype(int))
    return judge.log.time_s[rows], judge.log.position_ned[rows]


def _draw_path(axes: Axes, position: Array, colour: str, label: str = "") -> None:
    north, east = position[:, 0], position[:, 1]
    axes.plot(east, north, color=colour, label=label or None)
    axes.plot(east[0], north[0], "o", color=colour, markersize=6, zorder=4)
    axes.plot(east[-1], north[-1], "X", color=colour, markersize=8, markeredgecolor="white", zorder=5)


def _draw_common_map(axes: Axes, judges: Sequence[MissionJudge], colours: Sequence[str]) -> None:
    places = [_thinned(judge)[1] for judge in judges]
    for judge, place, colour in zip(judges, places, colours, strict=True):
        _draw_path(axes, place, colour, judge.name)
    together = np.concatenate(places)
    fit_map(axes, together[:, 0], together[:, 1])
    axes.set_title("Paths from above (o start, x end)")
    axes.set_xlabel("east (m)")
    axes.set_ylabel("north (m)")
    axes.legend(loc="lower center", ncols=4)


def _draw_own_map(axes: Axes, judge: MissionJudge, colour: str) -> None:
    place, planned = _thinned(judge)[1], judge.path_ned
    if planned is not None and len(planned):
        axes.plot(planned[:, 1], planned[:, 0], color=GREY, linestyle="--", linewidth=1.0)
    _draw_path(axes, place, colour)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.15)
    axes.set_title(judge.name)
    axes.tick_params(labelsize=8)


def _draw_height(axes: Axes, judge: MissionJudge, colour: str) -> None:
    time_s, place = _thinned(judge)
    axes.plot(time_s, -place[:, 2], color=colour)
    axes.set_title(f"{judge.name}: height (m)")
    axes.tick_params(labelsize=8)
