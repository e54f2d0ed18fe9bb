"""Inputs of a sweep's runs as numbers, for pictures and sensitivity analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from rosflight_py_sim.sweep.definition import Quantity, Sweep

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """A number that differs from run to run: a quantity, or an entry of one that is a list.

    Attributes:
        name: key of the quantity; of an entry of a list, with its index from 0.
        unit: of the values; empty if they have none.
        values: one per run, shape (n,); of texts and switches, the index in `choices`.
        choices: values of a quantity of texts or switches, sorted; empty for numbers.
    """

    name: str
    unit: str
    values: Array
    choices: Sequence[str] = ()

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
        """Whether few values occur, each in several runs, as on a grid with repetitions."""
        return bool(self.choices) or 3 * len(self.levels) <= len(self.values)


def factors_of(sweep: Sweep, table: pd.DataFrame) -> list[Factor]:
    """The numbers that differ between the runs of a table, in the order of the sweep file."""
    found = [factor for quantity in sweep.quantities for factor in _factors(quantity, table[quantity.key])]
    return [factor for factor in found if len(factor.levels) > 1]


def _factors(quantity: Quantity, column: pd.Series) -> Iterator[Factor]:
    unit = quantity.parameter.unit
    values = column.tolist()
    if not isinstance(quantity.parameter.default, list):
        yield _factor(quantity.key, unit, values)
        return
    for index in range(min(map(len, values), default=0)):
        yield _factor(f"{quantity.key}[{index}]", unit, [value[index] for value in values])


def _factor(name: str, unit: str, values: Sequence[bool | float | str]) -> Factor:
    if not any(isinstance(value, (bool, str)) for value in values):
        return Factor(name, unit, np.array(values, dtype=np.float64))
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    choices = sorted(set(texts))
    return Factor(name, unit, np.array([choices.index(text) for text in texts], dtype=np.float64), choices)
