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

The search is that of Levenberg and Marquardt with iteratively reweighted squares. The unknowns of a stretch affect only
its own residuals, so that they are eliminated from the normal equations stretch by stretch, which takes time in
proportion to the length of the logs; a solver that takes the problem as one dense matrix, as
`scipy.optimize.least_squares` does, takes its third power. The deviations s of the readings follow from the residuals,
and are estimated in turn with the parameters (Jategaonkar, chapter 4; Klein and Morelli, section 6.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.identification.shooting import Shots, rotations
from rosflight_py_sim.identification.vehicle_model import VehicleModel
from rosflight_py_sim.physics.dynamics import StateDivergedError

LOCALS = 12
"""Unknowns of a stretch: velocity (m/s), attitude (rotation vector, rad) and rates (rad/s) at its start, body axes, and
the difference of its wind to the log's mean wind (NED, m/s)."""

GUST = slice(9, 12)
"""Place of the wind's difference among them."""

_LOCAL_STEPS = np.array([1e-3] * 3 + [1e-4] * 3 + [1e-3] * 3 + [1e-2] * 3)

# Velocity and rates are free. The attitude is that of the kinematics, to some degrees; its heading where the flight
# shows none is the log's, which drifts without a magnetometer. The wind changes by gusts of light turbulence.
_LOCAL_DEVIATIONS = np.array([1e3] * 3 + [0.35, 0.35, 1.0] + [1e3] * 3 + [0.7] * 3)

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
_PRIOR = np.concatenate([[15.0] * 2, [0.05] * 3, [0.4] * 3, _MATRIX, _MATRIX])

READINGS = ("gyro x", "gyro y", "gyro z", "accel x", "accel y", "accel z", "velocity n", "velocity e", "velocity d")
"""Names of the compared readings, three of each channel."""

TYPICAL_DEVIATIONS = np.array([0.01] * 3 + [0.15] * 3 + [0.05] * 3)
"""Deviations of the readings that a good model leaves, by READINGS: vibration, noise and gusts."""

HUBER = 2.5
"""Residual over its deviation from which on its loss is linear."""

# Velocity: the states of the stretches follow the few measurements of GNSS, so that their residuals look too small.
_LEAST_DEVIATIONS = np.array([1e-4] * 3 + [1e-3] * 3 + [0.03] * 3)

_RELATIVE_STEP = 1e-4

COLOUR = 4.0
"""Standard errors with the usual colour of residuals over those of white ones: vibration, gusts and the model's errors
are slow compared with the readings."""

# Most steps. The last one changes the deviations by less than _LEAST_CHANGE, and each parameter by less than
# _LEAST_SHIFT of its standard error, or the loss, in squared deviations, by less than _LEAST_GAIN. Damping at the
# start.
_STEPS, _LEAST_CHANGE, _LEAST_SHIFT, _LEAST_GAIN, _DAMPING = 40, 0.03, 0.05, 1.0, 1e-7

# Largest change of a parameter over its size in a step: the model is linear only near by.
_LARGEST_CHANGE = 0.2

# Most steps of the stretches by themselves, and the gain from which on the parameters must be fitted again.
_SETTLING_STEPS, _SETTLED_GAIN = 12, 20.0

# Steps after which the stretches settle for the first time.
_EARLY_STEPS = 3


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


@dataclass(frozen=True)
class Estimate:
    """Unknowns that fit the logs best.

    Attributes:
        theta: changes of the parameters over their sizes, and the unknowns of each log (n,).
        local: unknowns of the stretches (k, LOCALS).
        deviations: of the readings, in the order of READINGS (9,).
        residuals: over their deviations (m,).
        information: second derivatives of the loss by theta, the unknowns of the stretches eliminated (n, n).
        prior: information of the priors about theta, the inverse of their variances (n,).
        scores: derivatives of the loss by theta of each stretch (k, n), the unknowns of the stretches eliminated.
        gust_effects: derivatives of these by the gust of each stretch, NED (k, n, 3), 1 / (m/s).
        times_s: start of each stretch in its log (k,), s.
        logs: number of the log of each stretch (k,).
        parameters: number of the parameters among the unknowns.
        flights: number of times that the model has flown all stretches.
        converged: whether the last steps changed nothing that matters.
    """

    theta: Array
    local: Array
    deviations: Array
    residuals: Array
    information: Array
    prior: Array
    scores: Array
    gust_effects: Array
    times_s: Array
    logs: np.typing.NDArray[np.int64]
    parameters: int
    flights: int
    converged: bool

    def part(self, kept: Sequence[int]) -> Estimate:
        """The same with some of the unknowns of theta; the others count as known."""
        places = np.asarray(kept, np.int64)
        return replace(
            self,
            theta=self.theta[places],
            information=self.information[np.ix_(places, places)],
            prior=self.prior[places],
            scores=self.scores[:, places],
            gust_effects=self.gust_effects[:, places],
            parameters=int(np.count_nonzero(places < self.parameters)),
        )


class ResidualSearch:
    """Levenberg-Marquardt steps of all unknowns, those of the stretches eliminated from the normal equations.

    Attributes:
        problem: the residuals.
        theta: changes of the parameters over their sizes, and the unknowns of each log (n,).
        local: unknowns of the stretches (k, LOCALS).
        residuals: over their deviations (m,).
        flights: number of times that the model has flown all stretches.
        shift: greatest change of a parameter in the last step over its standard error.
    """

    def __init__(self, problem: Residuals, theta: Array, local: Array, bounds: tuple[Array, Array]) -> None:
        """Begin at `theta` and `local`, with theta within `bounds` (n,) each.

        Raises:
            StateDivergedError: the model cannot fly from there.
        """
        self.problem, self.theta, self.local, self._bounds = problem, theta.copy(), local.copy(), bounds
        self._prior = np.zeros(problem.unknowns)
        of_logs = np.tile(_PRIOR**-2.0, problem.logs)
        self._prior[problem.unknowns - len(of_logs) :] = of_logs
        self._local_prior = _LOCAL_DEVIATIONS**-2.0
        self._damping = _DAMPING
        self.flights, self.shift = 0, math.inf
        self.residuals = self._residuals(self.theta, self.local)
        if not np.isfinite(self.residuals).all():
            raise StateDivergedError("state", float("nan"))

    def _residuals(self, theta: Array, local: Array) -> Array:
        self.flights += 1
        try:
            return self.problem.residuals(theta, local)
        except (StateDivergedError, ParameterError):
            return np.full(len(self.problem.of), np.inf)

    def cost(self, residuals: Array, theta: Array, local: Array) -> float:
        """Loss and priors."""
        if not np.isfinite(residuals).all():
            return math.inf
        priors = self._prior @ (theta * theta) + np.sum(self._local_prior * local * local)
        return float(np.sum(_huber(residuals)) + 0.5 * priors)

    @property
    def loss(self) -> float:
        """Loss and priors at present."""
        return self.cost(self.residuals, self.theta, self.local)

    def set_deviations(self) -> float:
        """Take the deviations of the readings from the residuals; return their greatest relative change."""
        problem = self.problem
        before = problem.deviations
        found = before * deviations(self.residuals, problem.reading)
        problem.deviations = np.maximum(found, _LEAST_DEVIATIONS)
        factors = problem.deviations / before
        self.residuals = self.residuals / factors[problem.reading]
        return float(np.max(np.abs(factors - 1.0)))

    def settle(self) -> float:
        """Solve for the unknowns of the stretches alone, each by itself; return by how much the cost has fallen.

        A step of all unknowns together fails if a single stretch gets worse, so that a stretch that begins far from its
        solution would never get there.
        """
        problem, damping = self.problem, np.full(len(self.local), _DAMPING)
        costs, first = self._costs(self.residuals, self.local), self.cost(self.residuals, self.theta, self.local)
        for _ in range(_SETTLING_STEPS):
            _, of_local = problem.jacobian(self.theta, self.local, locally=True)
            self.flights += 1 + of_local.shape[1]
            local = self.local + self._local_steps(of_local, damping)
            residuals = self._residuals(self.theta, local)
            if np.isfinite(residuals).all():
                new = self._costs(residuals, local)
                better = new < costs
                gained = float(np.sum((costs - new)[better]))
                self.local = np.where(better[:, None], local, self.local)
                self.residuals = np.where(better[problem.of], residuals, self.residuals)
                costs = np.where(better, new, costs)
            else:
                better, gained = np.zeros(len(damping), bool), math.inf
            damping = np.clip(damping * np.where(better, 0.1, 100.0), _DAMPING, 1e6)
            if gained < _LEAST_GAIN and np.all(better | (damping > 1e2)):
                break
        return first - self.cost(self.residuals, self.theta, self.local)

    def _costs(self, residuals: Array, local: Array) -> Array:
        """Loss and priors of each stretch (k,)."""
        losses = np.bincount(self.problem.of, _huber(residuals), len(local))
        return np.asarray(losses + 0.5 * np.sum(self._local_prior * local * local, axis=1))

    def _local_steps(self, of_local: Array, damping: Array) -> Array:
        weights, steps = _weights(self.residuals), np.zeros_like(self.local)
        for number, rows in enumerate(self.problem.rows):
            weighted = (of_local[rows] * weights[rows, None]).T
            own = weighted @ of_local[rows] + np.diag(self._local_prior)
            own[np.diag_indices_from(own)] *= 1.0 + damping[number]
            slope = weighted @ self.residuals[rows] + self._local_prior * self.local[number]
            steps[number] = -np.linalg.solve(own, slope)
        return steps

    def step(self) -> float:
        """Take a step of all unknowns; return by how much the cost has fallen."""
        problem = self.problem
        of_all, of_local = problem.jacobian(self.theta, self.local)
        self.flights += 1 + of_local.shape[1] + problem.flown_columns
        before = self.cost(self.residuals, self.theta, self.local)
        while self._damping < 1e8:
            theta, local = self._moved(of_all, of_local)
            residuals = self._residuals(theta, local)
            gain = before - self.cost(residuals, theta, local)
            if gain > 0.0:
                self.theta, self.local, self.residuals = theta, local, residuals
                self._damping = max(_DAMPING, self._damping * 0.1)
                return gain
            self._damping *= 10.0
            if np.max(np.abs(theta - self.theta)) < 1e-9:
                break
        self._damping = _DAMPING
        return 0.0

    def _moved(self, of_all: Array, of_local: Array) -> tuple[Array, Array]:
        weights = _weights(self.residuals)
        matrix, slope = np.diag(self._prior * (1.0 + self._damping)), self._prior * self.theta
        eliminated = []
        for number, rows in enumerate(self.problem.rows):
            both = np.concatenate([of_all[rows], of_local[rows], self.residuals[rows, None]], axis=1)
            count = len(self.theta)
            normal = (both * weights[rows, None]).T @ both
            whole, own = normal[:count, :count], normal[count:-1, count:-1] + np.diag(self._local_prior)
            whole[np.diag_indices_from(whole)] *= 1.0 + self._damping
            own[np.diag_indices_from(own)] *= 1.0 + self._damping
            cross = normal[count:-1, :count]
            own_slope = normal[count:-1, -1] + self._local_prior * self.local[number]
            solved = np.linalg.solve(own, np.column_stack([cross, own_slope]))
            matrix += whole - cross.T @ solved[:, :-1]
            slope = slope + normal[:count, -1] - cross.T @ solved[:, -1]
            eliminated.append(solved)
        change = -np.linalg.solve(matrix, slope)
        largest = float(np.max(np.abs(change[: self.problem.parameters]), initial=0.0))
        share = min(1.0, _LARGEST_CHANGE / max(largest, 1e-12))
        change = change * share
        errors = COLOUR * np.sqrt(np.maximum(np.diag(np.linalg.inv(matrix)), 1e-300))
        self.shift = float(np.max((np.abs(change) / errors)[: self.problem.parameters], initial=0.0))
        theta = np.clip(self.theta + change, *self._bounds)
        change = theta - self.theta
        locals_changed = [-(share * solved[:, -1] + solved[:, :-1] @ change) for solved in eliminated]
        return theta, self.local + np.stack(locals_changed)

    def information(self) -> Estimate:
        """What the flights show about the unknowns, before the residuals mean anything: without outliers."""
        self.residuals = np.zeros_like(self.residuals)
        return self.estimate(converged=False)

    def estimate(self, *, converged: bool) -> Estimate:
        """The unknowns as they are, with the information about them."""
        problem = self.problem
        of_all, of_local = problem.jacobian(self.theta, self.local)
        weights = _weights(self.residuals)
        information, effects = np.diag(self._prior), []
        residuals = of_all.copy()
        for rows in problem.rows:
            weighted, weighted_all = ((one[rows] * weights[rows, None]).T for one in (of_local, of_all))
            own = weighted @ of_local[rows] + np.diag(self._local_prior)
            cross = weighted @ of_all[rows]
            solved = np.linalg.solve(own, cross)
            information = information + weighted_all @ of_all[rows] - cross.T @ solved
            residuals[rows] -= of_local[rows] @ solved
            # A gust beyond the one that is estimated, which its prior holds back.
            effects.append(solved.T[:, GUST] * self._local_prior[GUST])
        pulls = residuals * (weights * self.residuals)[:, None]
        return Estimate(
            self.theta,
            self.local,
            problem.deviations.copy(),
            self.residuals,
            information,
            self._prior,
            np.stack([pulls[rows].sum(axis=0) for rows in problem.rows]),
            np.stack(effects),
            problem.shots.time_s,
            problem.shots.log,
            problem.parameters,
            self.flights,
            converged,
        )


def _huber(residuals: Array) -> Array:
    size = np.abs(residuals)
    return np.where(size <= HUBER, 0.5 * size * size, HUBER * (size - 0.5 * HUBER))


def _weights(residuals: Array) -> Array:
    return np.asarray(np.minimum(1.0, HUBER / np.maximum(np.abs(residuals), 1e-12)))


def fit(search: ResidualSearch, progress: Callable[[str], None]) -> Estimate:
    """Fit all unknowns, and the deviations of the readings, from where a search begins.

    `progress` takes a line about each step.
    """
    for number in range(_STEPS):
        changed = search.set_deviations()
        gain = search.step()
        if number + 1 == _EARLY_STEPS:
            # A stretch that is far from its solution would pull the parameters away from theirs.
            search.settle()
        progress(f"step {number + 1}: loss {search.loss:.0f}, {_shown(search.problem.deviations)}")
        has_settled = gain < _LEAST_GAIN or search.shift < _LEAST_SHIFT
        if has_settled and changed < _LEAST_CHANGE and (number < 3 or search.settle() < _SETTLED_GAIN):
            return search.estimate(converged=True)
    return search.estimate(converged=False)


def deviations(residuals: Array, reading: np.typing.NDArray[np.int64]) -> Array:
    """Deviations of the residuals of each reading (9,), from the median of their sizes, which outliers do not change.

    The three axes of the velocity have one in common.
    """
    sizes = np.abs(residuals)
    groups = [(number, reading == number) for number in range(6)] + [(slice(6, 9), reading >= 6)]
    found = np.ones(len(READINGS))
    for place, own in groups:
        # The median of the size of a normally distributed number is 0.6745 times its deviation.
        found[place] = max(1e-6, float(np.median(sizes[own])) / 0.6745)
    return found


def _shown(values: Sequence[float] | Array) -> str:
    return "deviations " + " ".join(f"{value:.3g}" for value in values)
