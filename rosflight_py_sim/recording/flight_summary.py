"""The numbers that sum up a flight of the square mission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.recording.flight_log import FlightLog

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FlightSummary:
    """One flight in numbers. What belongs to the square is NaN when the flight has not reached it.

    `tracking_error_*` is the distance of the true position from the side being flown, height included;
    `reference_error_*` the distance from the moving setpoint; `height_error_*` the vertical part of the former.
    """

    vehicle: str
    corners_ned: tuple[Vector3, ...]
    completed: bool
    duration_s: float
    wall_duration_s: float | None
    path_length_m: float
    tracking_error_rms_m: float
    tracking_error_max_m: float
    reference_error_rms_m: float
    reference_error_max_m: float
    height_error_rms_m: float
    height_error_max_m: float
    max_height_m: float
    max_speed_mps: float
    max_tilt_rad: float
    touch_down_speed_mps: float
    landing_distance_m: float
    mean_wind_speed_mps: float
    max_wind_speed_mps: float
    mean_wind_from_rad: float
    battery_voltage_start: float
    battery_voltage_end: float
    battery_used_mah: float
    mean_current_a: float
    max_current_a: float

    @property
    def real_time_factor(self) -> float | None:
        """Simulated over wall time; None where the wall time is not known."""
        return self.duration_s / self.wall_duration_s if self.wall_duration_s else None


def tracking_error(log: FlightLog, corners_ned: Sequence[Vector3]) -> Array:
    """Distance (m) of each row's true position from the side being flown; NaN in rows off the square; shape (n,).

    The distance is to the nearest point of the segment between the two corners, in three dimensions.

    Raises:
        ValueError: not four corners.
    """
    if len(corners_ned) != 4:
        raise ValueError(f"{len(corners_ned)} corners given; allowed: 4")
    position, phase = log.position_ned, log.phase
    error = np.full(len(log), np.nan)
    for side in range(4):
        rows = phase == Phase.SIDE_1 + side
        if rows.any():
            start, end = np.asarray(corners_ned[side]), np.asarray(corners_ned[(side + 1) % 4])
            error[rows] = distance_to_segment(position[rows], start, end)
    return error


def reference_error(log: FlightLog) -> Array:
    """Distance (m) of each row's true position from the moving reference; NaN in rows off the square; shape (n,).

    A log may hold each setpoint over several rows, until the next one; the reference is taken to move evenly between
    the rows at which it changed.
    """
    time, setpoint = log.time_s, log.setpoint_ned
    changed = np.flatnonzero(np.r_[True, np.any(np.diff(setpoint, axis=0) != 0.0, axis=1)])
    reference = np.stack([np.interp(time, time[changed], setpoint[changed, axis]) for axis in range(3)], axis=1)
    error = np.asarray(np.linalg.norm(log.position_ned - reference, axis=1))
    phase = log.phase
    error[(phase < Phase.SIDE_1) | (phase > Phase.SIDE_4)] = np.nan
    return error


def distance_to_segment(points: Array, start: Array, end: Array) -> Array:
    """Distance (m) of each of `points` (n, 3) to the nearest point of the segment from `start` to `end` (3)."""
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    nearest: Array = start + share[:, None] * along
    return np.asarray(np.linalg.norm(points - nearest, axis=1))


def summarise(
    log: FlightLog, corners_ned: Sequence[Vector3], vehicle: str, wall_duration_s: float | None = None
) -> FlightSummary:
    """Sum up `log`, a flight of the square with these four corners.

    The battery's charge is the integral of the current by the trapezoidal rule; the touch-down speed is the greatest
    sink rate in the last 0.1 m of the landing.

    Raises:
        ValueError: fewer than two rows, values that are not finite, or not four corners.
    """
    if len(log) < 2:
        raise ValueError(f"{len(log)} rows in the log; a summary needs at least 2")
    if not log.is_finite:
        raise ValueError("the log holds values that are not finite")
    error = tracking_error(log, corners_ned)
    square = ~np.isnan(error)
    time, position, phase = log.time_s, log.position_ned, log.phase
    step = np.diff(time)
    wind_speed = np.linalg.norm(log.wind_ned, axis=1)
    wind_north, wind_east, _ = log.wind_ned.mean(axis=0)
    moving_error = reference_error(log)[square]
    height_error = np.abs(position[:, 2] - corners_ned[0][2])[square]
    roll, pitch, _ = log.euler.T
    current = log.battery_current
    charge_coulomb = float(np.sum(0.5 * (current[1:] + current[:-1]) * step))
    return FlightSummary(
        vehicle=vehicle,
        corners_ned=tuple(corners_ned),
        completed=bool(phase[-1] == Phase.DONE),
        duration_s=float(time[-1] - time[0]),
        wall_duration_s=wall_duration_s,
        path_length_m=float(np.sum(np.linalg.norm(np.diff(position, axis=0), axis=1))),
        tracking_error_rms_m=_rms(error[square]),
        tracking_error_max_m=_largest(error[square]),
        reference_error_rms_m=_rms(moving_error),
        reference_error_max_m=_largest(moving_error),
        height_error_rms_m=_rms(height_error),
        height_error_max_m=_largest(height_error),
        max_height_m=float(position[0, 2] - position[:, 2].min()),
        max_speed_mps=float(np.linalg.norm(log.velocity_body, axis=1).max()),
        max_tilt_rad=float(np.arccos(np.clip(np.cos(roll) * np.cos(pitch), -1.0, 1.0)).max()),
        touch_down_speed_mps=_touch_down_speed(log),
        landing_distance_m=float(np.linalg.norm(position[-1, :2] - position[0, :2])),
        mean_wind_speed_mps=float(wind_speed.mean()),
        max_wind_speed_mps=float(wind_speed.max()),
        mean_wind_from_rad=float(np.arctan2(-wind_east, -wind_north) % (2.0 * np.pi)),
        battery_voltage_start=float(log.battery_voltage[0]),
        battery_voltage_end=float(log.battery_voltage[-1]),
        battery_used_mah=charge_coulomb / 3.6,
        mean_current_a=charge_coulomb / max(float(time[-1] - time[0]), 1e-12),
        max_current_a=float(current.max()),
    )


def _touch_down_speed(log: FlightLog) -> float:
    position = log.position_ned
    rows = (log.phase == Phase.LAND) & (position[:, 2] > position[0, 2] - 0.1)
    return _largest(log.velocity_ned[rows, 2])


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _largest(values: Array) -> float:
    return float(values.max()) if len(values) else float("nan")
