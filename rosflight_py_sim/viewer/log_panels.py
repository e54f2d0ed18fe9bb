"""Panels for the picture of any log; `rows` selects the rows to draw, `time` (s) has the same length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.viewer.picture_page import (
    ACTUATOR_COLOURS,
    AMBER,
    BLACK,
    BLUE,
    DASHES,
    GREEN,
    ORANGE,
    write_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class TitleFigures(Protocol):
    """What a title says of every mission."""

    @property
    def real_time_factor(self) -> float | None:
        """Simulated seconds per second of system time; None if it is not known."""

    @property
    def completed(self) -> bool:
        """Whether the mission was completed."""


def drawn_rows(log: StateLog, points: int) -> tuple[Any, Array]:
    """At most `points` rows of a log, evenly spread, and their times from the first row on, s.

    All rows of a log at 400 Hz would only thicken the lines.

    Raises:
        ValueError: the log has fewer than two rows.
    """
    if len(log) < 2:
        raise ValueError(f"{len(log)} rows in the log; a plot needs at least 2")
    rows = np.unique(np.linspace(0, len(log) - 1, min(len(log), points)).astype(int))
    return rows, log.time_s[rows] - log.time_s[0]


def draw_title(figure: Figure, heading: str, summary: TitleFigures, duration: str, facts: Sequence[str]) -> None:
    """Heading, then duration, pace and further facts, preceded by a note if the mission was not completed."""
    pace = "" if summary.real_time_factor is None else f" at {summary.real_time_factor:.1f} times real time"
    missed = [] if summary.completed else ["not completed"]
    write_title(figure, heading, [*missed, f"{duration}{pace}", *facts])


def draw_ends(axes: Axes, north: Array, east: Array) -> None:
    """Mark the start and the end of a path on a map."""
    white: dict[str, Any] = {"markersize": 10, "markeredgecolor": "white"}
    axes.plot(east[0], north[0], "o", color=GREEN, label="start", zorder=5, **white)
    axes.plot(east[-1], north[-1], "X", color=ORANGE, label="end", zorder=5, **white)
    axes.set_xlabel("east (m)")
    axes.set_ylabel("north (m)")


def draw_attitude(axes: Axes, log: StateLog, rows: Any, time: Array) -> None:
    """Roll, pitch and yaw."""
    angles = np.degrees(log.euler)[rows]
    # The line is interrupted where the yaw wraps from 180 to -180 degrees.
    angles[1:][np.abs(np.diff(angles[:, 2])) > 180.0, 2] = np.nan
    for index, (name, colour) in enumerate((("roll", BLUE), ("pitch", ORANGE), ("yaw", BLACK))):
        axes.plot(time, angles[:, index], color=colour, label=name, linewidth=1.2)
    axes.set_ylabel("angle (deg)")
    axes.set_title("Attitude")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=3)


def draw_speed(axes: Axes, log: StateLog, rows: Any, time: Array) -> None:
    """Speed over ground and through air or water."""
    airspeed = log.airspeed
    axes.plot(time, np.linalg.norm(log.velocity_body[rows], axis=1), color=AMBER, linewidth=1.2, label="over ground")
    axes.plot(time, airspeed[rows], color=BLUE, label="through the air")
    axes.set_ylim(0.0, 1.25 * max(1.0, float(airspeed.max())))
    axes.set_ylabel("speed (m/s)")
    axes.set_title("Speed")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2)


def draw_actuators(axes: Axes, log: StateLog, rows: Any, time: Array, title: str = "") -> None:
    """Commands of the flight controller; without a title, it names motors or surfaces."""
    count = len(log.actuators)
    for index, actuator in enumerate(log.actuators):
        colour = ACTUATOR_COLOURS[index % len(ACTUATOR_COLOURS)]
        dash = DASHES[index // len(ACTUATOR_COLOURS) % len(DASHES)]
        percent = 100.0 * log.actuator_commands[rows, index]
        axes.plot(time, percent, color=colour, linestyle=dash, label=actuator.name, linewidth=1.0, alpha=0.9)
    low = 100.0 * min(0.0, float(log.actuator_commands.min()))
    axes.set_ylim(1.1 * low, max(10.0, 1.2 * 100.0 * float(log.actuator_commands.max())))
    axes.set_ylabel("command (%)")
    are_motors = all(actuator.is_motor for actuator in log.actuators)
    axes.set_title(title or ("Motors" if are_motors else "Surfaces and motor"))
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.97),
        ncols=4 if count <= 4 else 8,
        fontsize=9 if count <= 4 else 7,
    )


def draw_battery(axes: Axes, time: Array, voltage: Array, current: Array) -> None:
    """Voltage (V), and current (A) on a separate scale."""
    axes.plot(time, voltage, color=BLUE)
    axes.set_ylabel("voltage (V)", color=BLUE)
    axes.tick_params(axis="y", labelcolor=BLUE)
    right = axes.twinx()
    right.plot(time, current, color=ORANGE, linewidth=1.0)
    right.set_ylabel("current (A)", color=ORANGE)
    right.tick_params(axis="y", labelcolor=ORANGE)
    # A touch-down lasts a few milliseconds and draws ten times the current of flight: the scale leaves it out.
    peak, usual = float(current.max()), float(np.percentile(current, 99.0))
    cut = peak > 2.0 * usual > 0.0
    right.set_ylim(0.0, 1.5 * usual if cut else max(1.15 * peak, 1.0))
    axes.set_title(f"Battery (current peaks at {peak:.0f} A)" if cut else "Battery")
    right.grid(visible=False)
