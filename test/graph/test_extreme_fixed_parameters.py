"""Parameters that are fixed at the start, at the ends of their ranges: a refusal that names them, or steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from extreme_values import filled, numbers

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, Value
from test.graph.extreme_subject import GRAPHS, SETTINGS, Subject

pytestmark = pytest.mark.timeout(600)

TOGETHER = 5
"""Parameters that a graph is started with at once."""

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
    for end in ("minimum", "maximum"):
        for chunk in chunks(parameters, TOGETHER):
            given = {one.name: filled(one, one.default, lambda one=one, end=end: getattr(one, end)) for one in chunk}
            started += start(graph, given)
    TRIED.update(one.name for one in parameters)
    assert started or not parameters


def start(graph: str, given: dict[str, Value]) -> int:
    """Start a graph with these values, without those that are refused; return the number of the accepted ones."""
    while given:
        with ExitStack() as closing:
            try:
                subject = Subject(graph, closing, {**SETTINGS, **given})
            except ParameterError as error:
                # The text names several parameters if they do not fit together; the last one is left out.
                named = [name for name in given if name in str(error)]
                assert named, f"{given}: {error}"
                del given[named[-1]]
                continue
            try:
                subject.goes_on(1)
            finally:
                subject.graph.close()
        return len(given)
    return 0


def chunks(parameters: list[Parameter], size: int) -> Iterator[list[Parameter]]:
    """Lists of at most so many parameters."""
    for first in range(0, len(parameters), size):
        yield parameters[first : first + size]
