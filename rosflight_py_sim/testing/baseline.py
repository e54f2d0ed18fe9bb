"""Comparison of flights with those of a baseline file."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

from rich.console import Console
from rich.table import Table

from rosflight_py_sim.graph.run_description import versions
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.jit import COMPILED
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.fly_run import sources_of
from rosflight_py_sim.sweep.pipeline_flight import step_size_s
from rosflight_py_sim.testing.baseline_file import Baseline, RecordedFlight
from rosflight_py_sim.testing.flight import fly, prepared
from rosflight_py_sim.testing.flight_trace import FirstDifference, FlightTracer

COMPLETED = "completed"
"""Outcome of a flight whose missions were all completed."""


def all_versions() -> dict[str, str]:
    """Versions of what the hashes depend on."""
    return versions() | {
        "numba": version("numba") if find_spec("numba") is not None else "none",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
        "kernels": "compiled" if COMPILED else "plain Python",
    }


@dataclass(frozen=True)
class Comparison:
    """A flight and its recorded one.

    Attributes:
        name: name of the flight.
        recorded: the recorded flight; None if there is none.
        now: the flight.
        difference: first difference of the messages; None if there is none.
        step: number of its step, from 0.
    """

    name: str
    recorded: RecordedFlight | None
    now: RecordedFlight
    difference: FirstDifference | None = None
    step: int = 0

    def is_accepted(self, tolerance: float | None) -> bool:
        """Whether the messages are equal, or outcome and measures are within a tolerance."""
        if self.recorded is None:
            return False
        if self.difference is None and not self.changes(0.0):
            return self.recorded.outcome == self.now.outcome
        if tolerance is None:
            return False
        both_completed = (self.recorded.outcome == COMPLETED) == (self.now.outcome == COMPLETED)
        return both_completed and not self.changes(tolerance)

    def changes(self, tolerance: float) -> dict[str, tuple[float, float]]:
        """Recorded and present value of each measure that has changed by more than a tolerance."""
        assert self.recorded is not None
        old, new = self.recorded.measures, self.now.measures
        names = dict.fromkeys([*old, *new])
        pairs = {name: (old.get(name, math.nan), new.get(name, math.nan)) for name in names}
        return {name: pair for name, pair in pairs.items() if not _is_within(*pair, tolerance)}


def compared(name: str, sweep: Sweep, recorded: RecordedFlight | None) -> Comparison:
    """Fly a flight without ROS, and compare it with the recorded one.

    Raises:
        ParameterError: the flight runs only in the node graph, or a parameter is not allowed.
    """
    tracer = FlightTracer()
    flight = fly(prepared(sweep), observe=tracer.observe)
    flown, scenario = flight.flown, flight.scenario
    measures = {one: float(value) for one, value in flown.names.items() if "judge." in one}
    for one in sweep.measures:
        measures[one.name] = float(flown.value(one.expression)) if flown.names else math.nan
    now = RecordedFlight("; ".join(flown.reasons) or COMPLETED, flown.end_s, measures, tracer.finish())
    if recorded is None:
        return Comparison(name, None, now)
    difference = tracer.first_difference(recorded.trace)
    step_ns = round(step_size_s(scenario.time_manager, sources_of(scenario)) * NANOSECONDS)
    step = 0 if difference is None else round(difference.time_ns / step_ns)
    return Comparison(name, recorded, now, difference, step)


def compare(baseline: Baseline) -> Iterator[Comparison]:
    """Fly the flights of a baseline one after the other."""
    for name, sweep in baseline.flights.items():
        yield compared(name, sweep, baseline.recorded.get(name))


def print_comparison(one: Comparison, tolerance: float | None, console: Console) -> None:
    """Print a line for an unchanged flight; otherwise the first difference and a table of the changed measures."""

    def line(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    if one.recorded is None:
        line(f"{one.name}: not recorded; hash {one.now.trace.digest}")
        return
    if one.difference is None and one.is_accepted(None):
        line(f"{one.name}: equal; hash {one.now.trace.digest}")
        return
    is_accepted = one.is_accepted(tolerance)
    line(f"{one.name}: {f'within the tolerance of {tolerance:g}' if is_accepted else 'changed'}")
    if one.difference is not None:
        line(f"  first difference: step {one.step}, {one.difference}")
    if one.recorded.outcome != one.now.outcome:
        line(f"  outcome: {one.recorded.outcome} recorded, {one.now.outcome} now")
    changes = one.changes(0.0 if tolerance is None or is_accepted else tolerance)
    if not changes:
        line("  no measure has changed")
        return
    if is_accepted:
        name, (old, new) = max(changes.items(), key=lambda change: _relative(*change[1]))
        line(f"  largest change: {name} by {new - old:+.3g}, from {old:.8g}")
        return
    table = Table("measure", "recorded", "now", "change")
    for name, (old, new) in changes.items():
        table.add_row(name, f"{old:.8g}", f"{new:.8g}", f"{new - old:+.3g}")
    console.print(table)


def changed_versions(recorded: Mapping[str, str]) -> Iterator[str]:
    """Line for each version that differs from the recorded one."""
    for name, now in all_versions().items():
        if recorded and recorded.get(name, "unknown") != now:
            yield f"recorded with {name} {recorded.get(name, 'unknown')}, now {now}: hashes may differ"


def _is_within(old: float, new: float, tolerance: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    return old == new or _relative(old, new) <= tolerance


def _relative(old: float, new: float) -> float:
    """Change relative to the old value, or to 1 if that is smaller."""
    return abs(new - old) / max(1.0, abs(old))
