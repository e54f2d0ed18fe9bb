"""How well vehicles hold a goal, which stays, by their true states."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import euler_from_quaternion

UNSTEADY = 0.2
"""Weight of the square of the angular velocity, (rad/s)^-2."""

DISTANCE, HELD, TILT, JUDGED = 0, 1, 2, 3
"""Columns of `judge_holds`, and their number."""


@kernel
def distance_from(truth: NDArray[np.float64], north: float, east: float, down: float) -> float:
    """Distance of a place NED from the vehicle with a truth vector (19,), m."""
    x, y, z = truth[0] - north, truth[1] - east, truth[2] - down
    return math.sqrt(x * x + y * y + z * z)


@kernel
def held(truth: NDArray[np.float64], distance: float, yaw: float) -> float:
    """exp(-d) (1 + cos psi) / 2 / (1 + w^2 / 5): from 0 to 1.

    Args:
        truth: truth vector (19,), with the angular velocity w (rad/s).
        distance: d, m.
        yaw: heading of the goal (rad); psi is the difference from that of the vehicle.
    """
    _, _, heading = euler_from_quaternion(truth[3], truth[4], truth[5], truth[6])
    p, q, r = truth[10], truth[11], truth[12]
    reward = math.exp(-distance) * 0.5 * (1.0 + math.cos(yaw - heading))
    return float(reward / (1.0 + UNSTEADY * (p * p + q * q + r * r)))


@kernel
def tilt_of(truth: NDArray[np.float64]) -> float:
    """1 - cos of the angle between the down axes of the vehicle and of the earth: above 1 upside down."""
    return float(2.0 * (truth[4] * truth[4] + truth[5] * truth[5]))


@kernel
def judge_holds(truths: NDArray[np.float64], goals: NDArray[np.float64], judged: NDArray[np.float64]) -> None:
    """Write distance (m), `held` and `tilt_of` (n, 3) of vehicles with the truth vectors (n, 19).

    `goals` (n, 10) has position, velocity and next position NED, and yaw (`goals.Goal`).
    """
    for i in range(truths.shape[0]):
        distance = distance_from(truths[i, :], goals[i, 0], goals[i, 1], goals[i, 2])
        judged[i, DISTANCE] = distance
        judged[i, HELD] = held(truths[i, :], distance, goals[i, 9])
        judged[i, TILT] = tilt_of(truths[i, :])
