"""Attitude estimator from gyros and accelerometer: a Mahony complementary filter on SO(3).

R. Mahony, T. Hamel, J.-M. Pflimlin, Nonlinear complementary filters on the special orthogonal group, IEEE Transactions
on Automatic Control 53 (2008), eq. 45-47; rate interpolation and matrix exponential after R. Casey, Attitude
representation and kinematic propagation for low-cost UAVs (2013), eq. 12 and 14.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.rotations import euler_from_quaternion

STANDARD_GRAVITY = 9.80665
"""m/s^2"""

UNHEALTHY_AFTER_S = 0.5
"""Time without a usable accelerometer after which the estimate counts as unhealthy."""

# Indices into the state array.
ATTITUDE = 0  # quaternion w x y z, body to inertial
EULER = 4  # roll, pitch, yaw (rad)
RATE = 7  # low-passed gyro less the estimated bias (rad/s)
BIAS = 10  # estimated gyro bias (rad/s)
GYRO = 13  # low-passed gyro (rad/s)
ACCEL = 16  # low-passed accelerometer (m/s^2)
GYRO_1 = 19  # low-passed gyro one step ago (rad/s)
GYRO_2 = 22  # and two steps ago (rad/s)
LAST_ACCEL = 25  # when the accelerometer was last usable (s)
LAST_EXTERNAL = 26  # when an external attitude was last used (s)
INITIALIZED = 27  # 0 until the first sample
EXTERNAL_GIVEN = 28  # 1 while an external attitude waits to be used
EXTERNAL = 29  # that attitude, quaternion w x y z
STATE_SIZE = 33


@kernel_record
class EstimatorSettings:
    """Parameters of the estimator, and which quirks of rosflight_firmware it has.

    Attributes:
        kp_accel: gain of the correction by the accelerometer (1/s).
        kp_external: gain of the correction by an external attitude (1/s).
        ki: gain of the gyro bias (1/s^2).
        init_time: time since the start with tenfold gains (s).
        margin: share of 1 g by which a usable accelerometer deviates at most.
        use_accel: whether the accelerometer corrects the attitude.
        quadratic: whether the rate over a step comes from the parabola through three samples.
        matrix_exponential: whether the attitude is integrated exactly.
        gyro_xy_low_pass: share of the last value in the low-passed one, x and y; `gyro_z_low_pass`: z.
        accel_low_pass: the same of the accelerometer.
        correction_by_heading: see `accel_correction_by_heading`.
        aliased: see `integrate_rate_aliased`.
    """

    kp_accel: float
    kp_external: float
    ki: float
    init_time: float
    margin: float
    use_accel: bool
    quadratic: bool
    matrix_exponential: bool
    gyro_xy_low_pass: float
    gyro_z_low_pass: float
    accel_low_pass: float
    correction_by_heading: bool
    aliased: bool


PARAMETERS_USED = frozenset(
    [
        *("FILT_ACC_KP", "FILT_EXT_KP", "FILT_KI", "FILT_INIT_T", "FILT_ACC_MARGIN", "FILT_USE_ACC", "FILT_QUAD_INT"),
        *("FILT_MAT_EXP", "GYRO_XY_LPF", "GYRO_Z_LPF", "ACC_LPF"),
    ]
)


def estimator_settings(parameters: FirmwareParameters, quirks: Quirks = REPAIRED) -> EstimatorSettings:
    """Kernel settings from parameters and quirks."""
    return EstimatorSettings(
        kp_accel=parameters["FILT_ACC_KP"],
        kp_external=parameters["FILT_EXT_KP"],
        ki=parameters["FILT_KI"],
        init_time=parameters["FILT_INIT_T"] * 1e-3,
        margin=parameters["FILT_ACC_MARGIN"],
        use_accel=bool(parameters["FILT_USE_ACC"]),
        quadratic=bool(parameters["FILT_QUAD_INT"]),
        matrix_exponential=bool(parameters["FILT_MAT_EXP"]),
        gyro_xy_low_pass=parameters["GYRO_XY_LPF"],
        gyro_z_low_pass=parameters["GYRO_Z_LPF"],
        accel_low_pass=parameters["ACC_LPF"],
        correction_by_heading=quirks.correction_depends_on_heading,
        aliased=quirks.aliased_matrix_exponential,
    )


def new_estimator_state() -> NDArray[np.float64]:
    """State array: level, at rest, no bias."""
    state = np.zeros(STATE_SIZE)
    reset_estimator(state)
    return state


def reset_estimator(state: NDArray[np.float64]) -> None:
    """Reset to level, at rest, no bias; the timestamps are kept."""
    state[:LAST_ACCEL] = 0.0
    state[ATTITUDE] = 1.0
    state[ACCEL + 2] = -STANDARD_GRAVITY
    state[EXTERNAL_GIVEN] = 0.0


def give_external_attitude(state: NDArray[np.float64], quaternion_wxyz: Sequence[float]) -> None:
    """Store an external attitude (body to inertial), normalised, for the next step.

    Raises:
        ValueError: not finite, or zero.
    """
    quaternion = np.array(quaternion_wxyz, dtype=np.float64)
    norm = float(np.linalg.norm(quaternion))
    if quaternion.shape != (4,) or not math.isfinite(norm) or norm < 1e-6:
        raise ValueError(f"{quaternion_wxyz} is not a rotation")
    state[EXTERNAL : EXTERNAL + 4] = quaternion / norm
    state[EXTERNAL_GIVEN] = 1.0


@kernel
def estimator_step(
    settings: EstimatorSettings,
    state: NDArray[np.float64],
    accel: NDArray[np.float64],
    gyro: NDArray[np.float64],
    time_s: float,
    dt: float,
) -> None:
    """Process one IMU sample: low-pass, correct, integrate.

    Args:
        settings: as `estimator_settings` makes them.
        state: (STATE_SIZE,), updated in place.
        accel: (3,) specific force, body axes (m/s^2).
        gyro: (3,) angular rate, body axes (rad/s).
        time_s: time since the controller started (s).
        dt: time since the previous sample (s).
    """
    if state[INITIALIZED] == 0.0:
        state[LAST_ACCEL] = time_s
        state[LAST_EXTERNAL] = time_s
        state[INITIALIZED] = 1.0
        return
    _low_pass(settings, state, accel, gyro)

    kp = 0.0
    ki = settings.ki
    ex, ey, ez = 0.0, 0.0, 0.0
    if settings.use_accel and _near_one_g(state, settings.margin):
        if settings.correction_by_heading:
            ex, ey, ez = accel_correction_by_heading(state)
        else:
            ex, ey, ez = accel_correction(state)
        kp = settings.kp_accel
        state[LAST_ACCEL] = time_s
    if state[EXTERNAL_GIVEN] != 0.0:
        # External attitudes arrive less often than IMU samples: this one covers the time since the last.
        ex, ey, ez = external_correction(state)
        scale = (time_s - state[LAST_EXTERNAL]) / dt if dt > 0.0 else 0.0
        ex, ey, ez = ex * scale, ey * scale, ez * scale
        kp = settings.kp_external
        state[LAST_EXTERNAL] = time_s
        state[EXTERNAL_GIVEN] = 0.0
    if time_s < settings.init_time:
        kp = settings.kp_accel * 10.0
        ki = settings.ki * 10.0

    # Eq. 47b.
    state[BIAS] -= ki * ex * dt
    state[BIAS + 1] -= ki * ey * dt
    state[BIAS + 2] -= ki * ez * dt
    p, q, r = _interpolated_rate(settings, state)
    # The argument of eq. 47a.
    p += kp * ex - state[BIAS]
    q += kp * ey - state[BIAS + 1]
    r += kp * ez - state[BIAS + 2]
    if settings.matrix_exponential and settings.aliased:
        integrate_rate_aliased(state, p, q, r, dt)
    else:
        integrate_rate(state, p, q, r, dt, settings.matrix_exponential)
    _euler_angles(state)
    for i in range(3):
        state[RATE + i] = state[GYRO + i] - state[BIAS + i]


@kernel
def _low_pass(
    settings: EstimatorSettings,
    state: NDArray[np.float64],
    accel: NDArray[np.float64],
    gyro: NDArray[np.float64],
) -> None:
    a = settings.accel_low_pass
    for i in range(3):
        g = settings.gyro_z_low_pass if i == 2 else settings.gyro_xy_low_pass
        state[ACCEL + i] = (1.0 - a) * accel[i] + a * state[ACCEL + i]
        state[GYRO + i] = (1.0 - g) * gyro[i] + g * state[GYRO + i]


@kernel
def _near_one_g(state: NDArray[np.float64], margin: float) -> bool:
    x, y, z = state[ACCEL], state[ACCEL + 1], state[ACCEL + 2]
    square = (x * x + y * y + z * z) / (STANDARD_GRAVITY * STANDARD_GRAVITY)
    lower = (1.0 - margin) * (1.0 - margin)
    upper = (1.0 + margin) * (1.0 + margin)
    return bool(lower < square < upper)


@kernel
def accel_correction(state: NDArray[np.float64]) -> tuple[float, float, float]:
    """Rate (rad/s for a unit gain) that turns the estimated vertical towards the measured one.

    The cross product of the measured and the estimated direction of the specific force at rest, both in body axes
    (Mahony et al., eq. 45 and the explicit filter of section V). It does not depend on heading.
    """
    x, y, z = state[ACCEL], state[ACCEL + 1], state[ACCEL + 2]
    norm = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / norm, y / norm, z / norm
    qw, qx, qy, qz = state[ATTITUDE], state[ATTITUDE + 1], state[ATTITUDE + 2], state[ATTITUDE + 3]
    # Up (0, 0, -1) of the inertial frame, in body axes.
    ux = -2.0 * (qx * qz - qw * qy)
    uy = -2.0 * (qy * qz + qw * qx)
    uz = -(1.0 - 2.0 * (qx * qx + qy * qy))
    return y * uz - z * uy, z * ux - x * uz, x * uy - y * ux


@kernel
def accel_correction_by_heading(state: NDArray[np.float64]) -> tuple[float, float, float]:
    """Accelerometer correction as in rosflight_firmware: it depends on heading, and is zero about z.

    The error quaternion is the rotation between the estimate and the shortest rotation from the measured to the true
    vertical, which has heading zero; the correction is -2 w (x, y) of that quaternion (Estimator::accel_correction).
    Zero upside down, where the shortest rotation is undefined.
    """
    x, y, z = state[ACCEL], state[ACCEL + 1], state[ACCEL + 2]
    norm = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / norm, y / norm, z / norm
    # Twice the square of the cosine of half the angle between (0, 0, -1) and the measured direction.
    cosine = 1.0 - z
    if cosine <= 0.0:
        return 0.0, 0.0, 0.0
    aw = math.sqrt(0.5 * cosine)
    ax, ay = 0.5 * y / aw, -0.5 * x / aw
    qw, qx, qy, qz = state[ATTITUDE], state[ATTITUDE + 1], state[ATTITUDE + 2], state[ATTITUDE + 3]
    ew = aw * qw - ax * qx - ay * qy
    ex = aw * qx + ax * qw - ay * qz
    ey = aw * qy + ax * qz + ay * qw
    return -2.0 * ew * ex, -2.0 * ew * ey, 0.0


@kernel
def external_correction(state: NDArray[np.float64]) -> tuple[float, float, float]:
    """Rate (rad/s for a unit gain) that turns the estimate towards the external attitude.

    The sum of the cross products of the inertial axes, in body axes, by the external attitude and by the estimate.
    """
    ax, ay, az = 0.0, 0.0, 0.0
    for i in range(3):
        ex, ey, ez = _inertial_axis(state, EXTERNAL, i)
        hx, hy, hz = _inertial_axis(state, ATTITUDE, i)
        ax += ey * hz - ez * hy
        ay += ez * hx - ex * hz
        az += ex * hy - ey * hx
    return ax, ay, az


@kernel
def _inertial_axis(state: NDArray[np.float64], at: int, axis: int) -> tuple[float, float, float]:
    """Row `axis` of the rotation matrix of the quaternion at `at`: that inertial axis in body axes."""
    w, x, y, z = state[at], state[at + 1], state[at + 2], state[at + 3]
    if axis == 0:
        return 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    if axis == 1:
        return 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    return 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


@kernel
def _interpolated_rate(settings: EstimatorSettings, state: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean rate over the step from the parabola through three samples (Casey, eq. 14), or the last sample."""
    p, q, r = state[GYRO], state[GYRO + 1], state[GYRO + 2]
    if not settings.quadratic:
        return p, q, r
    mean_p = (5.0 * p + 8.0 * state[GYRO_1] - state[GYRO_2]) / 12.0
    mean_q = (5.0 * q + 8.0 * state[GYRO_1 + 1] - state[GYRO_2 + 1]) / 12.0
    mean_r = (5.0 * r + 8.0 * state[GYRO_1 + 2] - state[GYRO_2 + 2]) / 12.0
    for i in range(3):
        state[GYRO_2 + i] = state[GYRO_1 + i]
        state[GYRO_1 + i] = state[GYRO + i]
    return mean_p, mean_q, mean_r


@kernel
def integrate_rate(
    state: NDArray[np.float64], p: float, q: float, r: float, dt: float, matrix_exponential: bool
) -> None:
    """Turn the attitude by a constant body rate: exactly (Casey, eq. 12) or by Euler's rule; unit, w >= 0."""
    rate = math.sqrt(p * p + q * q + r * r)
    if rate == 0.0:
        return
    cosine, sine = 1.0, 0.5 * dt
    if matrix_exponential:
        cosine, sine = math.cos(0.5 * rate * dt), math.sin(0.5 * rate * dt) / rate
    qw, qx, qy, qz = state[ATTITUDE], state[ATTITUDE + 1], state[ATTITUDE + 2], state[ATTITUDE + 3]
    w = cosine * qw + sine * (-p * qx - q * qy - r * qz)
    x = cosine * qx + sine * (p * qw + r * qy - q * qz)
    y = cosine * qy + sine * (q * qw - r * qx + p * qz)
    z = cosine * qz + sine * (r * qw + q * qx - p * qy)
    _store_attitude(state, w, x, y, z)


@kernel
def integrate_rate_aliased(state: NDArray[np.float64], p: float, q: float, r: float, dt: float) -> None:
    """Matrix exponential as in rosflight_firmware: each element is computed from those already overwritten."""
    rate = math.sqrt(p * p + q * q + r * r)
    if rate == 0.0:
        return
    cosine, sine = math.cos(0.5 * rate * dt), math.sin(0.5 * rate * dt) / rate
    w, x, y, z = state[ATTITUDE], state[ATTITUDE + 1], state[ATTITUDE + 2], state[ATTITUDE + 3]
    w = cosine * w + sine * (-p * x - q * y - r * z)
    x = cosine * x + sine * (p * w + r * y - q * z)
    y = cosine * y + sine * (q * w - r * x + p * z)
    z = cosine * z + sine * (r * w + q * x - p * y)
    _store_attitude(state, w, x, y, z)


@kernel
def _store_attitude(state: NDArray[np.float64], w: float, x: float, y: float, z: float) -> None:
    """Store the quaternion with unit length and w >= 0."""
    scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        scale = -scale
    state[ATTITUDE] = w * scale
    state[ATTITUDE + 1] = x * scale
    state[ATTITUDE + 2] = y * scale
    state[ATTITUDE + 3] = z * scale


@kernel
def _euler_angles(state: NDArray[np.float64]) -> None:
    state[EULER], state[EULER + 1], state[EULER + 2] = euler_from_quaternion(
        state[ATTITUDE], state[ATTITUDE + 1], state[ATTITUDE + 2], state[ATTITUDE + 3]
    )
