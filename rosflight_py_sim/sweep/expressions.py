"""Expressions over the log of a flight, such as `max(-truth_state.position_ned[2])`, for measures and signals.

Names stand for a figure of the mission's judge (a number), for a series (one value for each row of the log), or for a
vector (a series for each component). The text is parsed into Python's syntax tree, of which only the nodes listed here
are allowed; it is never executed as Python.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.missions.mission_judge import KeyFigures
from rosflight_py_sim.recording.state_log import Array, StateLog

TIME = "time"

_LONGEST = 1000

Term: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""Evaluates a part of an expression from the values of the names."""

_BINARY: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_LOGICAL = {ast.And: np.logical_and, ast.Or: np.logical_or}


def _as_number(truth: Any) -> Any:
    """1.0 for true and 0.0 for false: sums of conditions count."""
    return np.multiply(truth, 1.0)


_UNARY: Mapping[type[ast.unaryop], Callable[..., Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: lambda value: _as_number(np.logical_not(value)),
}

_OPERATORS = "+, -, *, /, //, %, **, comparisons, and, or, not"


class ExpressionError(ParameterError):
    """Invalid expression; the text names the expression, the column, what is given and what is allowed."""


def _series(value: Any) -> Array:
    if np.ndim(value) != 1:
        given = "a vector" if np.ndim(value) else "a number"
        raise ValueError(f"{given} given; allowed: a series, such as time or truth_state.position_ned[2]")
    return np.asarray(value)


def _vector(value: Any) -> Array:
    if np.ndim(value) != 2:
        given = "a series" if np.ndim(value) else "a number"
        raise ValueError(f"{given} given; allowed: a vector, such as truth_state.position_ned")
    return np.asarray(value)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Number for a series; NaN for an empty one."""

    def reduced(value: Any, *further: Any) -> Any:
        series = _series(value)
        return function(series, *further) if len(series) else np.float64(np.nan)

    return reduced


def _extreme(of_series: Callable[[Array], Any], of_two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The extreme of a series, or of several values row by row."""
    reduced = _reduction(of_series)
    return lambda first, *further: reduce(of_two, further, first) if further else reduced(first)


def _percentile(series: Array, percent: Any) -> Any:
    if np.ndim(percent) or not 0.0 <= percent <= 100.0:
        raise ValueError("allowed as the second argument: a number from 0 to 100")
    return np.percentile(series, percent)


def _where(values: Any, condition: Any) -> Any:
    return _series(values)[_series(condition).astype(bool)]


def _duration(condition: Any, time_s: Any) -> Any:
    return np.sum(np.diff(time_s)[_series(condition).astype(bool)[:-1]])


@dataclass(frozen=True)
class Function:
    """Function that expressions may call.

    Attributes:
        call: the call in words.
        text: its meaning.
        apply: function of the arguments' values; it raises ValueError for values that are not allowed.
        least: smallest number of arguments.
        most: largest number of arguments.
    """

    call: str
    text: str
    apply: Callable[..., Any]
    least: int = 1
    most: int = 1


FUNCTIONS = {
    one.call.partition("(")[0]: one
    for one in (
        Function("abs(x)", "absolute value", np.abs),
        Function("sqrt(x)", "square root", np.sqrt),
        Function("sin(x)", "sine of an angle in rad", np.sin),
        Function("cos(x)", "cosine of an angle in rad", np.cos),
        Function("atan2(y, x)", "angle of the vector (x, y), rad", np.arctan2, 2, 2),
        Function("hypot(x, y)", "length of the vector (x, y)", np.hypot, 2, 2),
        Function("norm(vector)", "length of a vector in each row", lambda v: np.linalg.norm(_vector(v), axis=0)),
        Function(
            "min(x, ...)",
            "smallest value of a series; smallest of several values in each row",
            _extreme(np.min, np.minimum),
            most=8,
        ),
        Function(
            "max(x, ...)",
            "largest value of a series; largest of several values in each row",
            _extreme(np.max, np.maximum),
            most=8,
        ),
        Function("mean(x)", "mean over the rows", _reduction(np.mean)),
        Function("std(x)", "standard deviation over the rows", _reduction(np.std)),
        Function("rms(x)", "root mean square over the rows", _reduction(lambda x: np.sqrt(np.mean(x * x)))),
        Function("percentile(x, p)", "value below which p % of the rows lie", _reduction(_percentile), 2, 2),
        Function("first(x)", "value of the first row", _reduction(lambda x: x[0])),
        Function("last(x)", "value of the last row", _reduction(lambda x: x[-1])),
        Function("duration(condition)", "time during which the condition is true, s", _duration),
        Function("where(x, condition)", "rows of a series in which the condition is true", _where, 2, 2),
    )
}
"""Functions by name. Those that reduce a series to a number return NaN for an empty one."""


def _hint(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class Expression:
    """A checked expression.

    Attributes:
        text: as given, on one line.
        time_name: name of the time in the rows of a series: that of the first vehicle named.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        """Parse the text, in which the given names may occur.

        Raises:
            ExpressionError: the text is not an expression, or contains what is not allowed.
        """
        self.text = text = " ".join(text.split())
        self._names = names
        if len(text) > _LONGEST:
            raise ExpressionError(f"an expression of {len(text)} characters given; allowed: at most {_LONGEST}")
        try:
            tree = ast.parse(text, mode="eval").body
            self._term = self._root(tree)
        except SyntaxError as error:
            raise ExpressionError(f"'{text}', column {error.offset or 1}: not an expression: {error.msg}") from error
        except (RecursionError, MemoryError, ValueError, OverflowError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(f"'{text}': not an expression: {error or 'nested too deeply'}") from error
        self.time_name = self._time_of(tree)

    def value(self, flight: Mapping[str, Any]) -> float | Array:
        """Value for a flight: a number, or an array with an entry for each row.

        Args:
            flight: values of the names (`values_of`).

        Raises:
            ExpressionError: the values do not fit the expression.
        """
        with np.errstate(all="ignore"):
            value = self._term(flight)
        return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)

    def _root(self, tree: ast.expr) -> Term:
        """Evaluates the whole expression."""
        return self._compiled(tree)

    def _compiled(self, node: ast.expr) -> Term:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            number = np.float64(node.value)  # type: ignore[arg-type]
            return lambda flight: number
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self._component(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return self._applied(node, _UNARY[type(node.op)], [self._compiled(node.operand)])
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return self._applied(node, _BINARY[type(node.op)], [self._compiled(node.left), self._compiled(node.right)])
        if isinstance(node, ast.BoolOp):
            logical = _LOGICAL[type(node.op)]
            return self._applied(
                node, lambda *values: _as_number(reduce(logical, values)), list(map(self._compiled, node.values))
            )
        if isinstance(node, ast.Compare) and all(type(one) in COMPARISONS for one in node.ops):
            compared = [COMPARISONS[type(one)] for one in node.ops]

            def compare(*values: Any) -> Any:
                pairs = zip(compared, itertools.pairwise(values), strict=True)
                return _as_number(reduce(np.logical_and, [holds(*pair) for holds, pair in pairs]))

            return self._applied(node, compare, list(map(self._compiled, [node.left, *node.comparators])))
        raise self._refuse(node, f"numbers, names, components, functions, {_OPERATORS}")

    def _name(self, node: ast.expr) -> Term:
        name = ast.unparse(node)
        if name in self._names:
            return operator.itemgetter(name)
        group = name.rpartition(".")[0]
        similar = sorted(one for one in self._names if group and one.rpartition(".")[0] == group)
        groups = {one.rpartition(".")[0] + ".*" if "." in one else one for one in self._names}
        raise self._refuse(node, ", ".join(similar or sorted(groups)) + _hint(name, self._names))

    def _component(self, node: ast.Subscript) -> Term:
        index = node.slice
        if not isinstance(index, ast.Constant) or type(index.value) is not int:
            raise self._refuse(index, "the number of a component, from 0")
        number = index.value

        def component(value: Any) -> Any:
            vector = _vector(value)
            if number >= len(vector):
                raise ValueError(f"component {number} given; allowed: 0 to {len(vector) - 1}")
            return vector[number]

        return self._applied(node, component, [self._compiled(node.value)])

    def _call(self, node: ast.Call) -> Term:
        name = ast.unparse(node.func)
        if name not in FUNCTIONS:
            raise self._refuse(node.func, ", ".join(FUNCTIONS) + _hint(name, FUNCTIONS))
        function = FUNCTIONS[name]
        if node.keywords or not function.least <= len(node.args) <= function.most:
            raise self._refuse(node, function.call)
        terms = [self._compiled(one) for one in node.args]
        if name == "duration":
            terms.append(operator.itemgetter(self._time_of(node)))
        return self._applied(node, function.apply, terms)

    def _time_of(self, node: ast.expr) -> str:
        """Name of the time of the first vehicle named in a part of the expression."""
        for one in ast.walk(node):
            vehicle = ast.unparse(one).partition(".")[0] if isinstance(one, ast.Attribute) else ""
            if f"{vehicle}.{TIME}" in self._names:
                return f"{vehicle}.{TIME}"
        return TIME

    def _applied(self, node: ast.expr, function: Callable[..., Any], terms: Sequence[Term]) -> Term:
        """Function of the values of other terms, for the part of the expression in a node."""

        def value(flight: Mapping[str, Any]) -> Any:
            values = [term(flight) for term in terms]
            try:
                return function(*values)
            except (ValueError, TypeError, IndexError) as error:
                raise ExpressionError(f"{self._place(node)}: {error}") from error

        return value

    def _place(self, node: ast.expr) -> str:
        return f"'{self.text}', column {node.col_offset + 1}"

    def _refuse(self, node: ast.expr, allowed: str) -> ExpressionError:
        return ExpressionError(f"{self._place(node)}: {ast.unparse(node)} given; allowed: {allowed}")


def values_of(log: StateLog, summary: KeyFigures) -> dict[str, Any]:
    """Values of the names in expressions, for one flight.

    Args:
        log: log of the mission (`series_of`).
        summary: summary of the mission by its judge.
    """
    figures = {f"judge.{name}": float(getattr(summary, name)) for name in figures_of(type(summary))}
    return series_of(log) | figures


def figures_of(summary: type[KeyFigures]) -> list[str]:
    """Names of the numbers and truth values of a summary, without those that it may lack, such as the wall time."""
    return [one.name for one in fields(summary) if one.type in ("float", "bool", float, bool)]


def series_of(log: StateLog) -> dict[str, Array]:
    """Vectors and series of a log.

    Names ending in `_ned`, `_body`, `_velocity`, `.quaternion`, `.euler` and `.command` are vectors, shape (components,
    rows); the others are series, shape (rows,). Topics of an autopilot are in a FlightLog only.
    """
    series = {
        TIME: log.time_s,
        "truth_state.position_ned": log.position_ned.T,
        "truth_state.quaternion": log.truth[:, 3:7].T,
        "truth_state.velocity_body": log.velocity_body.T,
        "truth_state.velocity_ned": log.velocity_ned.T,
        "truth_state.angular_velocity": log.truth[:, 10:13].T,
        "truth_state.euler": log.euler.T,
        "truth_wind.velocity_ned": log.flow_ned.T,
        "pwm_output.command": log.actuator_commands.T,
    }
    if isinstance(log, FlightLog):
        series |= {
            "setpoint.position_ned": log.setpoint_ned.T,
            "truth_battery.voltage": log.battery_voltage,
            "truth_battery.current": log.battery_current,
            "status.error_code": log.error_code,
            "phase": log.phase.astype(np.float64),
        }
    return series
