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
    parts = (line.strip().partition(": ") for line in lines)
    return write_report(folder, sweep, [(name, text) for name, _, text in parts])
