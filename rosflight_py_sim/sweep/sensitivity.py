"""Sensitivity of a sweep's measures to its inputs, estimated from the runs of the sweep alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rosflight_py_sim.sweep.factors import Array, Factor

LEAST_RUNS = 30
"""Number of runs below which no index is computed: its interval would span all values."""

CONFIDENCE = 0.95

# Harmonics of the series per factor. Fewer of them keep the bias correction small with few runs; two show a slope and
# a minimum.
_MOST_HARMONICS, _LEAST_HARMONICS, _RUNS_PER_HARMONIC = 10, 2, 25


@dataclass(frozen=True)
class Index:
    """Share of a measure's variance that one factor explains alone: the Sobol' index of first order.

    Attributes:
        name: name of the factor.
        share: 1 if the factor alone determines the measure, 0 if it does not influence the measure's mean. The
            estimator is unbiased, so a share near 0 may come out negative.
        half_width: half the width of the 95 % confidence interval, from bootstrap samples.
    """

    name: str
    share: float
    half_width: float


def sensitivity(factors: Sequence[Factor], output: Array) -> list[Index]:
    """First-order index of each factor, the greatest first; empty with too few runs or too little variance.

    RBD-FAST for given samples (E. Plischke, *An effective algorithm for computing global sensitivity indices (EASI)*,
    Reliability Engineering & System Safety 95, 2010), with the bias correction of J.-Y. Tissot and C. Prieur (ibid.
    107, 2012). Valid for factors that are drawn independently of each other, or on a full grid. The same runs give the
    same indices.

    Args:
        factors: inputs, with n values each.
        output: the measure, shape (n,); runs in which it is not finite are left out.

    Raises:
        ModuleNotFoundError: SALib is not installed.
    """
    runs = np.flatnonzero(np.isfinite(output))
    if len(runs) < LEAST_RUNS or not factors or float(np.ptp(output[runs])) == 0.0:
        return []
    from SALib.analyze import rbd_fast  # imported here because it takes more than a second

    # Equal values of one factor keep the order of the runs, in which the other factors of a grid are periodic.
    runs = np.random.default_rng(0).permutation(runs)
    inputs = np.stack([factor.values[runs] for factor in factors], axis=1)
    harmonics = int(np.clip(len(runs) // _RUNS_PER_HARMONIC, _LEAST_HARMONICS, _MOST_HARMONICS))
    names = [factor.name for factor in factors]
    problem = {"num_vars": len(factors), "names": names}
    # A bootstrap sample of an output that is nearly constant may be constant.
    with np.errstate(invalid="ignore"):
        found = rbd_fast.analyze(problem, inputs, output[runs], M=harmonics, conf_level=CONFIDENCE, seed=0)
    shares, widths = (np.array(found[key], dtype=np.float64) for key in ("S1", "S1_conf"))
    if not np.isfinite(widths).all():
        return []
    return sorted(map(Index, names, shares, widths), key=lambda index: -index.share)
