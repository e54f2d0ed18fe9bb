"""Summary of a flight out and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.recording.motion_summary import MotionSummary, summarise_motion

HIGHEST_M, FARTHEST_M = 3.0, 10.0
"""Least height above the start and least horizontal distance from it that the vehicle must reach, m."""

# Largest horizontal distance from the start at the end, m.
_BACK_M = 3.0

# Largest height above the start, m, and speed, m/s, of a vehicle that has landed.
_LANDED_M, _LANDED_MPS = 0.5, 0.3


@dataclass(frozen=True)
class OutAndBackSummary(MotionSummary):
    """Key figures of the flight.

    Attributes:
        farthest_m: largest horizontal distance from the start.
        end_distance_m: horizontal distance from the start at the end.
        landed: whether the vehicle stands on the ground at the end.
        completed: whether it was high and far enough, came back and landed.
    """

    farthest_m: float
    end_distance_m: float
    landed: bool
    completed: bool


def has_landed(height_m: float, speed_mps: float) -> bool:
    """Whether a vehicle at that height above its start, and at that speed, stands on the ground."""
    return height_m < _LANDED_M and speed_mps < _LANDED_MPS


def summarise_out_and_back(log: PathLog, wall_s: float | None = None) -> OutAndBackSummary:
    """Summarise a log.

    Raises:
        ValueError: fewer than two rows, or values that are not finite.
    """
    motion = summarise_motion(log, wall_s)
    away = np.linalg.norm(log.position_ned[:, :2] - log.position_ned[0, :2], axis=1)
    farthest, end = float(away.max()), float(away[-1])
    landed = has_landed(motion.end_height_m, float(np.linalg.norm(log.velocity_body[-1])))
    reached = motion.max_height_m >= HIGHEST_M and farthest >= FARTHEST_M
    return OutAndBackSummary(
        **vars(motion),
        farthest_m=farthest,
        end_distance_m=end,
        landed=landed,
        completed=reached and landed and end <= _BACK_M,
    )
