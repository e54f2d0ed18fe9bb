"""Variables of a plane, with the names and units of Ground Control."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.flight_state import flight_state
from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.bridge.uthere_units import UthereUnits, compass_deg
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.physics.atmosphere import STANDARD_GRAVITY
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial

REQUIRED_FIELDS = frozenset({"airspeed", "battery", "rc", "status", "attitude", "gnss", "outputs"})
"""Snapshot fields that these variables need."""

RC_CHANNELS = 8

FIRST = {
    "latitude": "deg on WGS 84, north positive",
    "longitude": "deg, east positive",
    "altitude": "`uthere.altitude_unit` above home",
    "airspeed": "`uthere.airspeed_unit`",
}
"""First variables of data_all, and their units."""

VARIABLES = FIRST | {
    "groundspeed": "`uthere.airspeed_unit`, over ground",
    "course": "deg, 0 to 360: direction over ground",
    "heading": "deg, 0 to 360: direction of the nose",
    "roll": "deg, right wing down positive",
    "pitch": "deg, nose up positive",
    "climb": "ft/s, up positive",
    "throttle": "%: mean of the outputs `uthere.throttle_outputs`",
    "roll_rate": "deg/s about the forward axis",
    "pitch_rate": "deg/s about the axis to the right",
    "yaw_rate": "deg/s about the axis down",
    "angle_of_attack": "deg; 0 slower than 1 m/s",
    "sideslip": "deg, air from the right positive; 0 slower than 1 m/s",
    "wingload": "g: lift and thrust along the body's axis up, over weight",
    "range": "`uthere.altitude_unit`, over ground, from home",
    "home_bearing": "deg, 0 to 360: direction to home",
    "altitude_msl": "`uthere.altitude_unit` above mean sea level",
    "wind_speed": "`uthere.airspeed_unit`",
    "wind_direction": "deg, 0 to 360: direction the wind comes from",
    "time": "s of simulated time (in `wall`: Unix time)",
    "power_battery_voltage": "V, measured",
    "power_battery_current": "A, measured",
    "measured_airspeed": "`uthere.airspeed_unit`, from the pitot tube",
    "estimated_roll": "deg, from the flight controller's estimator",
    "estimated_pitch": "deg",
    "estimated_heading": "deg, 0 to 360",
    "gps_fix_type": "0 no fix, 2 2D fix, 3 3D fix",
    "gps_satellites": "number of satellites",
    "gps_latitude": "deg, measured",
    "gps_longitude": "deg, measured",
    "gps_altitude": "`uthere.altitude_unit` above mean sea level, measured",
    "armed": "1 or 0",
    "failsafe": "1 or 0: the flight controller has lost the RC signal",
    "rc_override": "bits of rosflight_msgs/Status: why the RC sticks have control",
    "offboard": "1 or 0: the flight controller follows commands",
    "error_code": "bits of rosflight_msgs/Status",
    **{f"rc_{channel + 1}": "us, pulse width of the transmitter's channel" for channel in range(RC_CHANNELS)},
}
"""Units of the vehicle's variables by name, in the order of data_all."""

# Airspeed, m/s, below which the flow angles are noise.
_STILL_AIR = 1.0

_FULL_THROTTLE = 100.0


def vehicle_variables(snapshot: Snapshot, units: UthereUnits, motors: list[int]) -> dict[str, float]:
    """Values of the VARIABLES known so far, in that order."""
    truth: list[float] = snapshot.truth.tolist()
    w, x, y, z, u, v, w_down = truth[3:10]
    state = flight_state(truth, snapshot.wind_ned)
    north, east, down = state.position_ned
    place = units.geodetic(north, east, down)
    _, _, to_down = rotate_to_inertial(w, x, y, z, u, v, w_down)
    wind_body = rotate_to_body(w, x, y, z, *snapshot.wind_ned)
    forward, right, below = u - wind_body[0], v - wind_body[1], w_down - wind_body[2]
    moves = state.airspeed > _STILL_AIR
    wind_north, wind_east, _ = snapshot.wind_ned
    values = {
        "latitude": place.latitude_deg,
        "longitude": place.longitude_deg,
        "altitude": -down / units.altitude,
        "airspeed": state.airspeed / units.speed,
        "groundspeed": state.ground_speed / units.speed,
        "course": compass_deg(state.course),
        "heading": compass_deg(state.yaw),
        "roll": math.degrees(state.roll),
        "pitch": math.degrees(state.pitch),
        "climb": -to_down / units.climb,
    }
    throttle = mean_throttle(snapshot, motors)
    if throttle is not None:
        values["throttle"] = _FULL_THROTTLE * throttle
    values |= {
        "roll_rate": math.degrees(state.roll_rate),
        "pitch_rate": math.degrees(state.pitch_rate),
        "yaw_rate": math.degrees(state.yaw_rate),
        "angle_of_attack": math.degrees(math.atan2(below, forward)) if moves else 0.0,
        "sideslip": math.degrees(math.asin(max(-1.0, min(right / state.airspeed, 1.0)))) if moves else 0.0,
        "wingload": wing_load(snapshot, units.gravity),
        "range": math.hypot(north, east) / units.altitude,
        "home_bearing": compass_deg(math.atan2(0.0 - east, 0.0 - north)),
        "altitude_msl": place.altitude_msl_m / units.altitude,
        "wind_speed": math.hypot(wind_north, wind_east) / units.speed,
        "wind_direction": compass_deg(math.atan2(0.0 - wind_east, 0.0 - wind_north)),
        "time": snapshot.time_ns / NANOSECONDS,
    }
    return values | _received(snapshot, units)


def _received(snapshot: Snapshot, units: UthereUnits) -> dict[str, float]:
    """Variables from messages that have arrived."""
    values: dict[str, float] = {}
    if snapshot.battery is not None:
        values["power_battery_voltage"], values["power_battery_current"] = snapshot.battery
    if snapshot.airspeed is not None:
        values["measured_airspeed"] = snapshot.airspeed.velocity / units.speed
    if snapshot.attitude is not None:
        roll, pitch, yaw = snapshot.attitude
        values["estimated_roll"], values["estimated_pitch"] = math.degrees(roll), math.degrees(pitch)
        values["estimated_heading"] = compass_deg(yaw)
    if snapshot.gnss is not None:
        gnss = snapshot.gnss
        values |= {
            "gps_fix_type": gnss.fix_type,
            "gps_satellites": gnss.satellites,
            "gps_latitude": gnss.latitude_deg,
            "gps_longitude": gnss.longitude_deg,
            "gps_altitude": gnss.altitude_msl_m / units.altitude,
        }
    if snapshot.status is not None:
        status = snapshot.status
        values |= {
            "armed": status.armed,
            "failsafe": status.failsafe,
            "rc_override": status.rc_override,
            "offboard": status.offboard,
            "error_code": status.error_code,
        }
    values |= {f"rc_{channel}": us for channel, us in enumerate(snapshot.rc_us[:RC_CHANNELS], start=1)}
    return values


def mean_throttle(snapshot: Snapshot, motors: list[int]) -> float | None:
    """Mean command of these outputs, 0 to 1; None before the first message, or without outputs."""
    if not snapshot.outputs or not motors:
        return None
    return sum(snapshot.outputs[output] for output in motors) / len(motors)


def wing_load(snapshot: Snapshot, gravity: float) -> float:
    """Specific force along the body's upward axis, over gravity: 1 in steady level flight and at rest on the ground.

    If `gravity` is 0, standard gravity takes its place.
    """
    w, x, y, z = snapshot.truth[3:7].tolist()
    force = rotate_to_body(w, x, y, z, 0.0, 0.0, gravity)[2] - float(snapshot.truth[15])
    return force / (gravity or STANDARD_GRAVITY)


def vertical_error(snapshot: Snapshot) -> float:
    """Angle between the estimated and the true vertical, rad; pi without an estimate."""
    if snapshot.attitude is None:
        return math.pi
    roll, pitch, _ = snapshot.attitude
    w, x, y, z = snapshot.truth[3:7].tolist()
    down_body = rotate_to_body(w, x, y, z, 0.0, 0.0, 1.0)
    estimated = -math.sin(pitch), math.sin(roll) * math.cos(pitch), math.cos(roll) * math.cos(pitch)
    return math.acos(max(-1.0, min(sum(a * b for a, b in zip(down_body, estimated, strict=True)), 1.0)))
