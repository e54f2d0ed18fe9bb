"""Findings of a search in words: the smallest failing case, and by how much it breaks the property."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rosflight_py_sim.ground.parameters import Scalar
from rosflight_py_sim.search.execution import Findings
from rosflight_py_sim.sweep.definition import Measure, Quantity, Row, Sweep


def summary(sweep: Sweep, measure: Measure, findings: Findings) -> str:
    """The findings as text, of several lines."""
    return "\n".join(_lines(sweep, measure, findings))


def case_in_words(sweep: Sweep, row: Row) -> str:
    """The values of a flight that differ from the nominal ones, on one line."""
    away = [one for one in sweep.quantities if row.run.values[one.key] != sweep.nominal[one.key]]
    return ", ".join(f"{one.key} {_text(one, row.run.values[one.key])}" for one in away) or "nominal values"


def _lines(sweep: Sweep, measure: Measure, findings: Findings) -> Iterator[str]:
    yield f"property: {measure.expression}"
    nominal, smallest = findings.nominal, findings.smallest
    if smallest is None or findings.found is None or nominal is None:
        end = "" if findings.is_complete else " so far"
        yield f"no flight of {findings.flights} breaks it{end}"
        least = findings.least or nominal
        if least is not None:
            case = case_in_words(sweep, least)
            yield f"least robustness: {_robustness(measure, least)}, flight {least.run.number}: {case}"
        return
    if smallest is nominal:
        yield "the flight with the nominal values breaks it"
    else:
        further = findings.flights - findings.searched
        yield f"broken after {findings.searched} flights, by flight {findings.found.run.number}"
        which = "smallest failing case" if findings.is_complete else "smallest failing case so far"
        yield f"{which}, flight {smallest.run.number}, after {further} further flights:"
        yield from _table(sweep, smallest)
    robustness = [("at the nominal values", nominal)]
    if smallest is not nominal:
        robustness += [(f"in flight {findings.found.run.number}", findings.found)]
        robustness += [("in the smallest failing case", smallest)]
    yield "robustness: " + ", ".join(f"{_robustness(measure, row)} {where}" for where, row in robustness)
    yield f"outcome: {smallest.reason}"


def _table(sweep: Sweep, row: Row) -> Iterator[str]:
    values, nominal = row.run.values, sweep.nominal
    away = [one for one in sweep.quantities if values[one.key] != nominal[one.key]]
    width = max((len(one.key) for one in away), default=0)
    for one in away:
        yield f"  {one.key:<{width}}  {_text(one, values[one.key])} (nominal {_text(one, nominal[one.key])})"
    rest = [one.key for one in sweep.quantities if one not in away]
    if rest:
        yield f"  nominal: {', '.join(rest)}"


def _text(one: Quantity, value: Scalar) -> str:
    text = f"{value:.6g}" if type(value) is float else one.parameter.text_of(value)
    return f"{text} {one.parameter.unit}".rstrip()


def _robustness(measure: Measure, row: Row) -> str:
    value = row.measures.get(measure.name, math.nan)
    return "no value" if math.isnan(value) else f"{value:.4g}"
