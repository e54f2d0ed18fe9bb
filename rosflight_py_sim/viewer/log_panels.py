"""Time plots for any log; `rows` selects the rows to draw, `time` (s) has the same length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosflight_py_sim.recording.state_log import Array, StateLog
from rosflight_py_sim.viewer.picture_page import ACTUATOR_COLOURS, AMBER, BLACK, BLUE, DASHES, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def draw_actuators(axes: Axes, log: StateLog, rows: Any, time: Array) -> None:
    """Commands of the flight controller."""
    count = len(log.actuators)
    for index, actuator in enumerate(log.actuators):
        colour = ACTUATOR_COLOURS[index % len(ACTUATOR_COLOURS)]
        dash = DASHES[index // len(ACTUATOR_COLOURS) % len(DASHES)]
        percent = 100.0 * log.actuator_commands[rows, index]
        axes.plot(time, percent, color=colour, linestyle=dash, label=actuator.name, linewidth=1.0, alpha=0.9)
    low = 100.0 * min(0.0, float(log.actuator_commands.min()))
    axes.set_ylim(1.1 * low, max(10.0, 1.2 * 100.0 * float(log.actuator_commands.max())))
    axes.set_ylabel("command (%)")
    axes.set_title("Motors" if all(actuator.is_motor for actuator in log.actuators) else "Surfaces and motor")
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
