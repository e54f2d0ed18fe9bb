"""Summary table of a flight, for the terminal."""

from __future__ import annotations

import math
from typing import Protocol

from rich.console import Console
from rich.table import Table

from rosflight_py_sim.missions.autopilot.summary import FlightSummary
from rosflight_py_sim.missions.dive.summary import DiveSummary
from rosflight_py_sim.missions.out_and_back.summary import OutAndBackSummary
from rosflight_py_sim.recording.motion_summary import MotionSummary

CALM = 1e-6
"""Largest wind speed that counts as calm, m/s."""


def print_table(title: str, rows: list[tuple[str, str]], console: Console) -> None:
    """Print a titled table with rows of a name and a text."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    console.print(table)


def summary_rows(summary: FlightSummary) -> list[tuple[str, str]]:
    """Rows of the table: a name and a text with its unit."""
    s = summary
    return [
        *mission_rows(s),
        ("path length", f"{s.path_length_m:.1f} m"),
        *_path_rows(s),
        ("height error", _rms_and_max(s.height_error_rms_m, s.height_error_max_m)),
        _extremes_row(s),
        _end_row(s),
        ("wind", wind_text(s)),
        (
            "battery",
            f"{s.battery_voltage_start:.2f} V to {s.battery_voltage_end:.2f} V, {s.battery_used_mah:.0f} mAh, "
            f"mean {s.mean_current_a:.1f} A, max {s.max_current_a:.1f} A",
        ),
        *([] if s.has_wings else [("estimator unhealthy", _unhealthy_text(s.estimator_unhealthy_s))]),
    ]


def out_and_back_rows(summary: OutAndBackSummary) -> list[tuple[str, str]]:
    """Rows of a table of a flight out and back: a name and a text with its unit."""
    s = summary
    end = f"{s.end_distance_m:.2f} m from the start"
    return [
        *mission_rows(s),
        ("path length", f"{s.path_length_m:.1f} m"),
        ("highest, farthest", f"{s.max_height_m:.1f} m above the start, {s.farthest_m:.1f} m from it"),
        _extremes_row(s),
        ("landing", end) if s.landed else ("at the end", f"in the air, {s.end_height_m:.1f} m above the start, {end}"),
        ("wind", wind_text(s)),
    ]


def motion_rows(summary: MotionSummary, *, underwater: bool) -> list[tuple[str, str]]:
    """Rows for a motion without a known mission."""
    s = summary
    height = (
        ("deepest", f"{s.max_depth_m:.2f} m") if underwater else ("highest", f"{s.max_height_m:.1f} m above the start")
    )
    return [
        *_time_rows(s),
        ("path length", f"{s.path_length_m:.1f} m"),
        height,
        ("at the end", f"{s.end_height_m:.1f} m above the start"),
        _extremes_row(s),
        ("current" if underwater else "wind", wind_text(s)),
    ]


def dive_rows(summary: DiveSummary) -> list[tuple[str, str]]:
    """Rows of a dive's table: a name and a text with its unit."""
    s = summary
    current = s.mean_current_speed_mps
    return [
        *mission_rows(s),
        ("gate", _when(s.gate_s, f"passed at {s.gate_s:.1f} s, {s.gate_offset_m:.2f} m from its centre")),
        ("ring", _when(s.ring_s, f"surfaced in at {s.ring_s:.1f} s, {s.ring_offset_m:.2f} m from its centre")),
        ("path length", f"{s.path_length_m:.1f} m"),
        ("deepest", f"{s.max_depth_m:.2f} m"),
        _extremes_row(s),
        ("current", "none" if current < CALM else f"mean {current:.2f} m/s"),
        ("thrusters", f"mean {100.0 * s.mean_thrust:.0f} %"),
    ]


class TimedSummary(Protocol):
    """Times that every summary has."""

    @property
    def duration_s(self) -> float:
        """Simulated time."""

    @property
    def wall_duration_s(self) -> float | None:
        """Wall time; None if unknown."""

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None if unknown."""


class AnySummary(TimedSummary, Protocol):
    """Fields that the summary of every mission has."""

    @property
    def completed(self) -> bool:
        """Whether the mission succeeded."""


def mission_rows(s: AnySummary) -> list[tuple[str, str]]:
    """Rows that every mission has."""
    return [("mission", "completed" if s.completed else "not completed"), *_time_rows(s)]


def _time_rows(s: TimedSummary) -> list[tuple[str, str]]:
    rows = [("simulated time", f"{s.duration_s:.1f} s")]
    if s.wall_duration_s is not None and s.real_time_factor is not None:
        rows.append(("wall time", f"{s.wall_duration_s:.1f} s"))
        rows.append(("real-time factor", f"{s.real_time_factor:.1f}"))
    return rows


def _extremes_row(s: MotionSummary | DiveSummary) -> tuple[str, str]:
    return "fastest, most tilted", f"{s.max_speed_mps:.2f} m/s, {math.degrees(s.max_tilt_rad):.1f} deg"


def _when(time_s: float, text: str) -> str:
    return "not reached" if math.isnan(time_s) else text


def _path_rows(s: FlightSummary) -> list[tuple[str, str]]:
    """Distance from the planned path, and airspeed or distance from the setpoint; without a path, only the latter."""
    error = _rms_and_max(s.tracking_error_rms_m, s.tracking_error_max_m)
    if s.path_ned is None:
        return [("distance from formation position", error)]
    return [("tracking error", error), _wanted_row(s)]


def _wanted_row(s: FlightSummary) -> tuple[str, str]:
    """Airspeed on the path for a vehicle with wings, else distance from the moving reference."""
    if not s.has_wings:
        return "distance to moving reference", _rms_and_max(s.reference_error_rms_m, s.reference_error_max_m)
    return "airspeed on the path", f"{_number(s.min_airspeed_mps, 'm/s')} to {_number(s.max_airspeed_mps, 'm/s')}"


def _end_row(s: FlightSummary) -> tuple[str, str]:
    if s.landed:
        speed = _number(s.touch_down_speed_mps, "m/s")
        if s.has_wings:
            return "landing", f"{_number(s.touch_down_distance_m, 'm')} from the planned touch-down, {speed}"
        return "landing", f"{s.landing_distance_m:.2f} m from the start, {speed}"
    return "at the end", f"in the air, {s.end_height_m:.1f} m above the start"


def wind_text(summary: MotionSummary) -> str:
    """Wind as text: speed, and direction it comes from in degrees from north."""
    if summary.max_wind_speed_mps < CALM:
        return "none"
    from_deg = math.degrees(summary.mean_wind_from_rad)
    mean, largest = summary.mean_wind_speed_mps, summary.max_wind_speed_mps
    return f"mean {mean:.1f} m/s from {from_deg:03.0f} deg, max {largest:.1f} m/s"


def _unhealthy_text(seconds: float) -> str:
    return f"for {seconds:.1f} s" if seconds else "never"


def _rms_and_max(rms: float, largest: float) -> str:
    return f"{_number(rms, 'm')} RMS, {_number(largest, 'm')} max"


def _number(value: float, unit: str) -> str:
    return "not reached" if math.isnan(value) else f"{value:.2f} {unit}"
