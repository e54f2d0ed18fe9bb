"""Draw docs/pictures/uthere_modes.png: the modes of a plane controlled by programs, from the code's transition table.

Run from the project's folder: `.venv/bin/python tools/draw_uthere_modes.py`. This file defines only the positions of
boxes and arrows; a test compares the picture with the table.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from rosflight_py_sim.autopilot.guided_mode_states import TRANSITIONS, Event, Mode

mpl.use("Agg")

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "uthere_modes.png"

# Middle of each mode's box.
PLACES = {
    Mode.STANDBY: (1.6, 6.4),
    Mode.MANUAL: (1.6, 2.0),
    Mode.TAKE_OFF: (7.6, 6.4),
    Mode.WAYPOINT: (7.6, 2.0),
    Mode.PACKET_TARGET: (14.6, 2.0),
    Mode.LOST_SIGNAL: (14.6, 4.6),
    Mode.RETURN_HOME: (11.1, 6.4),
}

# Transitions that leave all of these modes start at the box around them.
FLYING = (Mode.TAKE_OFF, Mode.WAYPOINT, Mode.PACKET_TARGET, Mode.RETURN_HOME)
COMMON = (Event.OVERRIDE_ON, Event.DISARMED)

# Corners of each arrow, and the middle of its label.
Way = tuple[list[tuple[float, float]], tuple[float, float]]
WAYS: dict[tuple[Mode, Mode], Way] = {
    (Mode.STANDBY, Mode.MANUAL): ([(1.2, 5.95), (1.2, 2.45)], (1.0, 4.6)),
    (Mode.MANUAL, Mode.STANDBY): ([(2.0, 2.45), (2.0, 5.95)], (2.2, 3.8)),
    (Mode.STANDBY, Mode.TAKE_OFF): ([(2.7, 6.6), (6.5, 6.6)], (4.35, 6.6)),
    (Mode.MANUAL, Mode.TAKE_OFF): ([(2.7, 2.25), (3.3, 2.25), (3.3, 6.2), (6.5, 6.2)], (4.6, 5.8)),
    (Mode.STANDBY, Mode.WAYPOINT): ([(2.4, 5.95), (2.4, 3.4), (6.9, 3.4), (6.9, 2.45)], (4.6, 3.4)),
    (Mode.MANUAL, Mode.WAYPOINT): ([(2.7, 1.9), (6.5, 1.9)], (4.6, 1.6)),
    (Mode.TAKE_OFF, Mode.WAYPOINT): ([(7.6, 5.95), (7.6, 2.45)], (7.6, 4.9)),
    (Mode.WAYPOINT, Mode.PACKET_TARGET): ([(8.7, 2.15), (13.5, 2.15)], (11.1, 2.4)),
    (Mode.PACKET_TARGET, Mode.WAYPOINT): ([(13.5, 1.8), (8.7, 1.8)], (11.1, 1.55)),
    (Mode.PACKET_TARGET, Mode.LOST_SIGNAL): ([(15.1, 2.45), (15.1, 4.15)], (16.7, 3.3)),
    (Mode.WAYPOINT, Mode.LOST_SIGNAL): ([(8.5, 2.45), (8.5, 3.3), (14.1, 3.3), (14.1, 4.15)], (11.1, 3.3)),
    (Mode.LOST_SIGNAL, Mode.WAYPOINT): ([(13.5, 4.6), (8.1, 4.6), (8.1, 2.45)], (11.1, 4.6)),
    (Mode.LOST_SIGNAL, Mode.RETURN_HOME): ([(14.6, 5.05), (14.6, 6.4), (12.2, 6.4)], (14.6, 5.75)),
    (Mode.RETURN_HOME, Mode.WAYPOINT): ([(11.1, 5.95), (11.1, 5.3), (7.85, 5.3), (7.85, 2.45)], (9.6, 5.3)),
}

_BOX = (5.9, 0.7, 12.5, 6.7)
_HALF_WIDTH, _HALF_HEIGHT = 1.1, 0.45
_LINE = "#374151"


def edges() -> list[list[str]]:
    """Names of start mode, end mode and events, for each arrow that does not start at the box."""
    arrows: dict[tuple[Mode, Mode], list[str]] = {}
    for mode, ways in TRANSITIONS.items():
        for event, target in ways.items():
            if mode not in FLYING or event not in COMMON:
                arrows.setdefault((mode, target), []).append(event.value)
    return [[source.label, target.label, *events] for (source, target), events in arrows.items()]


def draw() -> None:
    """Draw the picture, with its list of edges in the file's metadata."""
    figure, axes = plt.subplots(figsize=(13.6, 5.4), dpi=110)
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.1, 18.7)
    axes.set_ylim(0.4, 7.7)
    axes.axis("off")
    x, y, width, height = _BOX
    axes.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.2", fc="white", ec=_LINE, ls="--")
    )
    axes.text(x + width - 0.2, y + height - 0.3, "the program flies", ha="right", fontsize=10, color=_LINE)
    by_label = {mode.label: mode for mode in Mode}
    for source, target, *events in edges():
        corners, label = WAYS[by_label[source], by_label[target]]
        _arrow(axes, corners, label, "\n".join(events))
    _arrow(axes, [(x, 1.0), (1.6, 1.0), (1.6, 1.55)], (4.35, 1.0), Event.OVERRIDE_ON.value)
    _arrow(axes, [(x, 7.15), (1.6, 7.15), (1.6, 6.85)], (4.35, 7.15), Event.DISARMED.value)
    for mode, (middle_x, middle_y) in PLACES.items():
        _box(axes, mode, middle_x, middle_y)
    figure.savefig(PICTURE, metadata={"Software": None, "Edges": json.dumps(edges())})
    plt.close(figure)


def _arrow(axes: Axes, corners: list[tuple[float, float]], label: tuple[float, float], words: str) -> None:
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs[:-1], ys[:-1], color=_LINE, lw=1.3, solid_joinstyle="round", zorder=1)
    style = {"arrowstyle": "-|>", "color": _LINE, "lw": 1.3, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16}
    axes.annotate("", xy=corners[-1], xytext=corners[-2], arrowprops=style, zorder=1)
    axes.text(
        *label,
        words,
        ha="center",
        va="center",
        fontsize=8.5,
        color=_LINE,
        zorder=2,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _box(axes: Axes, mode: Mode, x: float, y: float) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - _HALF_WIDTH, y - _HALF_HEIGHT),
            2 * _HALF_WIDTH,
            2 * _HALF_HEIGHT,
            boxstyle="round,pad=0.0,rounding_size=0.14",
            facecolor="#fff1e6" if mode in (Mode.WAYPOINT, Mode.PACKET_TARGET) else "white",
            edgecolor=_LINE,
            linestyle="dotted" if mode is Mode.LOST_SIGNAL else "solid",
            lw=1.5,
            zorder=3,
        )
    )
    axes.text(x, y, f"{mode.value}  {mode.label}", ha="center", va="center", fontsize=10.5, weight="bold", zorder=4)


if __name__ == "__main__":
    draw()
