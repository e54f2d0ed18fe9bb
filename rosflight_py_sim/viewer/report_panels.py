"""Plots of a recording's report, each a separate SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import numpy as np

from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.recording.columns import Array, Columns
from rosflight_py_sim.recording.recorded_vehicle import RecordedVehicle
from rosflight_py_sim.recording.state_log import StateLog
from rosflight_py_sim.recording.yaw_drift import yaw_drift
from rosflight_py_sim.viewer.log_panels import draw_actuators, draw_attitude, draw_battery, draw_speed
from rosflight_py_sim.viewer.picture_page import AMBER, BLACK, BLUE, GREEN, GREY, ORANGE, fit_map, svg_figure, svg_of
from rosflight_py_sim.viewer.world_map import draw_world
from rosflight_py_sim.world import World

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Enough points for a plot: more would only thicken the lines.
_POINTS = 1500

# Times beyond this are Unix times, not times since the start of a simulation.
_LONG_AGO_S = 1e8

_AXES = (("x", BLUE), ("y", ORANGE), ("z", GREEN))
_PALE = 0.45


@dataclass(frozen=True)
class Panel:
    """A plot: title, SVG, and an explanation below it, which may be empty."""

    title: str
    svg: str
    note: str


@dataclass(frozen=True)
class PanelData:
    """Data of the panels: a vehicle, its log, the world, and the planned path (m, 3), if any."""

    vehicle: RecordedVehicle
    log: StateLog
    world: World
    path_ned: Array | None


Draw = Callable[["Axes", PanelData], bool]


def panels(data: PanelData) -> Iterator[Panel]:
    """The plots for which there are data, in order."""
    for title, draw in _PANELS.items():
        with svg_figure(7.6, 5.6 if draw is _path else 3.1) as figure:
            axes = figure.add_subplot()
            if not draw(axes, data):
                continue
            axes.set_title("")
            if draw is not _path:
                _draw_time(axes, float(data.log.time_s[0]), float(data.log.time_s[-1]))
            svg = svg_of(figure)
        drift = yaw_drift(data.vehicle, data.log) if draw is _attitude else None
        yield Panel(title, svg, drift.text if drift else "")


def _draw_time(axes: Axes, first_s: float, last_s: float) -> None:
    axes.set_xlabel("time (s)")
    axes.set_xlim(first_s, last_s + 1e-6)
    if first_s > _LONG_AGO_S:
        zero = math.floor(first_s)
        axes.xaxis.set_major_formatter(lambda time_s, _: f"{time_s - zero:g}")
        axes.set_xlabel(f"time since {datetime.fromtimestamp(zero, timezone.utc):%Y-%m-%d %H:%M:%S} UTC (s)")


def _rows(log: StateLog) -> Array:
    return np.unique(np.linspace(0, len(log) - 1, min(len(log), _POINTS)).astype(int))


def _thin(found: Columns) -> slice:
    return slice(None, None, max(1, len(found) // _POINTS))


def _legend(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=6)


def _path(axes: Axes, data: PanelData) -> bool:
    log, planned = data.log, data.path_ned
    rows = _rows(log)
    north, east = log.position_ned[rows, 0], log.position_ned[rows, 1]
    every = (north, east)
    if planned is not None:
        axes.plot(planned[:, 1], planned[:, 0], color=GREY, linestyle="--", linewidth=1.3, label="planned")
        every = (np.r_[north, planned[:, 0]], np.r_[east, planned[:, 1]])
    axes.plot(east, north, color=BLUE, linewidth=1.8, label="flown")
    axes.plot(east[0], north[0], "o", color=GREEN, markersize=8, label="start", zorder=4)
    axes.plot(east[-1], north[-1], "X", color=ORANGE, markersize=8, markeredgecolor="white", label="end", zorder=5)
    draw_world(axes, data.world)
    fit_map(axes, *every)
    axes.set_xlabel("east (m)")
    axes.set_ylabel("north (m)")
    _legend(axes)
    return True


def _height(axes: Axes, data: PanelData) -> bool:
    log, one = data.log, data.vehicle
    rows = _rows(log)
    setpoint = one.columns(topic_names.SETPOINT)
    if setpoint is not None and len(setpoint):
        thin = _thin(setpoint)
        wanted = np.maximum(-setpoint.values["pose.position.z"], 0.0)
        axes.plot(setpoint.time_s[thin], wanted[thin], color=GREY, linestyle="--", label="wanted")
    found = one.columns(topic_names.RANGE)
    if found is not None and len(found):
        thin = _thin(found)
        axes.plot(found.time_s[thin], found.values["range"][thin], ".", color=AMBER, markersize=2, label="range finder")
    axes.plot(log.time_s[rows], -log.position_ned[rows, 2], color=BLUE, label="true")
    axes.set_ylabel("height above the origin (m)")
    _legend(axes)
    return True


def _attitude(axes: Axes, data: PanelData) -> bool:
    rows = _rows(data.log)
    found = data.vehicle.columns(topic_names.ATTITUDE_EULER)
    if found is not None and len(found):
        thin = _thin(found)
        for axis, colour in zip("xyz", (BLUE, ORANGE, BLACK), strict=True):
            angle = np.degrees(found.values[f"vector.{axis}"][thin])
            axes.plot(found.time_s[thin], angle, ".", color=colour, markersize=1.5, alpha=_PALE)
        axes.plot([], [], ".", color=GREY, label="estimated")
    draw_attitude(axes, data.log, rows, data.log.time_s[rows])
    _legend(axes)
    return True


def _speed(axes: Axes, data: PanelData) -> bool:
    rows = _rows(data.log)
    found = data.vehicle.columns(topic_names.CORRECTED_AIRSPEED)
    if found is not None and len(found) and "velocity" in found.values:
        thin = _thin(found)
        axes.plot(found.time_s[thin], found.values["velocity"][thin], ".", color=GREY, markersize=2, label="measured")
    draw_speed(axes, data.log, rows, data.log.time_s[rows])
    _legend(axes)
    return True


def _actuators(axes: Axes, data: PanelData) -> bool:
    if not data.vehicle.pwm_us.any():
        return False
    rows = _rows(data.log)
    draw_actuators(axes, data.log, rows, data.log.time_s[rows])
    _legend(axes)
    return True


def _battery(axes: Axes, data: PanelData) -> bool:
    found = data.vehicle.columns(topic_names.TRUTH_BATTERY) or data.vehicle.columns(topic_names.CORRECTED_BATTERY)
    if found is None or len(found) < 2:
        return False
    thin = _thin(found)
    draw_battery(axes, found.time_s[thin], found.values["voltage"][thin], found.values["current"][thin])
    return True


def _wind(axes: Axes, data: PanelData) -> bool:
    flow = data.log.flow_ned
    if not flow.any():
        return False
    rows = _rows(data.log)
    for index, (name, (_, colour)) in enumerate(zip(("north", "east", "down"), _AXES, strict=True)):
        axes.plot(data.log.time_s[rows], flow[rows, index], color=colour, linewidth=1.0, label=name)
    axes.set_ylabel("towards (m/s)")
    _legend(axes)
    return True


def _rates(axes: Axes, data: PanelData) -> bool:
    log = data.log
    rows = _rows(log)
    found = data.vehicle.columns(topic_names.IMU)
    for index, (axis, colour) in enumerate(_AXES):
        if found is not None and len(found):
            thin = _thin(found)
            measured = np.degrees(found.values[f"angular_velocity.{axis}"][thin])
            axes.plot(found.time_s[thin], measured, ".", color=colour, markersize=1.5, alpha=_PALE)
        rate = np.degrees(log.truth[rows, 10 + index])
        axes.plot(log.time_s[rows], rate, color=colour, linewidth=1.0, label=f"{axis}")
    axes.set_ylabel("rate (deg/s)")
    if found is not None:
        axes.plot([], [], ".", color=GREY, label="gyroscope")
    _legend(axes)
    return True


def _force(axes: Axes, data: PanelData) -> bool:
    found = data.vehicle.columns(topic_names.IMU)
    if found is None or not len(found):
        return False
    thin = _thin(found)
    for axis, colour in _AXES:
        measured = found.values[f"linear_acceleration.{axis}"][thin]
        axes.plot(found.time_s[thin], measured, color=colour, linewidth=0.8, label=axis)
    axes.set_ylabel("specific force (m/s²)")
    # The scale leaves out touch-downs, which would flatten the rest.
    every = np.concatenate([found.values[f"linear_acceleration.{axis}"] for axis, _ in _AXES])
    low, high = np.percentile(every, [0.1, 99.9])
    axes.set_ylim(low - 0.15 * (high - low) - 1.0, high + 0.15 * (high - low) + 1.0)
    _legend(axes)
    return True


def _barometer(axes: Axes, data: PanelData) -> bool:
    found = data.vehicle.columns(topic_names.CORRECTED_BARO)
    if found is None or not len(found) or "altitude" not in found.values:
        return False
    thin = _thin(found)
    true = np.interp(found.time_s, data.log.time_s, -data.log.position_ned[:, 2])
    error = found.values["altitude"] - true
    axes.plot(found.time_s[thin], (error - np.median(error))[thin], color=BLUE, linewidth=0.8)
    axes.set_ylabel("altitude - true, about its median (m)")
    return True


_PANELS: dict[str, Draw] = {
    "Path from above": _path,
    "Height": _height,
    "Attitude, true and estimated": _attitude,
    "Speed": _speed,
    "Actuators": _actuators,
    "Rates, true and measured": _rates,
    "Accelerometer": _force,
    "Barometer's error": _barometer,
    "Battery": _battery,
    "Wind or current": _wind,
}
