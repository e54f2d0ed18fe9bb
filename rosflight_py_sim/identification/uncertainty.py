"""Covariance of estimates from coloured residuals."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.identification.output_error import GUST
from rosflight_py_sim.identification.search import Estimate

COLOUR_S = 5.0
"""Time after which vibration and slow errors of GNSS no longer depend on what they were, s."""

GUST_S = 20.0
"""Time in which the correlation of gusts falls by 1 / e, s: 200 m, their length in MIL-F-8785C at a height of 50 m, at
10 m/s through the air."""


def white_covariance(estimate: Estimate) -> Array:
    """Covariance of the unknowns if the residuals were white: the inverse of the information."""
    information = estimate.information
    scale = 1.0 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    # A direction without information gets a great variance, not an infinite one.
    ridge = 1e-12 * np.eye(len(scale))
    inverse = np.linalg.inv(information * np.outer(scale, scale) + ridge)
    return np.asarray(inverse * np.outer(scale, scale))


def covariance_of(estimate: Estimate) -> Array:
    """Covariance of the unknowns, with the colour of residuals and gusts.

    C = H^-1 (S + G + P) H^-1 with the information H and the part P of it that comes from priors. S is the spread of
    the scores s of the stretches, the sum of w_ij s_i s_j^T times k / (k - n) for k stretches and n parameters:
    residuals within a stretch may depend on each other in any way, those of two stretches less with the time between
    them: w falls linearly to 0 at COLOUR_S (Newey and West, Econometrica 55, 1987; for flight data compare Morelli and
    Klein, J. Guidance 20(1), 1997). G is the effect of gusts as large as those that were estimated, whose correlation
    falls by 1 / e in GUST_S; a short log does not show how long they last. White residuals give the inverse of H; the
    greater variance of the two counts.
    """
    white, count = white_covariance(estimate), len(estimate.scores)
    apart_s = np.abs(np.subtract.outer(estimate.times_s, estimate.times_s))
    together = np.equal.outer(estimate.logs, estimate.logs)
    weights = np.maximum(0.0, 1.0 - apart_s / COLOUR_S) * together
    meat = estimate.scores.T @ weights @ estimate.scores * (count / max(1, count - estimate.parameters))
    meat = meat + np.diag(estimate.prior)
    variances = np.mean(estimate.local[:, GUST] ** 2, axis=0)
    lasting = np.exp(-apart_s / GUST_S) * together
    for variance, effect in zip(variances, np.moveaxis(estimate.gust_effects, 2, 0), strict=True):
        meat = meat + variance * effect.T @ lasting @ effect
    coloured = white @ meat @ white
    ratio = np.sqrt(np.maximum(1.0, np.diag(white) / np.maximum(np.diag(coloured), 1e-300)))
    return np.asarray(coloured * np.outer(ratio, ratio))
