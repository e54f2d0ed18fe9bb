"""Reduction of a failing case to a smaller one: fewer quantities away from their nominal values, and nearer to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rosflight_py_sim.ground.parameters import Scalar
from rosflight_py_sim.sweep.definition import Quantity, Row
from rosflight_py_sim.sweep.distributions import LogUniform

Values: TypeAlias = Mapping[str, Scalar]

# Halvings of the deviation of all quantities together, and of each.
_HALVINGS_TOGETHER, _HALVINGS = 5, 7

_DIGITS = 3
"""Significant digits of the smallest failing case."""


@dataclass(frozen=True)
class Shrinking:
    """Reduction of a failing case.

    Attributes:
        quantities: that differ from flight to flight.
        nominal: their nominal values.
        fly: flies several cases; returns their rows.
        robustness: robustness of a row; below 0 if the flight breaks the property.
    """

    quantities: Sequence[Quantity]
    nominal: Values
    fly: Callable[[Sequence[Values]], Sequence[Row]]
    robustness: Callable[[Row], float]

    def smaller(self, failing: Row) -> Iterator[Row]:
        """Smaller and smaller failing cases.

        First, quantities return to their nominal values, until the property is kept whichever of the rest returns
        (1-minimal as of A. Zeller, R. Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002). Then the
        deviations of the rest are bisected, first all together, then each alone, and rounded.
        """
        for row in self._fewer(failing):
            yield (failing := row)
        ordered = [one for one in self._away(failing) if one.distribution.is_ordered]
        if len(ordered) > 1:
            for row in self._nearer(failing, ordered, _HALVINGS_TOGETHER):
                yield (failing := row)
        for one in ordered:
            for row in self._nearer(failing, [one], _HALVINGS):
                yield (failing := row)
        rounded = self._rounded(failing.run.values, ordered)
        if rounded != failing.run.values:
            yield from self._failing([rounded])

    def _away(self, row: Row) -> list[Quantity]:
        """Quantities with other values than the nominal ones."""
        return [one for one in self.quantities if row.run.values[one.key] != self.nominal[one.key]]

    def _failing(self, cases: Sequence[Values]) -> list[Row]:
        return [row for row in self.fly(cases) if self.robustness(row) < 0.0]

    def _fewer(self, failing: Row) -> Iterator[Row]:
        """Failing cases with fewer quantities away from their nominal values."""
        while True:
            values = failing.run.values
            returned = [{**values, one.key: self.nominal[one.key]} for one in self._away(failing)]
            rows = sorted(self._failing(returned), key=self.robustness)
            if not rows:
                return
            keys = [next(key for key in values if row.run.values[key] != values[key]) for row in rows]
            if len(keys) > 1 and (together := self._failing([{**values, **{key: self.nominal[key] for key in keys}}])):
                yield (failing := together[0])
                continue
            yield (failing := rows[0])
            for key in keys[1:]:
                for row in self._failing([{**failing.run.values, key: self.nominal[key]}]):
                    yield (failing := row)

    def _nearer(self, failing: Row, chosen: Sequence[Quantity], halvings: int) -> Iterator[Row]:
        """Failing cases with smaller deviations of the chosen quantities, by bisection."""
        values = failing.run.values
        kept, broken = 0.0, 1.0
        for _ in range(halvings):
            middle = 0.5 * (kept + broken)
            case = {**values, **{one.key: self._between(one, values[one.key], middle) for one in chosen}}
            if case in (failing.run.values, {**values, **{one.key: self.nominal[one.key] for one in chosen}}):
                return
            rows = self._failing([case])
            kept, broken = (kept, middle) if rows else (middle, broken)
            for row in rows:
                yield (failing := row)

    def _between(self, one: Quantity, value: Scalar, share: float) -> Scalar:
        """Value at a share of the way from the nominal value."""
        nominal = self.nominal[one.key]
        assert not isinstance(value, str)
        assert not isinstance(nominal, str)
        if isinstance(one.distribution, LogUniform):
            return float(nominal * (value / nominal) ** share)
        between = nominal + share * (value - nominal)
        return round(between) if one.parameter.scalar_type is int else between

    def _rounded(self, values: Values, chosen: Sequence[Quantity]) -> dict[str, Scalar]:
        """The values with few digits, those of the chosen quantities rounded away from the nominal values."""
        rounded = {**values}
        for one in chosen:
            value, nominal = values[one.key], self.nominal[one.key]
            if isinstance(value, float) and value != nominal:
                unit = 10.0 ** (math.floor(math.log10(abs(value))) - _DIGITS + 1) if value else 1.0
                up = value > float(nominal)
                text = f"{(math.ceil if up else math.floor)(value / unit) * unit:.{_DIGITS}g}"
                least, most = one.distribution.extremes
                if float(least) <= float(text) <= float(most):
                    rounded[one.key] = float(text)
        return rounded
