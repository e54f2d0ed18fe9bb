"""Measurements of a perfect IMU, for programs that add errors of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.bridge.front_end_interface import Vector3
from rosflight_py_sim.physics.earth import Earth, apparent_gravity_in_body, earth_rate_in_body


def true_imu(earth: Earth, truth: NDArray[np.float64]) -> tuple[Vector3, Vector3]:
    """Angular rate (rad/s) and specific force (m/s^2) of a perfect IMU in a truth state (19,)."""
    w, x, y, z = truth[3:7].tolist()
    p, q, r, ax, ay, az = truth[10:16].tolist()
    wx, wy, wz = earth_rate_in_body(earth, w, x, y, z)
    gx, gy, gz = apparent_gravity_in_body(earth, truth)
    return (p + wx, q + wy, r + wz), (ax - gx, ay - gy, az - gz)
