"""Summary table of an autopilot's flight."""

from __future__ import annotations

import math
from typing import NamedTuple

from rosflight_py_sim.missions.autopilot.summary import FlightSummary
from rosflight_py_sim.missions.summary_table import extremes_row, mission_rows, wind_text
from rosflight_py_sim.vehicles.physics_model import VehicleClass

# The class of vehicles whose attitude estimate the firmware checks.
_CHECKED = VehicleClass.ROTORCRAFT


class Words(NamedTuple):
    """Words for a trip, what carries the vehicle away, and its vertical position; decimals of the speed of a flow."""

    trip: str
    flow: str
    vertical: str
    decimals: int


def words_of(vehicle_class: VehicleClass) -> Words:
    """Words for the trips of a class of vehicles."""
    if vehicle_class is VehicleClass.UNDERWATER:
        return Words("Dive", "current", "depth", 2)
    return Words("Flight", "wind", "height", 1)


def summary_rows(summary: FlightSummary) -> list[tuple[str, str]]:
    """Rows of the table: a name and a text with its unit."""
    s, words = summary, words_of(summary.vehicle_class)
    return [
        *mission_rows(s),
        ("path length", f"{s.path_length_m:.1f} m"),
        *_path_rows(s),
        (f"{words.vertical} error", _rms_and_max(s.height_error_rms_m, s.height_error_max_m)),
        extremes_row(s),
        _end_row(s),
        (words.flow, wind_text(s, words.decimals)),
        (
            "battery",
            f"{s.battery_voltage_start:.2f} V to {s.battery_voltage_end:.2f} V, {s.battery_used_mah:.0f} mAh, "
            f"mean {s.mean_current_a:.1f} A, max {s.max_current_a:.1f} A",
        ),
        *([("estimator unhealthy", _unhealthy_text(s.estimator_unhealthy_s))] if s.vehicle_class is _CHECKED else []),
    ]


def _path_rows(s: FlightSummary) -> list[tuple[str, str]]:
    """Distance from the planned path, and airspeed or distance from the setpoint; without a path, only the latter."""
    error = _rms_and_max(s.tracking_error_rms_m, s.tracking_error_max_m)
    if s.path_ned is None:
        return [("distance from set-point", error)]
    return [("tracking error", error), _wanted_row(s)]


def _wanted_row(s: FlightSummary) -> tuple[str, str]:
    """Airspeed on the path for a fixed wing, else distance from the moving reference."""
    if s.vehicle_class is not VehicleClass.FIXED_WING:
        return "distance to moving reference", _rms_and_max(s.reference_error_rms_m, s.reference_error_max_m)
    return "airspeed on the path", f"{_number(s.min_airspeed_mps, 'm/s')} to {_number(s.max_airspeed_mps, 'm/s')}"


def _end_row(s: FlightSummary) -> tuple[str, str]:
    if s.landed:
        speed = _number(s.touch_down_speed_mps, "m/s")
        if s.vehicle_class is VehicleClass.FIXED_WING:
            return "landing", f"{_number(s.touch_down_distance_m, 'm')} from the planned touch-down, {speed}"
        return "landing", f"{s.landing_distance_m:.2f} m from the start, {speed}"
    if s.vehicle_class is VehicleClass.UNDERWATER:
        return "deepest, at the end", f"{s.max_depth_m:.2f} m, {-s.end_height_m:.2f} m below the start"
    return "at the end", f"in the air, {s.end_height_m:.1f} m above the start"


def _unhealthy_text(seconds: float) -> str:
    return f"for {seconds:.1f} s" if seconds else "never"


def _rms_and_max(rms: float, largest: float) -> str:
    return f"{_number(rms, 'm')} RMS, {_number(largest, 'm')} max"


def _number(value: float, unit: str) -> str:
    return "not reached" if math.isnan(value) else f"{value:.2f} {unit}"
