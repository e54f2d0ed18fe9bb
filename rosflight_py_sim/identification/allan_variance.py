"""White noise and bias walk of a sensor at rest, from the Allan variance of its readings.

IEEE Std 952-1997, annex C: sigma^2(tau) is half the mean square difference of the means of neighbouring clusters of
length tau. White noise of density N gives N^2 / tau, with the angle (velocity) random walk N at tau = 1 s; a random
walk of the bias of density K gives K^2 tau / 3; a bias walk that decays with the rate k gives, with x = k tau (C.1.7),

    sigma^2 = K^2 / (k^2 tau) (1 - (3 - 4 exp(-x) + exp(-2 x)) / (2 x))

These are the terms of `sensing/errors.py`. Clusters overlap; each variance has so many degrees of freedom that its
relative deviation is sqrt(2 / freedom) (W. Riley, Handbook of Frequency Stability Analysis, NIST SP 1065, 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from rosflight_py_sim.identification.estimates import least_between
from rosflight_py_sim.identification.flight_log import Array

LEAST_CLUSTERS = 9
"""Least number of clusters of the longest length: with fewer, a variance is within less than a quarter of its value."""

FLICKER = math.sqrt(2.0 * math.log(2.0) / math.pi)
"""Allan deviation over the bias instability, at the deviation's minimum (C.1.2)."""

# Variances of lengths that differ by a factor of 2 depend on each other: the scatter of estimates from drawn noise over
# that which follows from independent ones.
_DEPENDENCE = 1.3

_DECAY_RATES = 60
_LEAST_IMPROVEMENT = 12.0

# A walk that may be a drift is not estimated, so that its estimate does not depend on the temperature.
_LEAST_DRIFT = 2.0
_ROUNDS = 30


@dataclass(frozen=True)
class AllanVariance:
    """Allan variance of readings, the mean of their axes.

    Attributes:
        lengths_s: of the clusters (m,).
        variances: squared unit of the readings (m,).
        freedom: degrees of freedom of each (m,).
        clusters: number of clusters of each length, of one axis (m,).
    """

    lengths_s: Array
    variances: Array
    freedom: Array
    clusters: Array

    @property
    def bias_instability(self) -> float:
        """Bias instability: the least deviation over FLICKER."""
        return math.sqrt(float(self.variances.min())) / FLICKER


@dataclass(frozen=True)
class Noise:
    """White noise and bias walk, with standard errors.

    Attributes:
        density: N, unit / sqrt(Hz).
        density_error: its standard error.
        walk: K, unit / sqrt(s).
        walk_error: its standard error; infinite if the readings show no bias walk.
        decay_rate: k, 1/s; 0 for a random walk.
        decay_error: its standard error.
        drifts: whether a steady drift explains the variances much better: sigma^2 = R^2 tau^2 / 2 (C.1.5).
    """

    density: float
    density_error: float
    walk: float
    walk_error: float
    decay_rate: float
    decay_error: float
    drifts: bool


def allan_variance(readings: Array, period_s: float) -> AllanVariance:
    """Allan variance of readings (n, axes) at equal times, n at least 3 LEAST_CLUSTERS.

    The lengths of the clusters are those of 1, 2, 4, ... readings.
    """
    count, axes = readings.shape
    # Sums from 0 to each reading, about the mean for the sake of precision.
    sums = np.concatenate([np.zeros((1, axes)), np.cumsum(readings - readings.mean(axis=0), axis=0)])
    sizes = [2**power for power in range(63) if 2**power * LEAST_CLUSTERS <= count]
    variances, freedom = [], []
    for size in sizes:
        seconds = (sums[2 * size :] - 2.0 * sums[size:-size] + sums[: -2 * size]) / size
        variances.append(0.5 * float(np.mean(seconds**2)))
        points = count + 1
        white = (1.5 * (points - 1) / size - 2.0 * (points - 2) / points) * 4.0 * size**2 / (4.0 * size**2 + 5.0)
        walk = (points - 2) / size * ((points - 1) ** 2 - 3.0 * size * (points - 1) + 4.0 * size**2) / (points - 3) ** 2
        freedom.append(axes * max(1.0, min(white, walk)))
    places = np.array(sizes, np.float64)
    return AllanVariance(places * period_s, np.array(variances), np.array(freedom), count / places)


def walk_variance(lengths_s: Array, decay_rate: float) -> Array:
    """Allan variance of a bias walk of density 1 for clusters of these lengths."""
    if decay_rate == 0.0:
        return lengths_s / 3.0
    x = decay_rate * lengths_s
    # The difference loses its digits for small x; there, the walk has not decayed.
    exact = (1.0 - (3.0 - 4.0 * np.exp(-x) + np.exp(-2.0 * x)) / (2.0 * x)) / (decay_rate * x)
    return np.where(x < 1e-3, lengths_s / 3.0, exact)


def noise_of(allan: AllanVariance) -> Noise:
    """Noise that explains an Allan variance best: a random walk, or a walk that decays if it explains much more."""
    (decay, loss), (decay_of_drift, loss_of_drift) = (_decay_rate(allan, drift=drift) for drift in (False, True))
    drifts = loss - loss_of_drift > _LEAST_DRIFT
    if drifts:
        decay = decay_of_drift
    white, walk = _fitted(allan, decay, drift=drifts)[0][:2]
    errors = _errors(allan, white, walk, decay)
    density, walk_density = math.sqrt(white), math.sqrt(walk)
    return Noise(
        density,
        errors[0] / max(2.0 * density, 1e-300),
        walk_density,
        errors[1] / (2.0 * walk_density) if walk > 0.0 else math.inf,
        decay,
        errors[2] if decay else 0.0,
        drifts,
    )


def _decay_rate(allan: AllanVariance, *, drift: bool) -> tuple[float, float]:
    """Decay rate of the walk that explains the variances best, 0 unless another one is much better, and its loss."""
    rates = np.geomspace(0.3 / allan.lengths_s[-1], 0.3 / allan.lengths_s[0], _DECAY_RATES)
    losses = [_fitted(allan, rate, drift=drift)[1] for rate in rates]
    best, without = int(np.argmin(losses)), _fitted(allan, 0.0, drift=drift)[1]
    if without - losses[best] <= _LEAST_IMPROVEMENT or not 0 < best < _DECAY_RATES - 1:
        return 0.0, without
    found = least_between(lambda rate: _fitted(allan, rate, drift=drift)[1], rates[best - 1], rates[best + 1])
    return found, _fitted(allan, found, drift=drift)[1]


def _fitted(allan: AllanVariance, decay: float, *, drift: bool) -> tuple[Array, float]:
    """N^2 and K^2, with a drift R^2, at least 0, and minus twice the logarithm of the likelihood.

    A variance with f degrees of freedom is that of the model times a number with a chi-squared distribution over f.
    """
    terms = [1.0 / allan.lengths_s, walk_variance(allan.lengths_s, decay), 0.5 * allan.lengths_s**2]
    design = np.column_stack(terms if drift else terms[:2])
    model = allan.variances.copy()
    found = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        scale = np.sqrt(0.5 * allan.freedom) / model
        found = _not_negative(design * scale[:, None], allan.variances * scale)
        model = np.maximum(design @ found, 1e-6 * allan.variances)
    ratio = allan.variances / model
    return found, float(np.sum(allan.freedom * (ratio - 1.0 - np.log(ratio))))


def _not_negative(design: Array, target: Array) -> Array:
    """Least squares of a few unknowns that are not negative: the best of those in which some are 0."""
    best, least = np.zeros(design.shape[1]), math.inf
    for chosen in product((False, True), repeat=design.shape[1]):
        columns = np.flatnonzero(chosen)
        found = np.zeros(design.shape[1])
        if len(columns):
            sizes = np.linalg.norm(design[:, columns], axis=0)
            found[columns] = np.linalg.lstsq(design[:, columns] / sizes, target, rcond=None)[0] / sizes
        loss = float(np.sum((target - design @ found) ** 2))
        if loss < least and (found >= 0.0).all():
            best, least = found, loss
    return best


def _errors(allan: AllanVariance, white: float, walk: float, decay: float) -> Array:
    """Standard errors of N^2, K^2 and k (3,), from the information; infinite where there is none."""
    lengths = allan.lengths_s
    columns = [1.0 / lengths, walk_variance(lengths, decay)]
    if decay:
        step = 1e-3 * decay
        columns.append(
            walk * (walk_variance(lengths, decay + step) - walk_variance(lengths, decay - step)) / (2 * step)
        )
    design = np.column_stack(columns)
    model = np.maximum(design[:, :2] @ [white, walk], 1e-6 * allan.variances)
    weighted = design * (np.sqrt(0.5 * allan.freedom) / model)[:, None]
    sizes = np.maximum(np.linalg.norm(weighted, axis=0), 1e-300)
    information = (weighted / sizes).T @ (weighted / sizes)
    errors = np.sqrt(np.diag(np.linalg.pinv(information))) / sizes * _DEPENDENCE
    return np.concatenate([errors, np.zeros(3 - len(errors))])
