"""Properties of a flight, such as `always(tilt < 0.5)`, and by how much a flight keeps or breaks them.

A property is a formula of signal temporal logic. Its atoms are comparisons of expressions (`sweep/expressions.py`), and
its value is a robustness: above 0 where the flight keeps the property, below 0 where it breaks it, with the distance
to the limit as magnitude, in the unit of the comparison that decides (A. Donzé, O. Maler: Robust Satisfaction of
Temporal Logic over Real-Valued Signals, FORMATS 2010):

    left < right                right - left; the same for <=
    left > right                left - right; the same for >=
    left == right               -abs(left - right)
    not a                       -a
    a and b, a or b             smaller one, greater one
    implies(a, b)               greater one of -a and b
    always[s, e](a)             smallest a in the rows from s to e seconds later
    eventually[s, e](a)         greatest a in the rows from s to e seconds later
    until[s, e](a, b)           greatest, over these rows, of the smaller one of b there and the smallest a up to there

Without times, an operator extends to the end of the log. In rows that have no later ones within the times, `always` is
infinite, and `eventually` and `until` are minus infinite. The property of a flight is that of its first row.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from rosflight_py_sim.recording.state_log import Array
from rosflight_py_sim.sweep.expressions import COMPARISONS, Expression, Term

_OPERATORS = {"always": 1, "eventually": 1, "until": 2}
"""Numbers of arguments of the temporal operators."""

_IMPLIES = "implies"

_CONDITIONS = f"a condition: a comparison, and, or, not, {_IMPLIES}(a, b), always(a), eventually(a), until(a, b)"

# Times of rows are rounded.
_ROUNDING_S = 1e-6

_DIFFERENCES: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda left, right: right - left,
    ast.LtE: lambda left, right: right - left,
    ast.Gt: operator.sub,
    ast.GtE: operator.sub,
    ast.Eq: lambda left, right: -np.abs(left - right),
    ast.NotEq: lambda left, right: np.abs(left - right),
}
assert _DIFFERENCES.keys() == COMPARISONS.keys()


class Property(Expression):
    """A checked property, whose value for a flight is its robustness.

    Attributes:
        defined: expressions that the property names: the measures and signals of the sweep file, by name.
    """

    def __init__(self, text: str, names: Collection[str], defined: Mapping[str, Expression]) -> None:
        """Parse the text, in which the given names and those of the defined expressions may occur.

        Raises:
            ExpressionError: the text is not a property, or contains what is not allowed.
        """
        self.defined = defined
        super().__init__(text, {*names, *defined})

    def value(self, flight: Mapping[str, Any]) -> float:
        """Robustness for a flight; NaN if an expression has no value.

        Args:
            flight: values of the names (`values_of`).

        Raises:
            ExpressionError: the values do not fit the property.
        """
        values = {name: one.value(flight) for name, one in self.defined.items()}
        return float(super().value({**flight, **values}))

    def _root(self, tree: ast.expr) -> Term:
        return self._formula(tree, in_rows=False)

    def _formula(self, node: ast.expr, *, in_rows: bool) -> Term:
        """Robustness of a part of the property: of each row, or of the whole flight."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._applied(node, operator.neg, [self._formula(node.operand, in_rows=in_rows)])
        if isinstance(node, ast.BoolOp):
            chosen = np.minimum if isinstance(node.op, ast.And) else np.maximum
            terms = [self._formula(one, in_rows=in_rows) for one in node.values]
            return self._applied(node, lambda *values: reduce(chosen, values), terms)
        if isinstance(node, ast.Compare) and all(type(one) in _DIFFERENCES for one in node.ops):
            return self._comparison(node, in_rows=in_rows)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _IMPLIES:
            terms = [self._formula(one, in_rows=in_rows) for one in self._arguments(node, 2)]
            return self._applied(node, lambda one, other: np.maximum(-one, other), terms)
        if isinstance(node, ast.Call):
            name = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            if isinstance(name, ast.Name) and name.id in _OPERATORS:
                return self._temporal(node, name.id, in_rows=in_rows)
        raise self._refuse(node, _CONDITIONS)

    def _comparison(self, node: ast.Compare, *, in_rows: bool) -> Term:
        differences = [_DIFFERENCES[type(one)] for one in node.ops]

        def compared(*values: Any) -> Any:
            for one in values:
                if np.ndim(one) > in_rows:
                    given = "a vector" if np.ndim(one) > 1 else "a series"
                    where = "a number or a series" if in_rows else "a number; a series only within always or eventually"
                    raise ValueError(f"{given} given; allowed: {where}")
            pairs = zip(differences, itertools.pairwise(values), strict=True)
            return reduce(np.minimum, [difference(*pair) for difference, pair in pairs])

        return self._applied(node, compared, list(map(self._compiled, [node.left, *node.comparators])))

    def _temporal(self, node: ast.Call, name: str, *, in_rows: bool) -> Term:
        """A temporal operator, such as `always[0, 2](a)`."""
        least_s, most_s = self._times(node.func) if isinstance(node.func, ast.Subscript) else (0.0, math.inf)
        terms = [self._formula(one, in_rows=True) for one in self._arguments(node, _OPERATORS[name])]

        def robustness(*values: Any) -> Any:
            *series, time_s = values
            rows = [np.broadcast_to(np.asarray(one, dtype=np.float64), time_s.shape) for one in series]
            if not in_rows and not len(time_s):
                return np.inf if name == "always" else -np.inf
            found = _later(name, rows, time_s, least_s, most_s)
            return found if in_rows else found[0]

        return self._applied(node, robustness, [*terms, operator.itemgetter(self._time_of(node))])

    def _arguments(self, node: ast.Call, count: int) -> Sequence[ast.expr]:
        if node.keywords or len(node.args) != count:
            conditions = "a condition" if count == 1 else "two conditions"
            raise self._refuse(node, f"{ast.unparse(node.func)} of {conditions}")
        return node.args

    def _times(self, node: ast.Subscript) -> tuple[float, float]:
        """First and last time of a temporal operator, s."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        constants = [one.value for one in given if isinstance(one, ast.Constant)]
        times = [float(one) for one in constants if isinstance(one, int | float) and not isinstance(one, bool)]
        if len(times) != 2 or len(given) != 2 or not times[0] <= times[1]:
            raise self._refuse(node, "two times in s from now on, the earlier one first, as in always[0, 2](...)")
        return times[0], times[1]

    def _time_of(self, node: ast.expr) -> str:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in self.defined:
                return self.defined[one.id].time_name
        return super()._time_of(node)


def _later(name: str, rows: Sequence[Array], time_s: Array, least_s: float, most_s: float) -> Array:
    """Robustness of a temporal operator in each row, from that of its arguments."""
    first = np.searchsorted(time_s, time_s + (least_s - _ROUNDING_S))
    end = np.searchsorted(time_s, time_s + (most_s + _ROUNDING_S), side="right")
    if name == "always":
        return _extremes(np.minimum, rows[0], first, end, np.inf)
    if name == "eventually":
        return _extremes(np.maximum, rows[0], first, end, -np.inf)
    before, then = rows
    found = np.full(len(time_s), -np.inf)
    for row in range(len(time_s)):
        begin, stop = max(first[row], row), end[row]
        if begin < stop:
            kept = np.minimum.accumulate(before[row:stop])[begin - row :]
            found[row] = np.minimum(kept, then[begin:stop]).max()
    return found


def _extremes(extreme: np.ufunc, values: Array, first: Any, end: Any, of_none: float) -> Array:
    """Extreme of the values from `first` to before `end`, for each row.

    Each is that of two overlapping ranges whose length is a power of two (a sparse table: M. Bender, M.
    Farach-Colton: The LCA Problem Revisited, LATIN 2000).
    """
    found = np.full(len(first), of_none)
    # Rounding may put a row before itself.
    first = np.maximum(first, np.arange(len(first)))
    length = end - first
    table, size = values, 1
    while True:
        chosen = (size <= length) & (length < 2 * size)
        found[chosen] = extreme(table[first[chosen]], table[end[chosen] - size])
        if 2 * size > len(values):
            return found
        table = extreme(table[:-size], table[size:])
        size *= 2
