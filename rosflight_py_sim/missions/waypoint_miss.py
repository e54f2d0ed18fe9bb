"""Distances at which a flight passed its waypoints."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.recording.state_log import Array


def largest_miss(position_ned: Array, waypoints_ned: Array) -> float:
    """Smallest distance (m) within which a path passes all waypoints in their order; NaN without waypoints.

    `position_ned` (n, d) are the corners of the path, n at least 2, `waypoints_ned` (m, d) the waypoints, both in m; d
    is 2 for horizontal distances. The path may pass a waypoint early, but counts for it only after the waypoint before:
    the smallest M with places t_1 <= ... <= t_m on the path at which |p(t_k) - w_k| <= M for all k, which the recursion
    M_k(t) = min over s <= t of max(M_{k-1}(s), |p(s) - w_k|) finds. Between two corners the path is straight; the order
    of waypoints passed on one such piece does not count.
    """
    if not len(waypoints_ned):
        return float("nan")
    start, along = position_ned[:-1], np.diff(position_ned, axis=0)
    squared = np.maximum(np.sum(along**2, axis=1), 1e-12)
    within = np.zeros(len(start))
    for waypoint in waypoints_ned:
        share = np.clip(np.sum((waypoint - start) * along, axis=1) / squared, 0.0, 1.0)
        apart = np.linalg.norm(start + share[:, None] * along - waypoint, axis=1)
        within = np.minimum.accumulate(np.maximum(within, apart))
    return float(within[-1])
