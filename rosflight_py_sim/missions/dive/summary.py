"""Summary of a dive, and evaluation of its task from the true state and the world."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.missions.acceptance import Limit, Miss
from rosflight_py_sim.missions.dive.log import DiveLog
from rosflight_py_sim.missions.waypoint_miss import largest_miss
from rosflight_py_sim.recording.motion_summary import summarise_motion
from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.world import Kind, Object, World, WorldError

WAYPOINT_RADIUS = Parameter(
    "waypoint_radius",
    1.0,
    "Largest distance, height included, at which the path passes the centres of the gate and of the ring",
    "m",
    minimum=0.01,
    maximum=1e5,
)

WITHIN = Limit.of(WAYPOINT_RADIUS, {})
"""Default limit; a vehicle file may set another."""

# A vehicle whose centre is no deeper than this (m) is at the surface: a hull of its size breaks it.
_AT_SURFACE_M = 0.35


@dataclass(frozen=True)
class DiveSummary:
    """Key figures of a dive.

    `gate_s` and `ring_s` are the times at which the vehicle passed the gate, and surfaced within the ring in which it
    ended (simulated time since the start, s); NaN if it did not. `gate_offset_m` is the distance from the centre of the
    opening at the passage; `ring_offset_m` the distance from the centre of the ring at the end. `miss` is the largest
    miss of the centres of gate and ring, height included; `waypoint_miss_m` is its distance.
    """

    vehicle: str
    world: str
    duration_s: float
    wall_duration_s: float | None
    path_length_m: float
    max_depth_m: float
    max_speed_mps: float
    max_tilt_rad: float
    mean_current_speed_mps: float
    mean_thrust: float
    gate_s: float
    gate_offset_m: float
    ring_s: float
    ring_offset_m: float
    miss: Miss
    waypoint_miss_m: float

    @property
    def completed(self) -> bool:
        """Whether the vehicle passed the gate, then reached the ring, and missed neither by more than the limit."""
        return self._was_flown and not self.miss.excess

    @property
    def shortfall(self) -> str:
        """Exceeded limit of a dive that passed the gate and reached the ring; empty if there is none."""
        return self.miss.excess if self._was_flown else ""

    @property
    def _was_flown(self) -> bool:
        return self.gate_s < self.ring_s

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None if the wall time is unknown."""
        return self.duration_s / self.wall_duration_s if self.wall_duration_s else None


def task_object(world: World, name: str, kind: Kind) -> Object:
    """Object of the world that a task needs.

    Raises:
        WorldError: the world has no object with that name and kind.
    """
    for one in world.objects:
        if one.name == name and one.kind is kind:
            return one
    raise WorldError(f"world '{world.name}' has no {kind.label} named '{name}', which the mission needs")


def gate_passage(time_s: Array, position_ned: Array, gate: Object) -> tuple[float, float]:
    """Time of the first passage through the gate, in either direction, and distance from its centre; NaN if none.

    The path is straight between its rows (n,), (n, 3); the vehicle counts as a point.
    """
    forward = np.array([math.cos(gate.yaw), math.sin(gate.yaw)])
    across = np.array([-forward[1], forward[0]])
    width, height, _ = gate.size
    away = position_ned - np.asarray(gate.position_ned)
    ahead, aside = away[:, :2] @ forward, away[:, :2] @ across
    for row in np.flatnonzero(np.signbit(ahead[1:]) != np.signbit(ahead[:-1])).tolist():
        share = ahead[row] / (ahead[row] - ahead[row + 1])
        offset = aside[row] + share * (aside[row + 1] - aside[row])
        down = away[row, 2] + share * (away[row + 1, 2] - away[row, 2])
        if abs(offset) < 0.5 * width and abs(down) < 0.5 * height:
            return float(time_s[row] + share * (time_s[row + 1] - time_s[row])), float(abs(offset))
    return math.nan, math.nan


def ring_surfacing(time_s: Array, position_ned: Array, ring: Object) -> tuple[float, float]:
    """Time of surfacing in the ring in which the vehicle ended, and its distance from the centre; NaN if none."""
    away = np.linalg.norm(position_ned[:, :2] - np.asarray(ring.position_ned[:2]), axis=1)
    within = (away < 0.5 * ring.size[0]) & (position_ned[:, 2] < _AT_SURFACE_M)
    if not within[-1]:
        return math.nan, math.nan
    outside = np.flatnonzero(~within)
    came = int(outside[-1]) + 1 if len(outside) else 0
    return float(time_s[came]), float(away[-1])


def summarise_dive(
    log: DiveLog,
    world: World,
    gate: Object,
    ring: Object,
    vehicle: str,
    wall_duration_s: float | None = None,
    limit: Limit = WITHIN,
) -> DiveSummary:
    """Summarise `log`, a dive through `gate` into `ring`; `limit` is the limit WAYPOINT_RADIUS.

    Raises:
        ValueError: fewer than two rows, or values that are not finite.
    """
    motion = summarise_motion(log, wall_duration_s)
    time = log.time_s - log.time_s[0]
    position = log.position_ned
    gate_s, gate_offset = gate_passage(time, position, gate)
    ring_s, ring_offset = ring_surfacing(time, position, ring)
    centres = np.array([gate.position_ned, ring.position_ned])
    miss = Miss(largest_miss(position, centres), limit)
    return DiveSummary(
        vehicle=vehicle,
        world=world.name,
        duration_s=motion.duration_s,
        wall_duration_s=motion.wall_duration_s,
        path_length_m=motion.path_length_m,
        max_depth_m=motion.max_depth_m,
        max_speed_mps=motion.max_speed_mps,
        max_tilt_rad=motion.max_tilt_rad,
        mean_current_speed_mps=motion.mean_wind_speed_mps,
        mean_thrust=float(np.abs(log.actuator_commands).mean()),
        gate_s=gate_s,
        gate_offset_m=gate_offset,
        ring_s=ring_s,
        ring_offset_m=ring_offset,
        miss=miss,
        waypoint_miss_m=miss.distance_m,
    )
