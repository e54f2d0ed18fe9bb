"""Number of rows of a sweep's table, all runs or those up to the run that fulfils the stop rule."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rosflight_py_sim.sweep.definition import StopRule


class TableEnd:
    """Finds the number of rows of the table: of all runs, or of those after which the stop rule holds.

    Rows may be added in any order. The rule is evaluated after each run in the order of their numbers, as soon as all
    runs before it are known, so that the end depends neither on the number of workers nor on their speed.

    Attributes:
        rows: number of rows of the table; None while it is unknown.
    """

    def __init__(self, runs: int, rule: StopRule | None) -> None:
        """`runs`: number of runs without a stop rule, at least 1."""
        self.rows: int | None = None
        self._runs, self._rule = runs, rule
        self._waiting: dict[int, float] = {}
        self._next = 0
        self._mean = _RunningMean()

    def add(self, number: int, measures: Mapping[str, float]) -> None:
        """Add a run with its measures, which may be missing or NaN; a failed run has none here."""
        self._waiting[number] = measures.get(self._rule.measure, math.nan) if self._rule is not None else math.nan
        while self.rows is None and self._next in self._waiting:
            self._mean.add(self._waiting.pop(self._next))
            self._next += 1
            if self._next == self._runs or self._holds():
                self.rows = self._next

    def _holds(self) -> bool:
        rule = self._rule
        if rule is None or self._next < rule.least_runs:
            return False
        return self._mean.half_width(rule.confidence) <= rule.half_width


class _RunningMean:
    """Mean and variance of a growing sample (Welford 1962); NaN is left out."""

    def __init__(self) -> None:
        self._count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        if math.isnan(value):
            return
        self._count += 1
        deviation = value - self._mean
        self._mean += deviation / self._count
        self._squares += deviation * (value - self._mean)

    def half_width(self, confidence: float) -> float:
        """Half the width of the confidence interval of the mean, by Student's t; infinite below two values."""
        from scipy.special import stdtrit  # imported here because it takes 0.1 s

        freedom = self._count - 1
        if freedom < 1:
            return math.inf
        deviation = math.sqrt(self._squares / freedom)
        return float(stdtrit(freedom, 0.5 + 0.5 * confidence)) * deviation / math.sqrt(self._count)
