"""Rotations between body and inertial axes, as kernels on plain floats.

A quaternion (w, x, y, z) turns body axes into inertial axes; Euler angles are yaw, pitch, roll (ZYX), in rad.
Unit quaternions are assumed, not checked. Formulas: Beard and McLain, Small Unmanned Aircraft, appendix B; the
exponential map is Sola, Quaternion kinematics for the error-state Kalman filter, eq. 101.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel

_POLE = 4e-15
"""Cosine of half the sum of pitch and 90 degrees, up to which rounding alone may have made it differ from 0."""


@kernel
def rotate_to_inertial(
    qw: float, qx: float, qy: float, qz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Inertial components of a vector given in body axes: v + 2 w (q x v) + 2 q x (q x v), q the vector part."""
    tx = 2.0 * (qy * z - qz * y)
    ty = 2.0 * (qz * x - qx * z)
    tz = 2.0 * (qx * y - qy * x)
    return (
        x + qw * tx + (qy * tz - qz * ty),
        y + qw * ty + (qz * tx - qx * tz),
        z + qw * tz + (qx * ty - qy * tx),
    )


@kernel
def rotate_to_body(
    qw: float, qx: float, qy: float, qz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Body components of a vector given in inertial axes: the inverse of `rotate_to_inertial`."""
    return rotate_to_inertial(qw, -qx, -qy, -qz, x, y, z)


@kernel
def quaternion_from_euler(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Quaternion of the turn by yaw about z, then pitch about the new y, then roll about the new x (rad)."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
    )


@kernel
def euler_from_quaternion(qw: float, qx: float, qy: float, qz: float) -> tuple[float, float, float]:
    """Roll, pitch, yaw (rad). Roll and yaw lie in (-pi, pi], pitch in [-pi/2, pi/2]; at its ends roll is 0.

    With h = pitch / 2, the quaternion contains two plane vectors at half the sum and half the difference of yaw and
    roll: (w - y, z + x) has length cos h - sin h and angle (yaw + roll) / 2; (w + y, z - x) has length cos h + sin h
    and angle (yaw - roll) / 2. So the angles turn back into the same rotation to rounding at every pitch. At 90 degrees
    the first vector vanishes, at -90 degrees the second; the other then gives yaw, which is 2 atan2(z, w) in both
    cases. The length of the quaternion does not matter. E. Bernardes and S. Viollet, Quaternion to Euler angles
    conversion, PLoS ONE 17(11), 2022.
    """
    sum_cosine, sum_sine = qw - qy, qz + qx
    difference_cosine, difference_sine = qw + qy, qz - qx
    shrinking, growing = math.hypot(sum_cosine, sum_sine), math.hypot(difference_cosine, difference_sine)
    half_sum, half_difference = math.atan2(sum_sine, sum_cosine), math.atan2(difference_sine, difference_cosine)
    if shrinking <= _POLE * growing:
        half_sum = half_difference
    elif growing <= _POLE * shrinking:
        half_difference = half_sum
    return (
        _within_half_turn(half_sum - half_difference),
        2.0 * math.atan2(growing, shrinking) - 0.5 * math.pi,
        _within_half_turn(half_sum + half_difference),
    )


@kernel
def euler_from_quaternions(quaternions: NDArray[np.float64], angles: NDArray[np.float64]) -> None:
    """Write roll, pitch, yaw of each quaternion (n, 4) into `angles` (n, 3)."""
    for i in range(len(quaternions)):
        roll, pitch, yaw = euler_from_quaternion(
            quaternions[i, 0], quaternions[i, 1], quaternions[i, 2], quaternions[i, 3]
        )
        angles[i, 0], angles[i, 1], angles[i, 2] = roll, pitch, yaw


@kernel
def quaternion_from_matrix(matrix: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Quaternion of a rotation matrix (3, 3) that turns body into inertial components; its largest element is positive.

    The largest of the four squares 4 w^2, 4 x^2, 4 y^2, 4 z^2 is divided by, so that rounding is never magnified (S.
    Shepperd, Quaternion from Rotation Matrix, J. Guidance and Control 1(3), 1978).
    """
    xx, yy, zz = matrix[0, 0], matrix[1, 1], matrix[2, 2]
    if xx + yy + zz >= max(xx, yy, zz):
        square = 1.0 + xx + yy + zz
        w, x = square, matrix[2, 1] - matrix[1, 2]
        y, z = matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]
    elif xx >= yy and xx >= zz:
        square = 1.0 + xx - yy - zz
        w, x = matrix[2, 1] - matrix[1, 2], square
        y, z = matrix[0, 1] + matrix[1, 0], matrix[0, 2] + matrix[2, 0]
    elif yy >= zz:
        square = 1.0 - xx + yy - zz
        w, x = matrix[0, 2] - matrix[2, 0], matrix[0, 1] + matrix[1, 0]
        y, z = square, matrix[1, 2] + matrix[2, 1]
    else:
        square = 1.0 - xx - yy + zz
        w, x = matrix[1, 0] - matrix[0, 1], matrix[0, 2] + matrix[2, 0]
        y, z = matrix[1, 2] + matrix[2, 1], square
    scale = 0.5 / math.sqrt(square)
    return scale * w, scale * x, scale * y, scale * z


@kernel
def quaternion_from_rotation_vector(x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """Exponential map: quaternion of the turn by |v| rad about v. Series below 1e-4 rad, exact to rounding."""
    angle_squared = x * x + y * y + z * z
    if angle_squared < 1e-8:
        scale = 0.5 - angle_squared / 48.0
        return 1.0 - angle_squared / 8.0, scale * x, scale * y, scale * z
    angle = math.sqrt(angle_squared)
    scale = math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), scale * x, scale * y, scale * z


@kernel
def _within_half_turn(angle: float) -> float:
    """Angle in (-pi, pi], from one in (-3 pi, 3 pi], rad."""
    if angle > math.pi:
        return angle - 2.0 * math.pi
    if angle <= -math.pi:
        return angle + 2.0 * math.pi
    return angle
