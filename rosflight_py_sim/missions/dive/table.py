"""Summary table of a dive."""

from __future__ import annotations

import math

from rosflight_py_sim.missions.dive.summary import DiveSummary
from rosflight_py_sim.missions.summary_table import CALM, extremes_row, mission_rows


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
        extremes_row(s),
        ("current", "none" if current < CALM else f"mean {current:.2f} m/s"),
        ("thrusters", f"mean {100.0 * s.mean_thrust:.0f} %"),
    ]


def _when(time_s: float, text: str) -> str:
    return "not reached" if math.isnan(time_s) else text
