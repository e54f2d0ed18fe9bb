"""Output-error estimation of a vehicle's parameters with multiple shooting.

The package's own model (`vehicle_model.py`) flies the logged outputs from the state at the start of each stretch
(`shooting.py`). The parameters minimise the weighted squares of the differences between the log's gyro, accelerometer,
velocity and airspeed and those of the model (Jategaonkar, Flight Vehicle System Identification, 2nd ed., chapter 4;
Klein and Morelli, Aircraft System Identification, chapter 6):

    J = sum rho(((z - y(theta, x_0)) / s)^2) / 2 + priors

Unknown besides the vehicle's parameters are, for each log, the steady wind and the errors of the IMU, a bias that
drifts and a matrix of scale factors and cross-axis sensitivities, with z = b(t) + (1 + M) y, and those of the pitot
tube, with z = (1 + k) y + b / y; and for each stretch, velocity, attitude and rates at its start. The errors of the IMU
and the attitude have a prior: without one, an error of the accelerometer's scale could not be told from one of the
thrust. The loss rho is Huber's, so that single outliers have little weight.

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

LOCALS = 15
"""Unknowns of a stretch: velocity (m/s), attitude (rotation vector, rad) and rates (rad/s) at its start, body axes, the
difference of its mean wind to the log's mean wind, and the change of its wind from begin to end (NED, m/s)."""

RATES, GUST, CHANGE = slice(6, 9), slice(9, 12), slice(12, 15)
"""Places of the rates, and of the wind's difference and change, among them. Prescribed rates
are wrong by the former during the whole stretch."""

_LOCAL_STEPS = np.array([1e-3] * 3 + [1e-4] * 3 + [1e-3] * 3 + [1e-2] * 6)

# Velocity and rates are free. The attitude is that of the kinematics, to some degrees; its heading where the flight
# shows none is the log's, which drifts without a magnetometer. The wind changes by gusts of light turbulence.
LOCAL_DEVIATIONS = np.array([1e3] * 3 + [0.35, 0.35, 1.0] + [1e3] * 3 + [0.7] * 3 + [0.3] * 3)

LOGGED_RATES = 0.02
"""Deviation of the error of prescribed rates in a stretch, rad/s: a bias of the gyro."""

WIND, GYRO_BIAS, ACCEL_BIAS, GYRO_MATRIX, ACCEL_MATRIX = (
    slice(0, 2),
    slice(2, 5),
    slice(5, 8),
    slice(8, 17),
    slice(17, 26),
)
PITOT = slice(26, 28)
GYRO_DRIFT, ACCEL_DRIFT = slice(28, 34), slice(34, 40)
OF_LOG = 40
"""Unknowns of a log: steady wind north and east, biases and matrices of the IMU's errors, the errors of the pitot tube,
a share of the airspeed and a pressure over the air's density (m^2/s^2), and the drifts of the biases: for each axis the
coefficients of the Legendre polynomials of first and second degree in time, from begin (-1) to end (1) of the log."""

# Deviations of the errors of a small MEMS unit from its data sheet (InvenSense, MPU-6000 product specification,
# revision 3.4: scale factors within 3 %, cross-axis sensitivity 2 %, taken as uniform) and half a degree of
# misalignment; biases of a unit that was calibrated on the ground; wind of 15 m/s, so that it is defined where no drag
# shows it.
_SCALE, _CROSS = 0.03 / math.sqrt(3.0), math.hypot(0.02 / math.sqrt(3.0), 0.008)
_MATRIX = np.where(np.eye(3, dtype=bool), _SCALE, _CROSS).ravel()
# Biases that change with the temperature of a unit that warms up by 12 K in the log (the same data sheet: 35 mg over 70
# K, 20 deg/s over 125 K, taken as uniform), mostly in proportion to time. Without them, the accelerometer's drift looks
# like a drag that differs from leg to leg.
_GYRO_DRIFT, _ACCEL_DRIFT = 12.0 * 0.0028 / math.sqrt(3.0), 12.0 * 0.0049 / math.sqrt(3.0)
_DEGREES = np.array([1.0, 0.5])
# Static pressure of an aircraft within 3 % of the airspeed (14 CFR 23.1323(b), until 2017), taken as uniform; 5 Pa.
_PITOT = (0.03 / math.sqrt(3.0), 4.0)
_DRIFTS = np.concatenate([np.tile(size * _DEGREES, 3) for size in (_GYRO_DRIFT, _ACCEL_DRIFT)])
PRIOR = np.concatenate([[15.0] * 2, [0.05] * 3, [0.4] * 3, _MATRIX, _MATRIX, _PITOT, _DRIFTS])

READINGS = (
    *("gyro x", "gyro y", "gyro z", "accel x", "accel y", "accel z"),
    *("velocity n", "velocity e", "velocity d", "airspeed"),
)
"""Names of the compared readings."""

TYPICAL_DEVIATIONS = np.array([0.01] * 3 + [0.15] * 3 + [0.05] * 3 + [0.3])
"""Deviations of the readings that a good model leaves, by READINGS: vibration, noise and gusts."""

_RELATIVE_STEP = 1e-4

_LEAST_AIRSPEED = 3.0
"""Airspeed below which a pressure shows none, m/s."""


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
        deviations: of the readings, in the order of READINGS (10,).
        noise: those of each stretch over `deviations` (k, 10): an airframe vibrates more at some speeds of its rotors.
        of: number of the stretch of each residual (m,).
        reading: number of the reading of each residual, in the order of READINGS (m,).
        known: whether a residual is that of a reading that was logged (m,); others are 0.
        local_deviations: deviations of the unknowns of a stretch (LOCALS,).
    """

    def __init__(
        self,
        shots: Shots,
        model_of: ModelOf,
        parameters: int,
        mounting: Mounting,
        resistance: float,
        latency_of: Callable[[Array], float],
    ) -> None:
        """Prepare the residuals of a vehicle with so many fitted parameters.

        `resistance` is the battery's internal resistance, ohm, by which the open-circuit voltage follows from the log.
        `latency_of` gives the age of the IMU's readings at their stamps, s, for changes of the fitted parameters.
        """
        self._latency_of = latency_of
        self.shots, self._model_of, self.parameters, self._mounting = shots, model_of, parameters, mounting
        self.deviations, self.noise = TYPICAL_DEVIATIONS.copy(), np.ones((len(shots), len(READINGS)))
        self.local_deviations = LOCAL_DEVIATIONS.copy()
        if shots.rates is not None:
            self.local_deviations[RATES] = LOGGED_RATES
        self._voltages = shots.voltage + resistance * np.nan_to_num(shots.current)
        count, blocks = len(shots), shots.steps // shots.block
        of_imu = np.repeat(np.arange(count), blocks)
        self.of = np.concatenate([np.repeat(of_imu, 6), np.repeat(shots.velocity_of, 4)])
        imu = np.tile(np.arange(6), len(of_imu))
        self.reading = np.concatenate([imu, np.tile(np.arange(6, 10), len(shots.velocity_of))])
        self._log_of_block = shots.log[of_imu]
        place = shots.place[of_imu]
        self._drifting = np.stack([place, 1.5 * place * place - 0.5], axis=1)
        self._log_of_velocity = shots.log[shots.velocity_of]
        self._measured = shots.measured
        self.known = np.isfinite(np.concatenate([one.ravel() for one in self._measured]))
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
        delay = self._delay(theta)
        pulses_us = delayed(shots.pulses_us.reshape(len(shots), -1, shots.pulses_us.shape[1]), delay)
        starts, changes = moved(shots.starts, local), local[:, CHANGE]
        winds = self._winds(theta, local) - 0.5 * changes
        model = self._model_of(theta[: self.parameters])
        states = model.fly(
            pulses_us.reshape(-1, pulses_us.shape[2]),
            starts,
            shots.warm_up,
            shots.steps,
            shots.step_s,
            winds,
            changes / shots.steps,
            self._voltages,
            None
            if shots.rates is None
            else shots.rates + np.repeat(local[:, RATES], shots.warm_up + shots.steps, axis=0),
        )
        whole = states.reshape(len(shots), -1, states.shape[1])
        return np.ascontiguousarray(whole[:, shots.warm_up :]).reshape(-1, states.shape[1])

    def _winds(self, theta: Array, local: Array) -> Array:
        """Mean wind of each stretch, NED (k, 3)."""
        winds = local[:, GUST].copy()
        winds[:, :2] += self.of_log(theta)[self.shots.log, WIND]
        return winds

    def readings(self, theta: Array, local: Array) -> tuple[Array, Array]:
        """Readings of perfect sensors: of the IMU (blocks, 6), and velocities NED with the airspeed (m, 4)."""
        states = self.states(theta, local)
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
        # In the time of the model, which is that of the IMU's stamps, all that is not late comes later by the latency.
        of, step = self.shots.velocity_of, self.shots.velocity_step + self._delay(theta)
        row = np.minimum(np.floor(step).astype(np.int64), self.shots.steps - 2)
        winds = self._winds(theta, local)[of] + (step / self.shots.steps - 0.5)[:, None] * local[of, CHANGE]
        first = of * self.shots.steps + row
        here, after = (self._speeds(states[rows], winds) for rows in (first, first + 1))
        return means, here + (step - row)[:, None] * (after - here)

    def _delay(self, theta: Array) -> float:
        """Latency of the IMU in steps of the model."""
        return self._latency_of(theta[: self.parameters]) / self.shots.step_s

    def _speeds(self, states: Array, winds: Array) -> Array:
        """Velocity of the GNSS antenna, NED, and airspeed (m, 4)."""
        turned = rotations(states[:, 3:7])
        arm = np.cross(states[:, 10:13], self._mounting.antenna)
        velocity, of_antenna = (np.einsum("kij,kj->ki", turned, one) for one in (states[:, 7:10], arm))
        return np.column_stack([velocity + of_antenna, np.linalg.norm(velocity - winds, axis=1)])

    def residuals(self, theta: Array, local: Array) -> Array:
        """Differences over their deviations (m,)."""
        return self._residuals(theta, self.readings(theta, local))

    def modelled(self, theta: Array, local: Array) -> tuple[Array, Array]:
        """Readings with the errors of the sensors: of the IMU (blocks, 6), and velocities with the airspeed (m, 4)."""
        return self._erring(theta, self.readings(theta, local))

    def _residuals(self, theta: Array, readings: tuple[Array, Array]) -> Array:
        left = [one - other for one, other in zip(self._measured, self._erring(theta, readings), strict=True)]
        return np.where(self.known, np.concatenate([left[0].ravel(), left[1].ravel()]) / self.sizes, 0.0)

    @property
    def sizes(self) -> Array:
        """Deviation of each residual (m,)."""
        return self.deviations[self.reading] * self.noise[self.of, self.reading]

    def _erring(self, theta: Array, readings: tuple[Array, Array]) -> tuple[Array, Array]:
        """Readings with the errors of the sensors."""
        imu, speeds = readings
        errors = self.of_log(theta)[self._log_of_block]
        gyro = imu[:, :3] + np.einsum("kij,kj->ki", errors[:, GYRO_MATRIX].reshape(-1, 3, 3), imu[:, :3])
        accel = imu[:, 3:] + np.einsum("kij,kj->ki", errors[:, ACCEL_MATRIX].reshape(-1, 3, 3), imu[:, 3:])
        share, pressure = self.of_log(theta)[self._log_of_velocity, PITOT].T
        airspeed = speeds[:, 3]
        read = airspeed * (1.0 + share) + pressure / np.maximum(airspeed, _LEAST_AIRSPEED)
        drifts = np.einsum("kijd,kd->kij", errors[:, GYRO_DRIFT.start :].reshape(-1, 2, 3, 2), self._drifting)
        gyro += errors[:, GYRO_BIAS] + drifts[:, 0]
        accel += errors[:, ACCEL_BIAS] + drifts[:, 1]
        return np.concatenate([gyro, accel], axis=1), np.column_stack([speeds[:, :3], read])

    def jacobian(self, theta: Array, local: Array, *, locally: bool = False) -> tuple[Array, Array]:
        """Derivatives of the residuals by the unknowns (m, n) and by those of the stretches (m, LOCALS).

        With `locally`, the former are zero.
        """
        base = self.readings(theta, local)
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
        self._add_errors(of_all, *base)
        of_all[~self.known] = 0.0
        return of_all, of_local

    def _add_errors(self, of_all: Array, imu: Array, speeds: Array) -> None:
        """Derivatives by the errors of the sensors, which enter linearly."""
        blocks = len(imu)
        table, sizes = of_all[: blocks * 6].reshape(blocks, 6, -1), self.sizes
        of_imu = sizes[: blocks * 6].reshape(blocks, 6)
        for log in range(self.logs):
            own = self._log_of_block == log
            first = self.parameters + OF_LOG * log
            for axis in range(3):
                for channel, bias, matrix, drift in (
                    (0, GYRO_BIAS, GYRO_MATRIX, GYRO_DRIFT),
                    (3, ACCEL_BIAS, ACCEL_MATRIX, ACCEL_DRIFT),
                ):
                    row = channel + axis
                    size = of_imu[own, row, None]
                    table[own, row, first + bias.start + axis] = -1.0 / size[:, 0]
                    place = first + matrix.start + 3 * axis
                    table[own, row, place : place + 3] = -imu[own, channel : channel + 3] / size
                    place = first + drift.start + 2 * axis
                    table[own, row, place : place + 2] = -self._drifting[own] / size
            rows = np.flatnonzero((self._log_of_velocity == log) & np.isfinite(self._measured[1][:, 3]))
            places, airspeed = blocks * 6 + 4 * rows + 3, speeds[rows, 3]
            pitot = np.column_stack([airspeed, 1.0 / np.maximum(airspeed, _LEAST_AIRSPEED)])
            of_all[places, first + PITOT.start : first + PITOT.stop] = -pitot / sizes[places, None]


def delayed(values: Array, steps: float) -> Array:
    """Values (k, n, m) that come later by some steps, not whole: linear between them, constant before the first."""
    if steps == 0.0:
        return values
    places = np.maximum(np.arange(values.shape[1]) - steps, 0.0)
    first = np.minimum(np.floor(places).astype(np.int64), values.shape[1] - 2)
    share = (places - first)[:, None]
    return np.asarray(values[:, first] * (1.0 - share) + values[:, first + 1] * share)


def errors_of(measured: Array, modelled: Array) -> tuple[Array, Array]:
    """Root mean square of measured minus modelled readings (n, k), and that over the deviation of the measured (k,).

    NaN for a reading that is not logged.
    """
    known = np.isfinite(measured)
    count = np.where(known.any(axis=0), known.sum(axis=0), math.nan)
    mean = np.where(known, measured, 0.0).sum(axis=0) / count
    rms, deviation = (
        np.sqrt(np.where(known, (measured - other) ** 2, 0.0).sum(axis=0) / count) for other in (modelled, mean)
    )
    return rms, rms / np.maximum(deviation, 1e-12)


def moved(starts: Array, local: Array) -> Array:
    """States (k, 19) moved by LOCALS unknowns each (k, LOCALS)."""
    states = starts.copy()
    states[:, 7:10] += local[:, 0:3]
    states[:, 10:13] += local[:, RATES]
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
