"""Summary of a flight out and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.missions.acceptance import Limit, Miss
from rosflight_py_sim.missions.client_log import PathLog
from rosflight_py_sim.recording.motion_summary import MotionSummary, summarise_motion
from rosflight_py_sim.recording.state_log import lengths

LEAST_HEIGHT = Parameter("least_height", 3.0, "Height above the start that the vehicle must reach", "m", minimum=0.0)
LEAST_DISTANCE = Parameter(
    "least_distance", 10.0, "Horizontal distance from the start that the vehicle must reach", "m", minimum=0.0
)
LANDING_RADIUS = Parameter(
    "landing_radius",
    3.0,
    "Largest horizontal distance from the start at which the landing counts as success",
    "m",
    minimum=0.01,
    maximum=1e5,
)
OUT_AND_BACK_LIMITS = ParameterTable(LEAST_HEIGHT, LEAST_DISTANCE, LANDING_RADIUS)

# Largest height above the start, m, and speed, m/s, of a vehicle that has landed.
_LANDED_M, _LANDED_MPS = 0.5, 0.3


@dataclass(frozen=True)
class OutAndBackSummary(MotionSummary):
    """Key figures of the flight.

    Attributes:
        farthest_m: largest horizontal distance from the start.
        end_distance_m: horizontal distance from the start at the end.
        landed: whether the vehicle stands on the ground at the end.
        miss: largest miss of a waypoint: the horizontal distance of the landing from the start. The waypoints are any
            place that is high and far enough, and the start.
        waypoint_miss_m: distance of `miss`; NaN for a vehicle that was not high and far enough, or has not landed.
        completed: whether it was high and far enough, came back and landed.
        shortfall: exceeded limits of a flight that was high and far enough and landed; empty if there are none.
    """

    farthest_m: float
    end_distance_m: float
    landed: bool
    completed: bool
    shortfall: str
    miss: Miss
    waypoint_miss_m: float


def has_landed(height_m: float, speed_mps: float) -> bool:
    """Whether a vehicle at that height above its start, and at that speed, stands on the ground."""
    return height_m < _LANDED_M and speed_mps < _LANDED_MPS


def summarise_out_and_back(log: PathLog, limits: Values, wall_s: float | None = None) -> OutAndBackSummary:
    """Summarise a log; `limits` has the values of OUT_AND_BACK_LIMITS.

    Raises:
        ValueError: fewer than two rows, or values that are not finite.
    """
    motion = summarise_motion(log, wall_s)
    away = lengths(log.position_ned[:, :2] - log.position_ned[0, :2])
    farthest, end = float(away.max()), float(away[-1])
    landed = has_landed(motion.end_height_m, float(np.linalg.norm(log.velocity_body[-1])))
    least_height, least_distance = (number(limits, one.name) for one in (LEAST_HEIGHT, LEAST_DISTANCE))
    flown = motion.max_height_m >= least_height and farthest >= least_distance and landed
    back = Limit.of(LANDING_RADIUS, limits)
    miss = Miss(end if flown else float("nan"), back)
    shortfall = back.excess("the distance of the landing from the start", end) if flown else ""
    return OutAndBackSummary(
        **vars(motion),
        farthest_m=farthest,
        end_distance_m=end,
        landed=landed,
        completed=flown and not shortfall,
        shortfall=shortfall,
        miss=miss,
        waypoint_miss_m=miss.distance_m,
    )
