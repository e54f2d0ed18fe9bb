"""Summary table of a flight out and back."""

from __future__ import annotations

from rosflight_py_sim.missions.out_and_back.summary import OutAndBackSummary
from rosflight_py_sim.missions.summary_table import extremes_row, mission_rows, wind_text


def out_and_back_rows(summary: OutAndBackSummary) -> list[tuple[str, str]]:
    """Rows of a table of a flight out and back: a name and a text with its unit."""
    s = summary
    end = f"{s.end_distance_m:.2f} m from the start"
    return [
        *mission_rows(s),
        ("path length", f"{s.path_length_m:.1f} m"),
        ("highest, farthest", f"{s.max_height_m:.1f} m above the start, {s.farthest_m:.1f} m from it"),
        extremes_row(s),
        ("landing", end) if s.landed else ("at the end", f"in the air, {s.end_height_m:.1f} m above the start, {end}"),
        ("wind", wind_text(s)),
    ]
