"""Kernel that guides a fixed wing along a path of lines and arcs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.fixedwing_target_controller import turn_to_course
from rosflight_py_sim.autopilot.flight_state import seen_flight
from rosflight_py_sim.autopilot.longitudinal_loops import (
    HeightMemory,
    flown_airspeed,
    hold_height,
    zone_of_height,
)
from rosflight_py_sim.autopilot.loops import PiMemory, SlewMemory, slew
from rosflight_py_sim.autopilot.path_manager import PathMemory, advance_on_segment, has_passed, travelled
from rosflight_py_sim.autopilot.path_segments import course_onto, nearest_point
from rosflight_py_sim.autopilot.surface_loops import SurfaceMemory, damp_yaw, surfaces
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.kernels.chain import Tick
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

_MODE = int(CommandMode.PASS_THROUGH)
_ALMOST_DONE = 0.999


@kernel_record
class PathFlight:
    """State of a mission that follows its path.

    Attributes:
        progress: completed share of the mission.
        is_done: whether the mission is done and the vehicle circles.
        flares: whether the present segment leads to the touch-down.
        flare_height: height above the touch-down point at which the flare begins, m.
        flare_lead: lag of the sink rate that the flare compensates, s.
        touch_down: down coordinate of the touch-down point, m.
        approach: `FieldGains.approach`; likewise `line` and `orbit`.
    """

    progress: float
    is_done: bool
    flares: bool
    flare_height: float
    flare_lead: float
    touch_down: float
    approach: float
    line: float
    orbit: float


@kernel
def note_progress(flight: PathFlight, path: PathMemory, north: float, east: float) -> None:
    """Raise the progress to that at a position (m)."""
    share = min(travelled(path, north, east) / path.length, _ALMOST_DONE)
    flight.progress = 1.0 if flight.is_done else max(flight.progress, share)


@kernel
def height_ahead(flight: PathFlight, down: float, climb: float) -> float:
    """Height (m) above the touch-down point after the flare's lead, at a down coordinate (m) and climb rate (m/s)."""
    return flight.touch_down - down + flight.flare_lead * climb


@kernel
def is_flare_due(flight: PathFlight, down: float, climb: float) -> bool:
    """Whether the flare begins at a down coordinate (m) and climb rate (m/s)."""
    return flight.flares and height_ahead(flight, down, climb) <= flight.flare_height


@kernel
def guide_along_path(
    tick: Tick,
    flight: PathFlight,
    path: PathMemory,
    course_loop: PiMemory,
    heights: HeightMemory,
    height_loop: PiMemory,
    throttle_loop: PiMemory,
    climb_speed_loop: PiMemory,
    roll_limit: SlewMemory,
    pitch_limit: SlewMemory,
    throttle_limit: SlewMemory,
    inner: SurfaceMemory,
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    command: NDArray[np.float64],
    target: NDArray[np.float64],
) -> bool:
    """Guide a fixed wing along its path, or return True if Python must guide.

    Python guides at the end of a segment, in the flare, where a climb or descent begins or ends, and if the state is
    not finite.

    Args:
        tick: time of the state, and the time since the last one.
        flight: state of the mission.
        path: place on the path.
        course_loop: loop from course to roll angle.
        heights: state of the longitudinal loops, as for `hold_height`.
        height_loop: loop from height to pitch angle.
        throttle_loop: loop from airspeed to throttle.
        climb_speed_loop: loop from airspeed to pitch angle.
        roll_limit: rate limit of the roll angle.
        pitch_limit: rate limit of the pitch angle.
        throttle_limit: rate limit of the throttle.
        inner: parameters and state of the inner loops.
        truth: true state (19,).
        wind_ned: wind (3,), m/s.
        command: set to the mode, the bits of values to ignore, and ten values.
        target: set to the point of the path abreast of the vehicle (m), and the commanded course (rad).
    """
    north, east, down = truth[0], truth[1], truth[2]
    p, q, r = truth[10], truth[11], truth[12]
    wind_north, wind_east, wind_down = wind_ned[0], wind_ned[1], wind_ned[2]
    roll, pitch, yaw, course, ground_speed, airspeed, u, v, w = seen_flight(
        truth[3], truth[4], truth[5], truth[6], truth[7], truth[8], truth[9], wind_north, wind_east, wind_down
    )
    total = north + east + down + roll + pitch + yaw + p + q + r + course + ground_speed + airspeed
    if not math.isfinite(total + u + v + w + wind_north + wind_east + wind_down):
        return True
    if has_passed(path, north, east) and not path.is_over:
        return True
    if is_flare_due(flight, down, -w):
        return True
    segment = path.segment
    to_north, to_east, to_down = nearest_point(segment, north, east)
    error = down - to_down
    if zone_of_height(heights, error) != heights.zone or not roll_limit.has_value:
        return True
    advance_on_segment(path, north, east)
    note_progress(flight, path, north, east)
    to_course = course_onto(segment, north, east, course, flight.approach, flight.line, flight.orbit)
    to_roll = turn_to_course(course_loop, course, ground_speed, to_course, segment.curvature, tick.dt)
    missing = flown_airspeed(heights, segment.airspeed) - airspeed
    to_pitch, throttle = hold_height(
        heights, height_loop, throttle_loop, climb_speed_loop, error, 0.0, missing, tick.dt
    )
    to_roll, to_pitch = slew(roll_limit, to_roll, tick.dt), slew(pitch_limit, to_pitch, tick.dt)
    damper = damp_yaw(inner, r, tick.dt)
    aileron, elevator, rudder = surfaces(inner, airspeed, roll, pitch, p, q, r, to_roll, to_pitch, damper)
    for i in range(len(command)):
        command[i] = 0.0
    command[0], command[2] = _MODE, slew(throttle_limit, throttle, tick.dt)
    command[5], command[6], command[7] = aileron, elevator, rudder
    target[0], target[1], target[2], target[3] = to_north, to_east, to_down, to_course
    return False
