"""Search for the unknowns of `output_error.py`: Levenberg-Marquardt steps, and what they show at their end.

The loss is Huber's, by iteratively reweighted squares. The unknowns of a stretch affect only its own residuals, so that
they are eliminated from the normal equations stretch by stretch, which takes time in proportion to the length of the
logs; a solver that takes the problem as one dense matrix, as `scipy.optimize.least_squares` does, takes its third
power. The deviations of the readings follow from the residuals, and are estimated in turn with the parameters
(Jategaonkar, chapter 4; Klein and Morelli, section 6.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.identification.output_error import GUST, PRIOR, READINGS, Residuals
from rosflight_py_sim.physics.dynamics import StateDivergedError

HUBER = 2.5
"""Residual over its deviation from which on its loss is linear."""

# Velocity: the states of the stretches follow the few measurements of GNSS, so that their residuals look too small.
_LEAST_DEVIATIONS = np.array([1e-4] * 3 + [1e-3] * 3 + [0.03] * 3 + [0.03])

# Readings of the accelerometer; least and greatest deviation of them in a stretch over the median one.
_ACCEL, _NOISE = slice(3, 6), (0.3, 10.0)

COLOUR = 4.0
"""Standard errors with the usual colour of residuals over those of white ones: vibration, gusts and the model's errors
are slow compared with the readings."""

STEPS = 40
"""Most steps of a search."""

# The last step changes the deviations by less than _LEAST_CHANGE, and each parameter by less than _LEAST_SHIFT of its
# standard error, or the loss, in squared deviations, by less than _LEAST_GAIN. Damping at the start.
_LEAST_CHANGE, _LEAST_SHIFT, _LEAST_GAIN, _DAMPING = 0.03, 0.05, 1.0, 1e-7

# Largest change of a parameter over its size in a step: the model is linear only near by.
_LARGEST_CHANGE = 0.2

# Most steps of the stretches by themselves, and the gain from which on the parameters must be fitted again.
_SETTLING_STEPS, _SETTLED_GAIN = 12, 20.0

# Steps after which the stretches settle for the first time.
_EARLY_STEPS = 3


@dataclass(frozen=True)
class Estimate:
    """Unknowns that fit the logs best.

    Attributes:
        theta: changes of the parameters over their sizes, and the unknowns of each log (n,).
        local: unknowns of the stretches (k, LOCALS).
        deviations: of the readings, in the order of READINGS (10,).
        residuals: over their deviations (m,).
        information: second derivatives of the loss by theta, the unknowns of the stretches eliminated (n, n).
        prior: information of the priors about theta, the inverse of their variances (n,).
        scores: derivatives of the loss by theta of each stretch (k, n), the unknowns of the stretches eliminated.
        gust_effects: derivatives of these by the gust of each stretch, NED (k, n, 3), 1 / (m/s).
        times_s: start of each stretch in its log (k,), s.
        logs: number of the log of each stretch (k,).
        parameters: number of the parameters among the unknowns.
        flights: number of times that the model has flown all stretches.
        costs: loss and priors of each stretch (k,).
        steps: number of steps of the search.
        shifts: change of each parameter in the last one over its standard error.
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
    costs: Array
    steps: int
    shifts: Array
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
            shifts=self.shifts[places[places < self.parameters]],
        )


class ResidualSearch:
    """Levenberg-Marquardt steps of all unknowns, those of the stretches eliminated from the normal equations.

    Attributes:
        problem: the residuals.
        theta: changes of the parameters over their sizes, and the unknowns of each log (n,).
        local: unknowns of the stretches (k, LOCALS).
        residuals: over their deviations (m,).
        flights: number of times that the model has flown all stretches.
        steps: number of steps of all unknowns so far.
        shifts: change of each parameter in the last step over its standard error.
    """

    def __init__(self, problem: Residuals, theta: Array, local: Array, bounds: tuple[Array, Array]) -> None:
        """Begin at `theta` and `local`, with theta within `bounds` (n,) each.

        Raises:
            StateDivergedError: the model cannot fly from there.
        """
        self.problem, self.theta, self.local, self._bounds = problem, theta.copy(), local.copy(), bounds
        self._prior = np.zeros(problem.unknowns)
        of_logs = np.tile(PRIOR**-2.0, problem.logs)
        self._prior[problem.unknowns - len(of_logs) :] = of_logs
        self._local_prior = problem.local_deviations**-2.0
        self._damping = _DAMPING
        self.flights, self.steps, self.shifts = 0, 0, np.full(problem.parameters, math.inf)
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
        """Take the deviations of the readings from the residuals; return their greatest relative change.

        Those of the accelerometer in a stretch are multiples of the median ones: how much an airframe vibrates, and at
        which alias of its rotors' frequencies, depends on their speeds.
        """
        problem = self.problem
        before, differences, noise = problem.deviations, self.residuals * problem.sizes, problem.noise.copy()
        of_accel = (problem.reading >= _ACCEL.start) & (problem.reading < _ACCEL.stop)
        sizes = np.abs(differences / before[problem.reading])[of_accel]
        medians = np.median(sizes.reshape(len(noise), -1), axis=1)
        noise[:, _ACCEL] = np.clip(medians / max(1e-12, float(np.median(medians))), *_NOISE)[:, None]
        problem.noise = noise
        found = before * deviations((differences / problem.sizes)[problem.known], problem.reading[problem.known])
        problem.deviations = np.maximum(found, _LEAST_DEVIATIONS)
        self.residuals = differences / problem.sizes
        return float(np.max(np.abs(problem.deviations / before - 1.0)))

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
        self.steps += 1
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
        self.shifts = (np.abs(change) / errors)[: self.problem.parameters]
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
            self._costs(self.residuals, self.local),
            self.steps,
            self.shifts,
            converged,
        )


def _huber(residuals: Array) -> Array:
    size = np.abs(residuals)
    return np.where(size <= HUBER, 0.5 * size * size, HUBER * (size - 0.5 * HUBER))


def _weights(residuals: Array) -> Array:
    return np.asarray(np.minimum(1.0, HUBER / np.maximum(np.abs(residuals), 1e-12)))


def fit(search: ResidualSearch, progress: Callable[[str], None], steps: int = STEPS) -> Estimate:
    """Fit all unknowns, and the deviations of the readings, from where a search begins, in at most so many steps.

    `progress` takes a line about each step.
    """
    for number in range(steps):
        changed = search.set_deviations()
        gain = search.step()
        if number + 1 == _EARLY_STEPS:
            # A stretch that is far from its solution would pull the parameters away from theirs.
            search.settle()
        progress(f"step {number + 1}: loss {search.loss:.0f}, {_shown(search.problem.deviations)}")
        has_settled = gain < _LEAST_GAIN or bool(np.all(search.shifts < _LEAST_SHIFT))
        if has_settled and changed < _LEAST_CHANGE and (number < 3 or search.settle() < _SETTLED_GAIN):
            return search.estimate(converged=True)
    return search.estimate(converged=False)


def deviations(residuals: Array, reading: np.typing.NDArray[np.int64]) -> Array:
    """Deviations of the residuals of each reading (10,), from the median of their sizes, which outliers do not change.

    The three axes of the velocity have one in common.
    """
    sizes = np.abs(residuals)
    groups = [(number, reading == number) for number in (*range(6), 9)]
    groups.append((slice(6, 9), (reading >= 6) & (reading < 9)))
    found = np.ones(len(READINGS))
    for place, own in groups:
        # The median of the size of a normally distributed number is 0.6745 times its deviation.
        if own.any():
            found[place] = max(1e-6, float(np.median(sizes[own])) / 0.6745)
    return found


def _shown(values: Sequence[float] | Array) -> str:
    return "deviations " + " ".join(f"{value:.3g}" for value in values)
