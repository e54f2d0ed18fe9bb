"""Observations of a plane in steady flight well inside its cage, with changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rosflight_py_sim.autopilot.cage import Observed
from rosflight_py_sim.autopilot.flight_state import FlightState

CRUISE = FlightState(
    position_ned=(0.0, 0.0, -100.0),
    roll=0.0,
    pitch=0.0,
    yaw=0.0,
    roll_rate=0.0,
    pitch_rate=0.0,
    yaw_rate=0.0,
    course=0.0,
    ground_speed=18.0,
    airspeed=18.0,
    velocity_ned=(18.0, 0.0, 0.0),
    wind_ned=(0.0, 0.0, 0.0),
)

INSIDE = Observed(
    time_s=0.0,
    state=CRUISE,
    throttle=0.6,
    wing_load=1.0,
    battery_voltage=23.0,
    armed=True,
    override=False,
    rc_lost=False,
    gps_ok=True,
    nav_ok=True,
    imu_ok=True,
)


def observed(seen: Observed, **changed: Any) -> Observed:
    """The observation with some fields of the state or other fields changed."""
    state = {name: value for name, value in changed.items() if name in FlightState._fields}
    others = {name: value for name, value in changed.items() if name not in FlightState._fields}
    return replace(seen, state=seen.state._replace(**state), **others)
