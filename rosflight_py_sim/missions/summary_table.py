"""Summary tables for the terminal: rows that missions share, and the rows of a motion without a known mission."""

from __future__ import annotations

import math
from typing import Protocol

from rich.console import Console
from rich.table import Table

from rosflight_py_sim.missions.acceptance import Miss
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
        extremes_row(s),
        ("current" if underwater else "wind", wind_text(s)),
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

    @property
    def shortfall(self) -> str:
        """Exceeded limits of a mission that was flown to its end; empty if there are none."""

    @property
    def miss(self) -> Miss:
        """Largest miss of a waypoint."""


class ExtremesSummary(Protocol):
    """Extremes of a motion in any direction."""

    @property
    def max_speed_mps(self) -> float:
        """Greatest speed."""

    @property
    def max_tilt_rad(self) -> float:
        """Greatest angle between the vehicle's and the local vertical."""


def mission_rows(s: AnySummary) -> list[tuple[str, str]]:
    """Rows that every mission has."""
    failed = f"not completed: {s.shortfall}" if s.shortfall else "not completed"
    return [
        ("mission", "completed" if s.completed else failed),
        *_time_rows(s),
        ("largest miss of a waypoint", s.miss.text),
    ]


def _time_rows(s: TimedSummary) -> list[tuple[str, str]]:
    rows = [("simulated time", f"{s.duration_s:.1f} s")]
    if s.wall_duration_s is not None and s.real_time_factor is not None:
        rows.append(("wall time", f"{s.wall_duration_s:.1f} s"))
        rows.append(("real-time factor", f"{s.real_time_factor:.1f}"))
    return rows


def extremes_row(s: ExtremesSummary) -> tuple[str, str]:
    """Row of the greatest speed and tilt."""
    return "fastest, most tilted", f"{s.max_speed_mps:.2f} m/s, {math.degrees(s.max_tilt_rad):.1f} deg"


def wind_text(summary: MotionSummary, decimals: int = 1) -> str:
    """Wind or current as text: speed, and direction it comes from in degrees from north."""
    if summary.max_wind_speed_mps < CALM:
        return "none"
    from_deg = math.degrees(summary.mean_wind_from_rad)
    mean, largest = summary.mean_wind_speed_mps, summary.max_wind_speed_mps
    return f"mean {mean:.{decimals}f} m/s from {from_deg:03.0f} deg, max {largest:.{decimals}f} m/s"
