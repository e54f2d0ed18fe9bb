"""Rotations between body and inertial axes, as kernels on plain floats.

A quaternion (w, x, y, z) turns body axes into inertial axes; Euler angles are yaw, pitch, roll (ZYX), in rad.
Unit quaternions are assumed, not checked. Formulas: Beard and McLain, Small Unmanned Aircraft, appendix B; the
exponential map is Sola, Quaternion kinematics for the error-state Kalman filter, eq. 101.
"""

from __future__ import annotations

import math

from rosflight_py_sim.jit import kernel


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
    """Roll, pitch, yaw (rad). Roll and yaw lie in (-pi, pi], pitch in [-pi/2, pi/2]; at its ends yaw is arbitrary."""
    sine_pitch = 2.0 * (qw * qy - qx * qz)
    return (
        math.atan2(2.0 * (qw * qx + qy * qz), qw * qw - qx * qx - qy * qy + qz * qz),
        math.asin(max(-1.0, min(1.0, sine_pitch))),
        math.atan2(2.0 * (qw * qz + qx * qy), qw * qw + qx * qx - qy * qy - qz * qz),
    )


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
