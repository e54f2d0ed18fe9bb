"""Summary of a vehicle's motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.recording.state_log import StateLog, lengths


@dataclass(frozen=True)
class MotionSummary:
    """Key figures of a motion; heights are above the start, wind is the current for an underwater vehicle."""

    duration_s: float
    wall_duration_s: float | None
    path_length_m: float
    max_height_m: float
    end_height_m: float
    max_depth_m: float
    max_speed_mps: float
    max_tilt_rad: float
    mean_wind_speed_mps: float
    max_wind_speed_mps: float
    mean_wind_from_rad: float

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None if the wall time is unknown."""
        return self.duration_s / self.wall_duration_s if self.wall_duration_s else None


def summarise_motion(log: StateLog, wall_duration_s: float | None = None) -> MotionSummary:
    """Summarise the motion in `log`.

    Raises:
        ValueError: fewer than two rows, or values that are not finite.
    """
    if len(log) < 2:
        raise ValueError(f"{len(log)} rows in the log; a summary needs at least 2")
    if not log.is_finite:
        raise ValueError("the log contains values that are not finite")
    time, position = log.time_s, log.position_ned
    wind_speed = lengths(log.flow_ned)
    wind_north, wind_east, _ = log.flow_ned.mean(axis=0)
    roll, pitch, _ = log.euler.T
    return MotionSummary(
        duration_s=float(time[-1] - time[0]),
        wall_duration_s=wall_duration_s,
        path_length_m=float(np.sum(lengths(np.diff(position, axis=0)))),
        max_height_m=float(position[0, 2] - position[:, 2].min()),
        end_height_m=float(position[0, 2] - position[-1, 2]),
        max_depth_m=float(position[:, 2].max()),
        max_speed_mps=float(lengths(log.velocity_body).max()),
        max_tilt_rad=float(np.arccos(np.clip(np.cos(roll) * np.cos(pitch), -1.0, 1.0)).max()),
        mean_wind_speed_mps=float(wind_speed.mean()),
        max_wind_speed_mps=float(wind_speed.max()),
        mean_wind_from_rad=float(np.arctan2(-wind_east, -wind_north) % (2.0 * np.pi)),
    )
