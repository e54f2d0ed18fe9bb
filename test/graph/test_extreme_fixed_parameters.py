"""Parameters that are fixed at the start, at the ends of their ranges: a refusal that names them, or steps."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from pathlib import Path

import pytest
from extreme_values import filled, numbers

from rosflight_py_sim.parameters import Parameter, ParameterError
from test.graph.extreme_subject import GRAPHS, SETTINGS, Subject

pytestmark = pytest.mark.timeout(600)

TRIED: set[str] = set()
"""Names of the parameters that an earlier graph had; it is enough to start one graph with each value."""


def fixed_numbers(name: str) -> list[Parameter]:
    """Fixed numbers of a graph's nodes, except the ports, which tests must choose, and the pace."""
    with ExitStack() as closing:
        subject = Subject(name, closing)
        tables = [node.table for node in subject.nodes.values()]
        subject.graph.close()
    excluded = {*subject.ports.settings, "real_time_multiplier"}
    found = {one.name: one for table in tables for one in numbers(table) if one.read_only}
    return [one for one in found.values() if one.name not in excluded | TRIED]


@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize("graph", GRAPHS)
def test_each_fixed_parameter_at_the_ends_of_its_range(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parameters = fixed_numbers(graph)
    started = 0
    for parameter, end in itertools.product(parameters, ("minimum", "maximum")):
        number = getattr(parameter, end)
        value = filled(parameter, parameter.default, lambda n=number: n)
        with ExitStack() as closing:
            try:
                subject = Subject(graph, closing, {**SETTINGS, parameter.name: value})
            except ParameterError as error:
                # The text names several parameters if they do not fit together.
                assert parameter.name in str(error), f"{parameter.name} = {number}: {error}"
                continue
            try:
                subject.goes_on(1)
                started += 1
            finally:
                subject.graph.close()
    TRIED.update(one.name for one in parameters)
    assert started or not parameters
