"""Report page of a search: that of a sweep, with the findings as result, and without statistics of a sample."""

from __future__ import annotations

from pathlib import Path

from rosflight_py_sim.search.execution import Findings, read_property
from rosflight_py_sim.search.summary import summary
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.report import write_report


def write_search_report(folder: Path, sweep: Sweep, findings: Findings) -> Path:
    """Write the page about a complete search beside its table, and return its path.

    Raises:
        FileNotFoundError: the folder has no complete table.
    """
    lines = summary(sweep, read_property(sweep), findings).splitlines()
    return write_report(folder, sweep, [_row(line) for line in lines])


def _row(line: str) -> tuple[str, str]:
    """Name and text of a line of the summary; an indented one is a quantity of the smallest failing case."""
    name, colon, text = line.strip().partition(": ")
    if colon:
        return name, text
    if line.startswith(" "):
        name, _, text = name.partition(" ")
        return name, text.strip()
    return "", line.rstrip(":")
