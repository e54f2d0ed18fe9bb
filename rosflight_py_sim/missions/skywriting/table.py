"""Summary table of a skywriting flight."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.cage import bit_names
from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.missions.skywriting.summary import CageBreak, LetterSummary, SkywritingSummary
from rosflight_py_sim.missions.summary_table import CALM, mission_rows


def skywriting_rows(summary: SkywritingSummary) -> list[tuple[str, str]]:
    """The rows of the table: a name and a text with its unit."""
    s = summary
    wind = s.mean_wind_speed_mps
    modes = sorted(s.seconds_of_mode.items(), key=lambda item: -item[1])
    return [
        *mission_rows(s),
        *((f"letter {letter.text}", _letter_text(letter, s)) for letter in s.letters),
        *_cage_rows(s.cage_break, s.height_limit_m),
        ("time in mode", ", ".join(f"{Mode(mode).label} {seconds:.0f} s" for mode, seconds in modes)),
        ("path length", f"{s.path_length_m:.0f} m"),
        ("max height, max roll", f"{s.max_height_m:.1f} m, {math.degrees(s.max_roll_rad):.0f} deg"),
        ("airspeed", f"{s.min_airspeed_mps:.1f} m/s to {s.max_airspeed_mps:.1f} m/s"),
        ("wind", "none" if wind < CALM else f"mean {wind:.1f} m/s"),
    ]


def _letter_text(letter: LetterSummary, s: SkywritingSummary) -> str:
    if math.isinf(letter.error_max_m):
        return "not written"
    text = f"{letter.length_m:.0f} m of lines, {letter.error_rms_m:.1f} m RMS off, {letter.error_max_m:.1f} m max"
    return f"{text}: not legible" if letter.excess(s.limit) else text


def _cage_rows(cage_break: CageBreak | None, limit_m: float) -> list[tuple[str, str]]:
    if cage_break is None:
        return [("cage", f"not left (limit {limit_m:.1f} m)")]
    b = cage_break
    left = f"at {b.left_s:.1f} s, {b.height_m:.1f} m high (limit {limit_m:.1f} m): {bit_names(b.bits)}"
    if math.isnan(b.inside_s):
        return [("cage left", left), ("back in the cage", "never")]
    back = f"at {b.inside_s:.1f} s, after {b.highest_m:.1f} m"
    again = "never" if math.isnan(b.again_s) else f"at {b.again_s:.1f} s"
    return [("cage left", left), ("back in the cage", back), ("fly() again", again)]
