"""Summary of a flight along a planned path."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.missions.acceptance import Limit, Miss, joined
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.waypoint_miss import largest_miss, largest_misses
from rosflight_py_sim.recording.motion_summary import MotionSummary, summarise_motion
from rosflight_py_sim.recording.state_log import lengths
from rosflight_py_sim.vehicles.physics_model import VehicleClass

Array = npt.NDArray[np.float64]

# A vehicle that ends lower than this above its start (m) has landed.
_ON_GROUND_M = 0.5
# Longest time between two setpoints of an autopilot that moves them, s: that of its slowest rate of commands.
_LONGEST_HOLD_S = 1.0


@dataclass(frozen=True)
class Demands:
    """Requirements of a completed flight, in addition to reaching the mission's last phase.

    Attributes:
        route_ned: waypoints to pass, in order, m (n, 3); None: the one waypoint is the setpoint, which moves.
        first_row: first row of the log in which the vehicle flies them.
        waypoint: limit of the largest miss of a waypoint; None for a mission without waypoints.
        height: limit of the height error; `waypoint` then limits the horizontal distance. None if the distance includes
            the height.
        landing: limit of the distance of a landing from the intended place; None if it has no limit.
    """

    route_ned: Array | None = field(default_factory=lambda: np.empty((0, 3)))
    first_row: int = 0
    waypoint: Limit | None = None
    height: Limit | None = None
    landing: Limit | None = None

    def miss(self, log: FlightLog) -> Miss:
        """Largest miss of a waypoint in a flight."""
        if self.waypoint is None:
            return Miss()
        if self.route_ned is None:
            return Miss(_largest(reference_error(log)[log.on_path]), self.waypoint)
        flown = log.position_ned[self.first_row :]
        if self.height is None:
            distance = largest_miss(flown, self.route_ned) if len(flown) > 1 else float("nan")
            return Miss(distance, self.waypoint)
        distance, height_error = float("nan"), float("nan")
        if len(flown) > 1:
            distance, height_error = largest_misses(flown, self.route_ned, self.waypoint.value, self.height.value)
        return Miss(distance, self.waypoint, height_error, self.height)


@dataclass(frozen=True)
class FlightSummary(MotionSummary):
    """Key figures of a flight. Values about the path are NaN if the flight has not reached it.

    `tracking_error_*` is the distance of the true position from the planned path, or from the setpoint if `path_ned` is
    None, height included, while the vehicle follows it; `height_error_*` its vertical part; `reference_error_*` the
    distance from the setpoint, which moves along the path for a vehicle that can stop. A fixed wing has an airspeed
    instead. `touch_down_speed_mps` is the sink rate at the
    touch-down and `touch_down_distance_m` its horizontal distance from the setpoint, the planned place;
    `landing_distance_m` is the distance of the end from the start. All three are NaN for a flight that ends in the air.
    `miss` is the largest miss of a waypoint, `waypoint_miss_m` its distance and `waypoint_height_error_m` its height
    error. The miss of a follower is its largest distance from its position in the formation. `completed` is whether the
    last phase was reached and no limit is exceeded; if the phase was reached, `shortfall` names the exceeded limits.
    `estimator_unhealthy_s` is the time with an attitude estimate that the flight controller reported as unhealthy (it
    checks multirotors only).
    """

    vehicle: str
    path_ned: Array | None
    vehicle_class: VehicleClass
    completed: bool
    landed: bool
    tracking_error_rms_m: float
    tracking_error_max_m: float
    reference_error_rms_m: float
    reference_error_max_m: float
    height_error_rms_m: float
    height_error_max_m: float
    min_airspeed_mps: float
    max_airspeed_mps: float
    touch_down_speed_mps: float
    touch_down_distance_m: float
    landing_distance_m: float
    battery_voltage_start: float
    battery_voltage_end: float
    battery_used_mah: float
    mean_current_a: float
    max_current_a: float
    estimator_unhealthy_s: float
    miss: Miss
    waypoint_miss_m: float
    waypoint_height_error_m: float
    shortfall: str


def path_deviation(log: FlightLog, path_ned: Array | None) -> Array:
    """Deviation of each row's true position from the nearest point of the path, NED (m); NaN off the path; (n, 3).

    `path_ned` (m, 3) is a polyline; the nearest point is taken in three dimensions. None: deviation from the setpoint.

    Raises:
        ValueError: fewer than two points.
    """
    if path_ned is None:
        return _reference_deviation(log)
    if len(path_ned) < 2:
        raise ValueError(f"{len(path_ned)} points given; allowed: at least 2")
    on_path = log.on_path
    points = log.position_ned[on_path]
    best = np.full(len(points), np.inf)
    deviation = np.full((len(points), 3), np.nan)
    for start, end in itertools.pairwise(path_ned):
        away = points - nearest_on_segment(points, start, end)
        distance = lengths(away)
        nearer = distance < best
        best[nearer] = distance[nearer]
        deviation[nearer] = away[nearer]
    whole = np.full((len(log), 3), np.nan)
    whole[on_path] = deviation
    return whole


def tracking_error(log: FlightLog, path_ned: Array | None) -> Array:
    """Distance (m) of each row's true position from the planned path; NaN in rows off the path; shape (n,)."""
    return lengths(path_deviation(log, path_ned))


def reference_error(log: FlightLog) -> Array:
    """Distance (m) of each row's true position from the setpoint; NaN in rows off the path; shape (n,)."""
    return lengths(_reference_deviation(log))


def _reference_deviation(log: FlightLog) -> Array:
    """Deviation of each row's true position from the setpoint, NED (m); NaN in rows off the path; (n, 3).

    A log may hold each setpoint over several rows, until the next one; the setpoint is interpolated linearly between
    the rows at which it changed. A setpoint that lasts longer than a second is one that stood still.
    """
    time, setpoint = log.time_s, log.setpoint_ned
    changed = np.flatnonzero(np.r_[True, np.any(np.diff(setpoint, axis=0) != 0.0, axis=1)])
    ends = changed[1:][np.diff(time[changed]) > _LONGEST_HOLD_S] - 1
    is_known = np.zeros(len(time), dtype=np.bool_)
    is_known[changed] = is_known[ends] = True
    known = np.flatnonzero(is_known)
    reference = np.stack([np.interp(time, time[known], setpoint[known, axis]) for axis in range(3)], axis=1)
    deviation: Array = log.position_ned - reference
    deviation[~log.on_path] = np.nan
    return deviation


def nearest_on_segment(points: Array, start: Array, end: Array) -> Array:
    """Points of the segment from `start` to `end` (3) nearest to each of `points` (n, 3)."""
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    nearest: Array = start + share[:, None] * along
    return nearest


def summarise(
    log: FlightLog,
    path_ned: npt.ArrayLike | None,
    vehicle: str,
    wall_duration_s: float | None = None,
    demands: Demands | None = None,
    vehicle_class: VehicleClass = VehicleClass.ROTORCRAFT,
) -> FlightSummary:
    """Summarise `log`, a flight along the polyline `path_ned` (m, 3); None: to the moving setpoint.

    The battery's charge is the integral of the current by the trapezoidal rule. The touch-down speed is the greatest
    sink rate in the last 0.1 m of the landing, the touch-down the moment at which the sink rate has then halved.

    Raises:
        ValueError: fewer than two rows or points, or values that are not finite.
    """
    motion = summarise_motion(log, wall_duration_s)
    path = None if path_ned is None else np.asarray(path_ned, dtype=np.float64)
    on_path = log.on_path
    deviation = path_deviation(log, path)[on_path]
    error, height_error = lengths(deviation), np.abs(deviation[:, 2])
    time, position, airspeed = log.time_s, log.position_ned, log.airspeed
    step = np.diff(time)
    moving_error = reference_error(log)[on_path]
    current = log.battery_current
    charge_coulomb = float(np.sum(0.5 * (current[1:] + current[:-1]) * step))
    landed = motion.end_height_m < _ON_GROUND_M and vehicle_class is not VehicleClass.UNDERWATER
    touch_down_speed, touch_down_distance = _touch_down(log) if landed else (float("nan"), float("nan"))
    end_distance = float(np.linalg.norm(position[-1, :2] - position[0, :2])) if landed else float("nan")
    demands = demands or Demands()
    miss = demands.miss(log)
    excesses = [miss.excess]
    if demands.landing is not None and landed:
        is_fixed_wing = vehicle_class is VehicleClass.FIXED_WING
        place, off = ("planned touch-down", touch_down_distance) if is_fixed_wing else ("start", end_distance)
        excesses.append(demands.landing.excess(f"the distance of the landing from the {place}", off))
    shortfall = joined(excesses) if log.is_completed else ""
    return FlightSummary(
        **vars(motion),
        vehicle=vehicle,
        path_ned=path,
        vehicle_class=vehicle_class,
        completed=log.is_completed and not shortfall,
        landed=landed,
        tracking_error_rms_m=_rms(error),
        tracking_error_max_m=_largest(error),
        reference_error_rms_m=_rms(moving_error),
        reference_error_max_m=_largest(moving_error),
        height_error_rms_m=_rms(height_error),
        height_error_max_m=_largest(height_error),
        min_airspeed_mps=-_largest(-airspeed[on_path]),
        max_airspeed_mps=_largest(airspeed[on_path]),
        touch_down_speed_mps=touch_down_speed,
        touch_down_distance_m=touch_down_distance,
        landing_distance_m=end_distance,
        battery_voltage_start=float(log.battery_voltage[0]),
        battery_voltage_end=float(log.battery_voltage[-1]),
        battery_used_mah=charge_coulomb / 3.6,
        mean_current_a=charge_coulomb / max(motion.duration_s, 1e-12),
        max_current_a=float(current.max()),
        estimator_unhealthy_s=_estimator_unhealthy_s(log),
        miss=miss,
        waypoint_miss_m=miss.distance_m,
        waypoint_height_error_m=miss.height_error_m,
        shortfall=shortfall,
    )


def _estimator_unhealthy_s(log: FlightLog) -> float:
    unhealthy = log.error_code.astype(np.int64) & int(ErrorFlag.UNHEALTHY_ESTIMATOR) != 0
    return float(np.sum(np.diff(log.time_s)[unhealthy[:-1]]))


def _touch_down(log: FlightLog) -> tuple[float, float]:
    """Sink rate (m/s) of the touch-down, and its horizontal distance from the setpoint (m); NaN without a landing.

    The landing is the last descent from 0.1 m above the start, after the path was flown.
    """
    position = log.position_ned
    flown = np.flatnonzero(log.on_path)
    rows = position[:, 2] > position[0, 2] - 0.1
    rows[: flown[-1] if len(flown) else len(rows)] = False
    sink = np.where(rows, log.velocity_ned[:, 2], -np.inf)
    if not rows.any():
        return float("nan"), float("nan")
    fastest = int(np.argmax(sink))
    stopped = fastest + int(np.argmax(sink[fastest:] <= 0.5 * sink[fastest]))
    off = position[stopped, :2] - log.setpoint_ned[stopped, :2]
    return float(sink[fastest]), float(np.linalg.norm(off))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _largest(values: Array) -> float:
    return float(values.max()) if len(values) else float("nan")
