"""Output-error estimation of a vehicle's parameters with multiple shooting.

The package's own model (`vehicle_model.py`) flies the logged outputs from the state at the start of each stretch
(`shooting.py`). The parameters minimise the weighted squares of the differences between the log's gyro, accelerometer
and velocity and those of the model (Jategaonkar, Flight Vehicle System Identification, 2nd ed., chapter 4; Klein and
Morelli, Aircraft System Identification, chapter 6):

    J = sum rho(((z - y(theta, x_0)) / s)^2) / 2 + priors

Unknown besides the vehicle's parameters are, for each log, the steady wind and the errors of the IMU, a bias and a
matrix of scale factors and cross-axis sensitivities, with z = b + (1 + M) y; and for each stretch, velocity, attitude
and rates at its start. The errors of the IMU and the attitude have a prior: without one, an error of the
accelerometer's scale could not be told from one of the thrust. The loss rho is Huber's, so that single outliers have
little weight.

`search.py` finds the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.identification.shooting import Shots, rotations
from rosflight_py_sim.identification.vehicle_model import VehicleModel

LOCALS = 12
"""Unknowns of a stretch: velocity (m/s), attitude (rotation vector, rad) and rates (rad/s) at its start, body axes, and
the difference of its wind to the log's mean wind (NED, m/s)."""

GUST = slice(9, 12)
"""Place of the wind's difference among them."""

_LOCAL_STEPS = np.array([1e-3] * 3 + [1e-4] * 3 + [1e-3] * 3 + [1e-2] * 3)

# Velocity and rates are free. The attitude is that of the kinematics, to some degrees; its heading where the flight
# shows none is the log's, which drifts without a magnetometer. The wind changes by gusts of light turbulence.
LOCAL_DEVIATIONS = np.array([1e3] * 3 + [0.35, 0.35, 1.0] + [1e3] * 3 + [0.7] * 3)

WIND, GYRO_BIAS, ACCEL_BIAS, GYRO_MATRIX, ACCEL_MATRIX = (
    slice(0, 2),
    slice(2, 5),
    slice(5, 8),
    slice(8, 17),
    slice(17, 26),
)
OF_LOG = 26
"""Unknowns of a log: steady wind north and east, biases, and matrices of the IMU's errors."""

# Deviations of the errors of a small MEMS unit from its data sheet (InvenSense, MPU-6000 product specification,
# revision 3.4: scale factors within 3 %, cross-axis sensitivity 2 %, taken as uniform) and half a degree of
# misalignment; biases of a unit that was calibrated on the ground; wind of 15 m/s, so that it is defined where no drag
# shows it.
_SCALE, _CROSS = 0.03 / math.sqrt(3.0), math.hypot(0.02 / math.sqrt(3.0), 0.008)
_MATRIX = np.where(np.eye(3, dtype=bool), _SCALE, _CROSS).ravel()
PRIOR = np.concatenate([[15.0] * 2, [0.05] * 3, [0.4] * 3, _MATRIX, _MATRIX])

READINGS = ("gyro x", "gyro y", "gyro z", "accel x", "accel y", "accel z", "velocity n", "velocity e", "velocity d")
"""Names of the compared readings, three of each channel."""

TYPICAL_DEVIATIONS = np.array([0.01] * 3 + [0.15] * 3 + [0.05] * 3)
"""Deviations of the readings that a good model leaves, by READINGS: vibration, noise and gusts."""

_RELATIVE_STEP = 1e-4


@dataclass(frozen=True)
class Mounting:
    """Where the sensors sit and what they measure besides the motion.

    Attributes:
        imu: position of the IMU from the centre of mass, body axes, m (3,).
        antenna: position of the GNSS antenna, likewise.
        gravity: m/s^2.
    """

    imu: Array
    antenna: Array
    gravity: float


ModelOf = Callable[[Array], VehicleModel]
"""Vehicle for changes (n,) of the fitted parameters over their sizes."""


class Residuals:
    """Differences between log and model for all stretches, as a function of all unknowns.

    Attributes:
        shots: the stretches.
        parameters: number of fitted parameters.
        deviations: of the readings, in the order of READINGS (9,).
        of: number of the stretch of each residual (m,).
        reading: number of the reading of each residual, in the order of READINGS (m,).
    """

    def __init__(self, shots: Shots, model_of: ModelOf, parameters: int, mounting: Mounting, resistance: float) -> None:
        """Prepare the residuals of a vehicle with so many fitted parameters.

        `resistance` is the battery's internal resistance, ohm, by which the open-circuit voltage follows from the log.
        """
        self.shots, self._model_of, self.parameters, self._mounting = shots, model_of, parameters, mounting
        self.deviations = TYPICAL_DEVIATIONS.copy()
        self._voltages = shots.voltage + resistance * np.nan_to_num(shots.current)
        count, blocks = len(shots), shots.steps // shots.block
        of_imu = np.repeat(np.arange(count), blocks)
        self.of = np.concatenate([np.repeat(of_imu, 6), np.repeat(shots.velocity_of, 3)])
        imu = np.tile(np.arange(6), len(of_imu))
        self.reading = np.concatenate([imu, np.tile(np.arange(6, 9), len(shots.velocity_of))])
        self._row = shots.velocity_of * shots.steps + np.floor(shots.velocity_step).astype(np.int64)
        self._next_row = np.minimum(self._row + 1, count * shots.steps - 1)
        self._share = (shots.velocity_step - np.floor(shots.velocity_step))[:, None]
        self._log_of_block = shots.log[of_imu]
        self._measured = np.concatenate([shots.gyro.reshape(-1, 3), shots.accel.reshape(-1, 3)], axis=1)
        self.rows = [np.flatnonzero(self.of == number) for number in range(count)]

    @property
    def logs(self) -> int:
        """Number of logs."""
        return int(self.shots.log.max()) + 1

    @property
    def flown_columns(self) -> int:
        """Unknowns by which the derivatives need a flight, besides those of the stretches."""
        return self.parameters + 2 * self.logs

    @property
    def unknowns(self) -> int:
        """Number of unknowns besides those of the stretches: parameters, and OF_LOG for each log."""
        return self.parameters + OF_LOG * self.logs

    def of_log(self, theta: Array) -> Array:
        """Unknowns of each log (logs, OF_LOG)."""
        return theta[self.parameters :].reshape(-1, OF_LOG)

    def states(self, theta: Array, local: Array) -> Array:
        """States of all stretches (k * steps, 19), for unknowns (n,) and (k, LOCALS)."""
        shots = self.shots
        starts = moved(shots.starts, local)
        winds = local[:, GUST].copy()
        winds[:, :2] += self.of_log(theta)[shots.log, WIND]
        model = self._model_of(theta[: self.parameters])
        states = model.fly(shots.pulses_us, starts, shots.warm_up, shots.steps, shots.step_s, winds, self._voltages)
        whole = states.reshape(len(shots), -1, states.shape[1])
        return np.ascontiguousarray(whole[:, shots.warm_up :]).reshape(-1, states.shape[1])

    def readings(self, states: Array) -> tuple[Array, Array]:
        """Readings of perfect sensors: of the IMU (blocks, 6) and velocities (m, 3)."""
        w, x, y, z = states[:, 3:7].T
        p, q, r = states[:, 10:13].T
        # a_imu = a + w' x arm + w x (w x arm), less gravity.
        arm_x, arm_y, arm_z = self._mounting.imu.tolist()
        gravity, outward = self._mounting.gravity, p * arm_x + q * arm_y + r * arm_z
        square = p * p + q * q + r * r
        turn_p, turn_q, turn_r = states[:, 16:19].T
        imu = np.empty((len(states), 6))
        imu[:, :3] = states[:, 10:13]
        imu[:, 3] = p * outward - square * arm_x + turn_q * arm_z - turn_r * arm_y - 2.0 * gravity * (x * z - w * y)
        imu[:, 4] = q * outward - square * arm_y + turn_r * arm_x - turn_p * arm_z - 2.0 * gravity * (y * z + w * x)
        imu[:, 5] = r * outward - square * arm_z + turn_p * arm_y - turn_q * arm_x
        imu[:, 5] -= gravity * (1.0 - 2.0 * (x * x + y * y))
        imu[:, 3:] += states[:, 13:16]
        means: Array = np.add.reduceat(imu, np.arange(0, len(imu), self.shots.block)) / self.shots.block
        here, after = self._velocity(states[self._row]), self._velocity(states[self._next_row])
        return means, here + self._share * (after - here)

    def _velocity(self, states: Array) -> Array:
        """Velocity of the GNSS antenna, NED (m, 3)."""
        body = states[:, 7:10] + np.cross(states[:, 10:13], self._mounting.antenna)
        return np.asarray(np.einsum("kij,kj->ki", rotations(states[:, 3:7]), body))

    def residuals(self, theta: Array, local: Array) -> Array:
        """Differences over their deviations (m,)."""
        return self._residuals(theta, self.readings(self.states(theta, local)))

    def modelled(self, theta: Array, local: Array) -> tuple[Array, Array]:
        """Readings with the errors of the IMU: of the IMU (blocks, 6) and velocities (m, 3)."""
        imu, velocity = self.readings(self.states(theta, local))
        return self._erring(theta, imu), velocity

    def _residuals(self, theta: Array, readings: tuple[Array, Array]) -> Array:
        imu, velocity = readings
        left_imu = self._measured - self._erring(theta, imu)
        left_velocity = self.shots.velocity - velocity
        scaled = left_imu / self.deviations[:6], left_velocity / self.deviations[6:]
        return np.concatenate([scaled[0].ravel(), scaled[1].ravel()])

    def _erring(self, theta: Array, imu: Array) -> Array:
        """Readings of the IMU with its errors."""
        errors = self.of_log(theta)[self._log_of_block]
        gyro = imu[:, :3] + np.einsum("kij,kj->ki", errors[:, GYRO_MATRIX].reshape(-1, 3, 3), imu[:, :3])
        accel = imu[:, 3:] + np.einsum("kij,kj->ki", errors[:, ACCEL_MATRIX].reshape(-1, 3, 3), imu[:, 3:])
        return np.concatenate([gyro + errors[:, GYRO_BIAS], accel + errors[:, ACCEL_BIAS]], axis=1)

    def jacobian(self, theta: Array, local: Array, *, locally: bool = False) -> tuple[Array, Array]:
        """Derivatives of the residuals by the unknowns (m, n) and by those of the stretches (m, LOCALS).

        With `locally`, the former are zero.
        """
        base = self.readings(self.states(theta, local))
        first = self._residuals(theta, base)
        of_local = np.empty((len(first), LOCALS))
        for column, step in enumerate(_LOCAL_STEPS):
            other = local.copy()
            other[:, column] += step
            of_local[:, column] = (self.residuals(theta, other) - first) / step
        of_all = np.zeros((len(first), self.unknowns))
        if locally:
            return of_all, of_local
        winds = [self.parameters + OF_LOG * log + axis for log in range(self.logs) for axis in range(2)]
        for column in (*range(self.parameters), *winds):
            step = _RELATIVE_STEP if column < self.parameters else 1e-2
            other = theta.copy()
            other[column] += step
            of_all[:, column] = (self.residuals(other, local) - first) / step
        self._add_errors(of_all, base[0])
        return of_all, of_local

    def _add_errors(self, of_all: Array, imu: Array) -> None:
        """Derivatives by the errors of the IMU, which enter linearly."""
        blocks = len(imu)
        table = of_all[: blocks * 6].reshape(blocks, 6, -1)
        for log in range(self.logs):
            own = self._log_of_block == log
            first = self.parameters + OF_LOG * log
            for axis in range(3):
                for channel, bias, matrix in ((0, GYRO_BIAS, GYRO_MATRIX), (3, ACCEL_BIAS, ACCEL_MATRIX)):
                    row = channel + axis
                    table[own, row, first + bias.start + axis] = -1.0 / self.deviations[row]
                    place = first + matrix.start + 3 * axis
                    table[own, row, place : place + 3] = -imu[own, channel : channel + 3] / self.deviations[row]


def moved(starts: Array, local: Array) -> Array:
    """States (k, 19) moved by LOCALS unknowns each (k, LOCALS)."""
    states = starts.copy()
    states[:, 7:10] += local[:, 0:3]
    states[:, 10:13] += local[:, 6:9]
    angle = np.linalg.norm(local[:, 3:6], axis=1)
    half = 0.5 * angle
    # sin(x / 2) / x, also at 0.
    share = 0.5 * np.sinc(half / np.pi)[:, None]
    turn = np.concatenate([np.cos(half)[:, None], share * local[:, 3:6]], axis=1)
    w, x, y, z = states[:, 3:7].T
    a, b, c, d = turn.T
    product = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    states[:, 3:7] = np.stack(product, axis=1)
    return states
