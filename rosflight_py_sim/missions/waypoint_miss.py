"""Distances at which a flight passed its waypoints."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rosflight_py_sim.recording.state_log import Array, dots, lengths


def largest_miss(position_ned: Array, waypoints_ned: Array) -> float:
    """Smallest distance (m) within which a path passes all waypoints in their order; NaN without waypoints.

    `position_ned` (n, d) are the corners of the path, n at least 2, `waypoints_ned` (m, d) the waypoints, both in m; d
    is 2 for horizontal distances. The path may pass a waypoint early, but counts for it only after the waypoint before.
    Between two corners the path is straight; the order of waypoints passed on one such piece does not count.
    """
    return _within([*map(lengths, _offsets(position_ned, waypoints_ned, position_ned.shape[1]))])


def largest_misses(
    position_ned: Array, waypoints_ned: Array, horizontal_limit_m: float, height_limit_m: float
) -> tuple[float, float]:
    """Horizontal distance and height error (m) within which a path passes all waypoints in their order.

    `position_ned` (n, 3) and `waypoints_ned` (m, 3) are as for `largest_miss`. For the distance, only passes within the
    limit of the height error count; for the height error, only passes within that distance: a pass at the right place
    and the wrong height does not count, nor one at the right height and the wrong place. Both results are within their
    limits, m, if and only if the path passes every waypoint within both limits at once; otherwise, at least one result
    exceeds its limit. Both are NaN without waypoints.
    """
    offsets = _offsets(position_ned, waypoints_ned, 2)
    apart = [lengths(off[:, :2]) for off in offsets]
    height_errors = [np.abs(off[:, 2]) for off in offsets]
    distance = _within(_where(height_errors, height_limit_m, apart))
    counted = distance
    if math.isinf(distance):
        distance = _within(apart)
        counted = max(distance, horizontal_limit_m)
    return distance, _within(_where(apart, counted, height_errors))


def _offsets(position_ned: Array, waypoints_ned: Array, dimensions: int) -> list[Array]:
    """Offsets (n - 1, d) of the path's pieces from each waypoint, m, at the points nearest in the first dimensions."""
    start, along = position_ned[:-1], np.diff(position_ned, axis=0)
    span = along[:, :dimensions]
    squared = np.maximum(dots(span, span), 1e-12)
    offsets = []
    for waypoint in waypoints_ned:
        share = np.clip(dots((waypoint - start)[:, :dimensions], span) / squared, 0.0, 1.0)
        offsets.append(start + share[:, None] * along - waypoint)
    return offsets


def _where(values: Sequence[Array], limit: float, others: Sequence[Array]) -> list[Array]:
    """`others` where `values` are within the limit; infinity elsewhere."""
    return [np.where(value <= limit, other, np.inf) for value, other in zip(values, others, strict=True)]


def _within(distances: Sequence[Array]) -> float:
    """Smallest M with pieces t_1 <= ... <= t_m of the path that have d_k(t_k) <= M for all k; NaN for m = 0.

    `distances` are d_1 to d_m, (n) each. The recursion M_k(t) = min over s <= t of max(M_{k-1}(s), d_k(s)) finds it.
    """
    if not distances:
        return math.nan
    within = np.zeros(len(distances[0]))
    for distance in distances:
        within = np.minimum.accumulate(np.maximum(within, distance))
    return float(within[-1])
