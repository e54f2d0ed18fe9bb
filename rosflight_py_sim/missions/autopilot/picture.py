"""Picture of a flight: its path from above and its time series on one page."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosflight_py_sim.missions.autopilot.log import Array, FlightLog
from rosflight_py_sim.missions.autopilot.summary import FlightSummary, path_deviation, reference_error, tracking_error
from rosflight_py_sim.missions.autopilot.table import words_of
from rosflight_py_sim.missions.summary_table import CALM, wind_text
from rosflight_py_sim.vehicles.physics_model import VehicleClass
from rosflight_py_sim.viewer.log_panels import (
    draw_actuators,
    draw_attitude,
    draw_battery,
    draw_ends,
    draw_speed,
    draw_title,
    drawn_rows,
)
from rosflight_py_sim.viewer.picture_page import (
    AMBER,
    BLUE,
    GREY,
    ORANGE,
    fit_map,
    picture_page,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_POINTS = 4000
# Legs longer than this share of the path's extent get an arrow.
_LONG_LEG = 0.2


def draw_flight(log: FlightLog, summary: FlightSummary, path: Path | str) -> Path:
    """Draw the flight as a PNG of 1600 by 1000 pixels at `path` (folders are created) and return its path.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the text gives the install command.
        ValueError: the log has fewer than two rows.
    """
    rows, time = drawn_rows(log, PLOT_POINTS)
    underwater = summary.vehicle_class is VehicleClass.UNDERWATER
    with picture_page(path) as figure:
        _title(figure, summary)
        panels = [draw_attitude, _draw_thrusters if underwater else draw_actuators, _draw_battery]
        if summary.vehicle_class is VehicleClass.FIXED_WING:
            panels.insert(0, draw_speed)
        edges = {"top": 0.88, "bottom": 0.06, "hspace": 0.4}
        left = figure.add_gridspec(4, 1, left=0.05, right=0.43, **edges)
        right = figure.add_gridspec(len(panels) + 1, 1, left=0.485, right=0.955, **edges)
        _draw_path(figure.add_subplot(left[0:3]), log, summary, rows)
        first = figure.add_subplot(right[0])
        (_draw_depth if underwater else _draw_height)(first, log, summary, rows, time)
        shared = [figure.add_subplot(right[row], sharex=first) for row in range(1, len(panels) + 1)]
        for draw, axes in zip(panels, shared, strict=True):
            draw(axes, log, rows, time)
        error_axes = figure.add_subplot(left[3], sharex=first)
        _draw_error(error_axes, log, summary, rows, time)
        for axes in (first, *shared, error_axes):
            _mark_phases(axes, log, named=axes is first)
            axes.set_xlim(0.0, float(time[-1]))
        for axes in (shared[-1], error_axes):
            axes.set_xlabel("simulated time (s)")
    return Path(path)


def _title(figure: Figure, summary: FlightSummary) -> None:
    words = words_of(summary.vehicle_class)
    flow = f"{words.flow} {wind_text(summary, words.decimals)}"
    facts = [
        f"{summary.path_length_m:.0f} m flown",
        f"tracking error {summary.tracking_error_rms_m:.2f} m RMS, {summary.tracking_error_max_m:.2f} m max",
        f"no {words.flow}" if summary.max_wind_speed_mps < CALM else flow,
        f"battery {summary.battery_used_mah:.0f} mAh",
    ]
    draw_title(figure, f"{words.trip} of {summary.vehicle}", summary, f"{summary.duration_s:.1f} s", facts)


def _draw_path(axes: Axes, log: FlightLog, summary: FlightSummary, rows: Any) -> None:
    setpoints = log.setpoint_ned[rows][log.on_path[rows]]
    path = setpoints if summary.path_ned is None else summary.path_ned
    planned = "set-point" if summary.path_ned is None else "planned path"
    north, east = log.position_ned[rows, 0], log.position_ned[rows, 1]
    axes.plot(path[:, 1], path[:, 0], color=GREY, linestyle="--", linewidth=1.3, label=planned)
    axes.plot(east, north, color=BLUE, linewidth=1.8, label="true path")
    draw_ends(axes, north, east)
    reach = fit_map(axes, np.r_[north, path[:, 0]], np.r_[east, path[:, 1]])
    axes.set_title("Path from above")
    for start, end in itertools.pairwise(path if summary.path_ned is not None else ()):
        # No arrows where the path turns, which would crowd them.
        if np.linalg.norm((end - start)[:2]) > _LONG_LEG * reach:
            _draw_direction(axes, start, end, reach)
    _draw_wind(axes, summary, path if len(path) else log.position_ned[rows], reach)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=4)


def _draw_direction(axes: Axes, start: Array, end: Array, reach: float) -> None:
    """Draw an arrow beside a leg, to its right, in the direction of flight."""
    along = (end - start)[:2] / max(float(np.linalg.norm((end - start)[:2])), 1e-9)
    inward = np.array([-along[1], along[0]])
    centre = (start + end)[:2] / 2.0 + 0.04 * reach * inward
    tail, head = centre - 0.04 * reach * along, centre + 0.04 * reach * along
    axes.annotate("", xy=(head[1], head[0]), xytext=(tail[1], tail[0]), arrowprops={"arrowstyle": "->", "color": GREY})


def _draw_wind(axes: Axes, summary: FlightSummary, around: Array, reach: float) -> None:
    words = words_of(summary.vehicle_class)
    north, east, _ = around.T
    centre_north, centre_east = 0.5 * (north.min() + north.max()), 0.5 * (east.min() + east.max())
    if summary.max_wind_speed_mps < CALM:
        axes.text(centre_east, centre_north, f"no {words.flow}", ha="center", va="center", color=GREY)
        return
    towards = summary.mean_wind_from_rad + math.pi
    half = 0.09 * reach
    d_north, d_east = half * math.cos(towards), half * math.sin(towards)
    axes.annotate(
        "",
        xy=(centre_east + d_east, centre_north + d_north),
        xytext=(centre_east - d_east, centre_north - d_north),
        arrowprops={"arrowstyle": "-|>", "color": ORANGE, "linewidth": 2.5, "mutation_scale": 22},
    )
    mean, most = (f"{one:.{words.decimals}f} m/s" for one in (summary.mean_wind_speed_mps, summary.max_wind_speed_mps))
    text = f"{words.flow} {mean}\nup to {most}"
    axes.text(centre_east, centre_north - 0.13 * reach, text, ha="center", va="top", color=ORANGE)


def _draw_height(axes: Axes, log: FlightLog, summary: FlightSummary, rows: Any, time: Array) -> None:
    ground = log.position_ned[0, 2]
    reference = ground - log.setpoint_ned[rows, 2]
    # The landing's set-point is intentionally below the ground; the plot ends at the ground.
    axes.plot(time, np.maximum(reference, 0.0), color=GREY, linestyle="--", label="wanted")
    axes.plot(time, ground - log.position_ned[rows, 2], color=BLUE, label="true")
    axes.set_ylabel("height (m)")
    axes.set_title("Height above the take-off point", pad=18)
    axes.set_ylim(bottom=-0.05 * summary.max_height_m - 0.01, top=1.12 * summary.max_height_m + 0.1)
    axes.legend(loc="lower center", ncols=2)


def _draw_depth(axes: Axes, log: FlightLog, summary: FlightSummary, rows: Any, time: Array) -> None:
    axes.plot(time, log.setpoint_ned[rows, 2], color=GREY, linestyle="--", label="wanted")
    axes.plot(time, log.position_ned[rows, 2], color=BLUE, label="true")
    axes.set_ylabel("depth (m)")
    axes.set_title("Depth", pad=18)
    axes.set_ylim(1.12 * summary.max_depth_m + 0.1, 0.0)
    axes.legend(loc="upper center", ncols=2)


def _draw_thrusters(axes: Axes, log: FlightLog, rows: Any, time: Array) -> None:
    draw_actuators(axes, log, rows, time, "Thrusters")


def _draw_battery(axes: Axes, log: FlightLog, rows: Any, time: Array) -> None:
    draw_battery(axes, time, log.battery_voltage[rows], log.battery_current[rows])


def _draw_error(axes: Axes, log: FlightLog, summary: FlightSummary, rows: Any, time: Array) -> None:
    error, largest = tracking_error(log, summary.path_ned)[rows], summary.tracking_error_max_m
    if summary.vehicle_class is VehicleClass.FIXED_WING:
        height = np.abs(path_deviation(log, summary.path_ned)[rows, 2])
        axes.plot(time, height, color=AMBER, linewidth=1.2, label="height only")
    elif summary.path_ned is not None:
        largest = max(largest, summary.reference_error_max_m)
        axes.plot(time, reference_error(log)[rows], color=AMBER, linewidth=1.2, label="from the moving reference")
    axes.plot(
        time,
        error,
        color=BLUE,
        label="from the path" if summary.path_ned is not None else "from the set-point",
    )
    if not math.isnan(summary.tracking_error_rms_m):
        axes.axhline(summary.tracking_error_rms_m, color=BLUE, linestyle=":", linewidth=1.2, label="its RMS")
        axes.set_ylim(0.0, 1.25 * max(largest, 0.04))
    axes.set_ylabel("distance (m)")
    axes.set_title("Tracking error")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=3)


def _mark_phases(axes: Axes, log: FlightLog, named: bool) -> None:
    phase, time = log.phase, log.time_s - log.time_s[0]
    starts = np.flatnonzero(np.r_[True, np.diff(phase) != 0])
    ends = np.r_[starts[1:], len(phase) - 1]
    for start, end in zip(starts, ends, strict=True):
        if start > 0:
            axes.axvline(time[start], color="#BBBBBB", linewidth=0.8, zorder=0.5)
        if named and time[end] - time[start] > 0.045 * time[-1]:
            axes.text(
                (time[start] + time[end]) / 2.0,
                1.02,
                log.phases(int(phase[start])).label,
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize=9,
                color="#666666",
            )
