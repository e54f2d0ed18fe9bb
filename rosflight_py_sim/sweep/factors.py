"""Inputs of a sweep's runs as numbers, for pictures and sensitivity analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from rosflight_py_sim.sweep.definition import Quantity, Sweep
from rosflight_py_sim.sweep.distributions import Grid, LogUniform

# Ratio of values from which their logarithm is shown.
_MAGNITUDE = 5.0

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """A quantity that differs from run to run.

    Attributes:
        name: key of the quantity.
        unit: of the values; empty if they have none.
        values: one per run, shape (n,); of texts and switches, the index in `choices`.
        choices: values of a quantity of texts or switches, sorted; empty for numbers.
        is_grid: whether the values are those of a grid.
        is_logarithmic: whether the values are spread over their logarithm.
    """

    name: str
    unit: str
    values: Array
    choices: Sequence[str] = ()
    is_grid: bool = False
    is_logarithmic: bool = False

    @property
    def label(self) -> str:
        """Name and unit for an axis."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, value: float) -> str:
        """A value as text, without its unit."""
        return self.choices[round(value)] if self.choices else f"{value:.4g}"

    @property
    def levels(self) -> Array:
        """The values that occur, ascending."""
        return np.unique(self.values)

    @property
    def has_levels(self) -> bool:
        """Whether values occur again and again, so that runs are grouped by them."""
        return self.is_grid or bool(self.choices) or 3 * len(self.levels) <= len(self.values)


def spans_magnitudes(values: Array) -> bool:
    """Whether values span so wide a range that their logarithm is shown: all positive, with a ratio of five or more.

    NaN is left out, and so are the greatest 3 %, which can be a few runs at the edge of stability.
    """
    known = values[np.isfinite(values)]
    if not len(known) or known.min() <= 0.0:
        return False
    return bool(np.percentile(known, 97.0) >= _MAGNITUDE * known.min())


def factors_of(sweep: Sweep, table: pd.DataFrame) -> list[Factor]:
    """The quantities that differ between the runs of a table, in the order of the sweep file."""
    found = [_factor(quantity, table[quantity.key].tolist()) for quantity in sweep.quantities]
    return [factor for factor in found if len(factor.levels) > 1]


def _factor(quantity: Quantity, values: Sequence[bool | float | str]) -> Factor:
    choices: list[str] = []
    if quantity.parameter.scalar_type in (bool, str):
        texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        choices = sorted(set(texts))
        values = [choices.index(text) for text in texts]
    numbers = np.array(values, dtype=np.float64)
    is_grid = isinstance(quantity.distribution, Grid)
    is_logarithmic = isinstance(quantity.distribution, LogUniform) or (is_grid and _is_geometric(np.unique(numbers)))
    return Factor(quantity.key, quantity.parameter.unit, numbers, choices, is_grid, is_logarithmic)


def _is_geometric(levels: Array) -> bool:
    """Whether at least three levels, all above 0, rise by the same factor each."""
    if len(levels) < 3 or levels[0] <= 0.0:
        return False
    ratios = levels[1:] / levels[:-1]
    return bool(np.allclose(ratios, ratios[0], rtol=0.02))
