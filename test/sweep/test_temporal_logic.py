"""Robustness of properties against their definition, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosflight_py_sim.sweep.expressions import Expression, ExpressionError
from rosflight_py_sim.sweep.temporal_logic import Property

SERIES = ("truth_state.a", "truth_state.b")

# Robustness of a row, from the times and the two series.
Definition = Callable[[int, Sequence[float], dict[str, Sequence[float]]], float]


class Formula(NamedTuple):
    """A formula as text, and its robustness by the definition."""

    text: str
    robustness: Definition


def compared(name: str, sign: str, limit: float) -> Formula:
    factor = 1.0 if sign in ("<", "<=") else -1.0
    return Formula(f"{name} {sign} {limit!r}", lambda row, times, series: factor * (limit - series[name][row]))


def rows_between(row: int, times: Sequence[float], span: tuple[float, float] | None) -> list[int]:
    least, most = span or (0.0, math.inf)
    return [k for k in range(row, len(times)) if least <= round(times[k] - times[row], 9) <= most]


def bounds(span: tuple[float, float] | None) -> str:
    return "" if span is None else f"[{span[0]!r}, {span[1]!r}]"


def always(one: Formula, span: tuple[float, float] | None) -> Formula:
    def robustness(row: int, times: Sequence[float], series: dict[str, Sequence[float]]) -> float:
        return min((one.robustness(k, times, series) for k in rows_between(row, times, span)), default=math.inf)

    return Formula(f"always{bounds(span)}({one.text})", robustness)


def eventually(one: Formula, span: tuple[float, float] | None) -> Formula:
    def robustness(row: int, times: Sequence[float], series: dict[str, Sequence[float]]) -> float:
        return max((one.robustness(k, times, series) for k in rows_between(row, times, span)), default=-math.inf)

    return Formula(f"eventually{bounds(span)}({one.text})", robustness)


def until(one: Formula, other: Formula, span: tuple[float, float] | None) -> Formula:
    def robustness(row: int, times: Sequence[float], series: dict[str, Sequence[float]]) -> float:
        return max(
            (
                min(
                    other.robustness(k, times, series),
                    *(one.robustness(before, times, series) for before in range(row, k + 1)),
                )
                for k in rows_between(row, times, span)
            ),
            default=-math.inf,
        )

    return Formula(f"until{bounds(span)}({one.text}, {other.text})", robustness)


def joined(one: Formula, word: str, other: Formula) -> Formula:
    choose = min if word == "and" else max
    return Formula(
        f"({one.text} {word} {other.text})", lambda *given: choose(one.robustness(*given), other.robustness(*given))
    )


def implied(one: Formula, other: Formula) -> Formula:
    return Formula(
        f"implies({one.text}, {other.text})",
        lambda *given: max(-one.robustness(*given), other.robustness(*given)),
    )


def negated(one: Formula) -> Formula:
    return Formula(f"not ({one.text})", lambda *given: -one.robustness(*given))


numbers = st.integers(-5, 5).map(float)
spans = st.none() | st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda pair: (min(pair) / 2, max(pair) / 2))
atoms = st.builds(compared, st.sampled_from(SERIES), st.sampled_from(["<", "<=", ">", ">="]), numbers)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(always, inner, spans),
        st.builds(eventually, inner, spans),
        st.builds(until, inner, inner, spans),
        st.builds(joined, inner, st.sampled_from(["and", "or"]), inner),
        st.builds(implied, inner, inner),
        st.builds(negated, inner),
    ),
    max_leaves=6,
)


@given(
    inner=formulas,
    span=spans,
    gaps=st.lists(st.integers(1, 4), max_size=11),
    values=st.lists(st.tuples(numbers, numbers), min_size=12, max_size=12),
)
def test_robustness_equals_its_definition_at_uneven_times(
    inner: Formula, span: tuple[float, float] | None, gaps: list[int], values: list[tuple[float, float]]
) -> None:
    formula = always(inner, span)
    times = np.cumsum([0.0, *(0.25 * gap for gap in gaps)])
    series = {name: [pair[k] for pair in values[: len(times)]] for k, name in enumerate(SERIES)}
    flight: dict[str, Any] = {"time": times, **{name: np.array(one) for name, one in series.items()}}
    # Sums and differences of small multiples of a quarter are exact.
    assert Property(formula.text, flight, {}).value(flight) == formula.robustness(0, times.tolist(), series)


FLIGHT: dict[str, Any] = {
    "time": np.array([0.0, 1.0, 2.0, 3.0]),
    "truth_state.a": np.array([0.0, 3.0, 1.0, 0.5]),
    "judge.error": 0.2,
}


@pytest.mark.parametrize(
    ("text", "robustness"),
    [
        ("judge.error < 0.5", 0.3),
        ("0 < judge.error < 0.5", 0.2),
        ("judge.error == 0.5", -0.3),
        ("judge.error != 0.5", 0.3),
        ("not judge.error < 0.5", -0.3),
        ("implies(judge.error > 0.5, judge.error < 0)", 0.3),
        ("max(truth_state.a) < 2", -1.0),
        ("duration(truth_state.a > 2) < 2", 1.0),
        ("always(truth_state.a < 2)", -1.0),
        ("always(a < 2)", -1.0),
        ("always[2, 3](truth_state.a < 2)", 1.0),
        ("always(implies(truth_state.a > 2, eventually[0, 1](truth_state.a < 1.5)))", 0.5),
        ("always(implies(truth_state.a > 2, eventually[0, 0.5](truth_state.a < 1.5)))", -1.0),
        ("eventually[10, 20](truth_state.a < 2)", -math.inf),
        ("always[10, 20](truth_state.a < 2)", math.inf),
        ("until(truth_state.a < 4, truth_state.a > 2)", 1.0),
        ("judge.error < 0.5 and always(truth_state.a < 2)", -1.0),
        ("judge.error < 0.5 or always(truth_state.a < 2)", 0.3),
        ("greatest < 2", -1.0),
    ],
)
def test_robustness_of_a_flight(text: str, robustness: float) -> None:
    defined = {
        name: Expression(one, FLIGHT) for name, one in {"a": "truth_state.a", "greatest": "max(truth_state.a)"}.items()
    }
    assert Property(text, FLIGHT, defined).value(FLIGHT) == pytest.approx(robustness, abs=1e-12)


def test_flight_without_rows_keeps_always_and_breaks_eventually() -> None:
    empty = {**FLIGHT, "time": np.zeros(0), "truth_state.a": np.zeros(0)}
    assert Property("always(truth_state.a < 2)", empty, {}).value(empty) == math.inf
    assert Property("eventually(truth_state.a < 2)", empty, {}).value(empty) == -math.inf


def test_property_without_value_is_not_a_number() -> None:
    flight = {**FLIGHT, "judge.error": math.nan}
    assert math.isnan(Property("judge.error < 1 and always(truth_state.a < 5)", flight, {}).value(flight))


CONDITIONS = "allowed: a condition: a comparison, and, or, not, implies"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("truth_state.a", rf"column 1: truth_state.a given; {CONDITIONS}"),
        ("always(truth_state.a)", rf"column 8: truth_state.a given; {CONDITIONS}"),
        ("always(1 < 2) + 1 > 0", r"column 1: always given; allowed: abs, sqrt"),
        ("truth_state.a < 2", r"column 1: a series given; allowed: a number; a series only within always"),
        ("always(truth_state.a < 2, 3 < 4)", r"allowed: always of a condition"),
        ("until(truth_state.a < 2)", r"allowed: until of two conditions"),
        ("implies(1 < 2)", r"allowed: implies of two conditions"),
        ("always[2, 1](truth_state.a < 2)", r"always\[2, 1\] given; allowed: two times in s from now on, the earlier"),
        ("always[1](truth_state.a < 2)", r"always\[1\] given; allowed: two times"),
        ("always[-1, 2](truth_state.a < 2)", r"always\[-1, 2\] given; allowed: two times"),
        ("allways(truth_state.a < 2)", rf"column 1: allways\(truth_state.a < 2\) given; {CONDITIONS}"),
        ("always(truth_state.c < 2)", r"column 8: truth_state.c given; allowed: truth_state.a"),
        ("always(truth_state.a <", r"not an expression"),
    ],
)
def test_wrong_property_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        Property(text, FLIGHT, {}).value(FLIGHT)
