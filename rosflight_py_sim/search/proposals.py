"""Proposals of values that break a property, by an evolution strategy over the distributions of a sweep file.

Each quantity with ordered values has a coordinate of normal distribution: its value is the quantile of the
quantity's distribution at the share of the normal distribution below the coordinate. The first proposals are therefore
drawn from the distributions themselves, as a sweep draws them. From the robustness of each flight, CMA-ES (N. Hansen,
A. Ostermeier: Completely Derandomized Self-Adaptation in Evolution Strategies, Evolutionary Computation 9, 2001) moves
and shapes the normal distribution towards flights of smaller robustness. Quantities without order have a categorical
distribution each, which adapts likewise (R. Hamano et al.: CatCMA with Margin, GECCO 2025). The package `cmaes`
implements both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from cmaes import CatCMAwM

from rosflight_py_sim.ground.parameters import Scalar
from rosflight_py_sim.sweep.definition import Quantity

_NORMAL = NormalDist()

_SEEDS = 2**32

# A start from the distributions ends when so many generations have not lowered the least robustness by this share of
# the range between the least and the first generation's median.
_PATIENCE, _LEAST_GAIN = 4, 0.02


class Proposal(NamedTuple):
    """Values to fly.

    Attributes:
        values: of the quantities, by key.
        distance: from the median of the distributions, in standard deviations of the coordinates.
        solution: the optimizer's form of it.
    """

    values: Mapping[str, Scalar]
    distance: float
    solution: CatCMAwM.Solution


class Proposals:
    """Generations of proposals, each after the robustness of the generation before."""

    def __init__(self, quantities: Sequence[Quantity], seed: int) -> None:
        """Begin with the distributions of the quantities, of which there is at least one, and a seed."""
        self._ordered = [one for one in quantities if one.distribution.is_ordered]
        self._listed = [one for one in quantities if len(one.distribution.extremes) > 1 and one not in self._ordered]
        self._only = [one for one in quantities if one not in self._ordered and one not in self._listed]
        self._rng = np.random.default_rng(seed)
        self._start = self._new_start()

    def next(self) -> list[Proposal]:
        """The proposals of a generation."""
        optimizer = self._start.optimizer
        return [self._proposal(optimizer.ask()) for _ in range(optimizer.population_size)]

    def learn(self, generation: Sequence[tuple[Proposal, float]]) -> None:
        """Adapt to the robustness of a whole generation; begin again at the distributions where that gains nothing.

        The robustness may be infinite, as that of a property that an empty range of rows decides.
        """
        values = [robustness for _, robustness in generation]
        if min(values) == max(values):
            return  # nothing to learn
        start = self._start
        # The strategy follows the order alone. `cmaes` also takes the range of the values' middle half, which is empty
        # where most are equal, and undefined where they are infinite.
        ranks = np.argsort(np.argsort(values, kind="stable")).astype(float)
        start.optimizer.tell([(one.solution, rank) for (one, _), rank in zip(generation, ranks, strict=True)])
        if start.is_exhausted(values) or start.optimizer.should_stop():
            self._start = self._new_start()

    def _new_start(self) -> _Start:
        dimensions = len(self._ordered)
        optimizer = CatCMAwM(
            x_space=[[-np.inf, np.inf]] * dimensions or None,
            c_space=[len(one.distribution.extremes) for one in self._listed] or None,
            mean=np.zeros(dimensions) if dimensions else None,
            cov=np.eye(dimensions) if dimensions else None,
            seed=int(self._rng.integers(_SEEDS)),
        )
        return _Start(optimizer)

    def _proposal(self, solution: CatCMAwM.Solution) -> Proposal:
        coordinates = [] if solution.x is None else solution.x.tolist()
        values: dict[str, Scalar] = {one.key: one.distribution.extremes[0] for one in self._only}
        for one, coordinate in zip(self._ordered, coordinates, strict=True):
            values[one.key] = one.distribution.quantile(_NORMAL.cdf(coordinate))
        places = [] if solution.c is None else np.argmax(solution.c, axis=1).tolist()
        for one, place in zip(self._listed, places, strict=True):
            values[one.key] = one.distribution.extremes[place]
        return Proposal(values, float(np.linalg.norm(coordinates)), solution)


class _Start:
    """A start of the optimizer at the distributions.

    Attributes:
        optimizer: the optimizer.
    """

    def __init__(self, optimizer: CatCMAwM) -> None:
        self.optimizer = optimizer
        self._median, self._least = math.nan, math.inf
        self._idle = 0

    def is_exhausted(self, values: Sequence[float]) -> bool:
        """Whether the last generations, the one with these robustnesses included, have gained nothing."""
        if math.isinf(self._least):
            self._median = float(np.median(values))
        elif min(values) < self._least - _LEAST_GAIN * (self._median - self._least):
            self._idle = 0
        else:
            self._idle += 1
        self._least = min(self._least, *values)
        return self._idle == _PATIENCE
