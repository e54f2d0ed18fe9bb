"""Report page of a sweep: results, distributions, sensitivities, maps, and the commands that fly runs again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from rosflight_py_sim import __version__
from rosflight_py_sim.sweep.definition import Sweep
from rosflight_py_sim.sweep.factors import Array, Factor, factors_of, spans_magnitudes
from rosflight_py_sim.sweep.failure_kinds import failure_kinds
from rosflight_py_sim.sweep.pictures import (
    Mask,
    Runs,
    draw_against,
    draw_bands,
    draw_histogram,
    draw_map,
    draw_quantiles,
    draw_sensitivity,
    with_titles,
)
from rosflight_py_sim.sweep.sensitivity import Index, sensitivity
from rosflight_py_sim.sweep.store import TABLE
from rosflight_py_sim.sweep.table import REASON, RUN, SUCCEEDED
from rosflight_py_sim.viewer.html_page import html_page
from rosflight_py_sim.viewer.picture_page import svg_figure, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPORT = "report.html"
"""Report page, in the folder of a sweep."""

CONFIDENCE = 0.95
_STATISTICS = ("mean", "95 % interval", "std", "least", "5 %", "median", "95 %", "greatest", "missing")

_MOST_FAILED, _MOST_KINDS = 300, 12
# Factors of a measure that are drawn: those with the greatest indices.
_MOST_FACTORS = 4


@dataclass(frozen=True)
class Figure:
    """A plot of the page: title, SVG, and a note below."""

    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True)
class ReportSection:
    """Plots under a common title."""

    title: str
    pictures: list[Figure]


@dataclass(frozen=True)
class MeasureRow:
    """Row of the table of measures: texts of `_STATISTICS`, each with the number of the run that it belongs to."""

    name: str
    expression: str
    cells: list[tuple[str, int | None]]


@dataclass(frozen=True)
class FailedRow:
    """Row of the table of failed runs."""

    run: int
    inputs: list[str]
    reason: str
    command: str


def write_report(folder: Path, sweep: Sweep, found: Sequence[tuple[str, str]] = ()) -> Path:
    """Write the page about the complete table of a sweep, or of a search, beside it, and return its path.

    Args:
        folder: folder of the table.
        sweep: the sweep.
        found: names and texts of what a search has found; empty for a sweep.

    Raises:
        FileNotFoundError: the folder has no complete table.
    """
    table = pq.read_table(folder / TABLE, partitioning=None)
    texts = table.schema.metadata or {}
    page = folder / REPORT
    report = _Report(sweep, table.to_pandas(), texts.get(b"sweep_file", b"").decode(), found)
    page.write_text(report.page(), encoding="utf-8")
    return page


class _Report:
    def __init__(self, sweep: Sweep, table: pd.DataFrame, sweep_file: str, found: Sequence[tuple[str, str]]) -> None:
        self._sweep, self._table, self._sweep_file = sweep, table, sweep_file
        # The flights of a search are no sample of the distributions.
        self._found, self._is_sample = found, not found
        self._factors = factors_of(sweep, table)
        self._runs: Runs = table[RUN].to_numpy(np.int64)
        self._succeeded: Mask = table[SUCCEEDED].to_numpy(np.bool_)
        self._is_grid = any(factor.is_grid for factor in self._factors)

    def page(self) -> str:
        """The page as HTML."""
        table, failed = self._table, self._table[~self._succeeded]
        sweep = self._sweep
        return html_page(
            "sweep/report.html",
            title=sweep.description,
            facts=[str(sweep.file), f"{len(table):,} runs", f"seed {sweep.seed}", f"digest {sweep.digest[:12]}"],
            result=self._found or list(self._result()),
            kinds=failure_kinds(failed[RUN].tolist(), failed[REASON].tolist())[:_MOST_KINDS],
            statistics=_STATISTICS,
            measures=[self._measure_row(one.name, one.expression) for one in sweep.measures],
            sections=[one for one in self._sections() if one.pictures],
            inputs=[factor.label for factor in self._factors],
            failed=[self._failed_row(int(row)) for row in np.flatnonzero(~self._succeeded)[:_MOST_FAILED]],
            left_out=max(len(failed) - _MOST_FAILED, 0),
            sweep_file=self._sweep_file,
            command=self._command("RUN"),
            texts=self._texts,
            version=__version__,
        )

    def _result(self) -> Iterator[tuple[str, str]]:
        done, count = int(self._succeeded.sum()), len(self._table)
        share = f"{done:,} of {count:,} runs ({100.0 * done / count:.4g} %)"
        yield "succeeded", share
        if not self._is_grid:
            low, high = interval_of_rate(done, count)
            yield "success rate, 95 % interval", f"{100.0 * low:.4g} % to {100.0 * high:.4g} %"
        planned, stop = self._sweep.runs, self._sweep.stop
        if stop is not None:
            rule = f"{100.0 * stop.confidence:g} % interval of the mean of {stop.measure} within ±{stop.half_width:g}"
            reached = f"after {count:,} of {planned:,} runs" if count < planned else f"not before run {planned:,}"
            yield "stop rule", f"{rule}: {reached}"
        yield "inputs", ", ".join(factor.label for factor in self._factors) or "none"

    def _sections(self) -> Iterator[ReportSection]:
        measures = self._sweep.measures
        axes = [factor for factor in self._factors if factor.is_grid] or self._factors
        if len(axes) == 2 and not any(factor.choices for factor in axes):
            yield ReportSection("Maps", [self._map(one.name, *reversed(axes)) for one in measures])
        only = axes[0] if len(axes) == 1 else None
        if only is not None:
            yield ReportSection(
                f"Measures over {only.name}", [self._against(one.name, only, one.name) for one in measures]
            )
        yield ReportSection("Trajectories", [self._bands(one.name, one.period_s, only) for one in self._sweep.signals])
        for one in measures:
            yield ReportSection(one.name, list(self._measure_pictures(one.name)))
        yield ReportSection("Inputs, with failed runs in orange", list(self._input_pictures()))

    def _map(self, name: str, x: Factor, y: Factor) -> Figure:
        def draw(axes: Axes) -> None:
            draw_map(axes, x, y, name, self._values(name), self._runs, self._succeeded)

        note = "Mean of the succeeded runs of each point, linear between the points. Orange crosses: points with failed"
        return self._picture(name, draw, (7.6, 5.8), f"{note} runs, larger with more of them.")

    def _bands(self, name: str, period_s: float, factor: Factor | None) -> Figure:
        signals = self._table[name].tolist()

        def draw(axes: Axes) -> None:
            draw_bands(axes, signals, period_s, self._runs, self._succeeded, factor)
            axes.set_ylabel(name)

        note = "Median, 25 to 75 % and 5 to 95 % of the succeeded runs in flight. Orange: failed runs."
        return self._picture(name, draw, (7.6, 4.2), note)

    def _measure_pictures(self, name: str) -> Iterator[Figure]:
        values = np.where(self._succeeded, self._values(name), np.nan)
        if not np.isfinite(values).any():
            return

        def draw(axes: Axes) -> None:
            draw_histogram(axes, values, self._succeeded)
            draw_quantiles(axes, values)
            axes.set_xlabel(name)

        yield self._picture("Distribution", draw)
        is_logarithmic = spans_magnitudes(values)
        indices = self._sensitivities(np.log10(values) if is_logarithmic else values)
        if indices:
            yield self._sensitivity(indices, "Sensitivity of the logarithm" if is_logarithmic else "Sensitivity")
        if len(self._factors) > 1:
            chosen = [index.name for index in indices] or [factor.name for factor in self._factors]
            for factor in sorted(self._factors, key=lambda one: chosen.index(one.name))[:_MOST_FACTORS]:
                yield self._against(name, factor, f"{name} over {factor.name}")

    def _input_pictures(self) -> Iterator[Figure]:
        indices = self._sensitivities(self._succeeded.astype(np.float64))
        if indices:
            yield self._sensitivity(indices, "Sensitivity of success")
        yield from map(self._input, self._factors)

    def _sensitivities(self, values: Array) -> Sequence[Index]:
        return sensitivity(self._factors, values) if self._is_sample else []

    def _sensitivity(self, indices: Sequence[Index], title: str) -> Figure:
        rest = 1.0 - sum(max(index.share, 0.0) for index in indices)
        note = (
            "First-order Sobol' indices by RBD-FAST, with 95 % intervals. The rest, "
            f"{100.0 * max(rest, 0.0):.0f} % of the variance, comes from interactions and from turbulence and noise."
        )
        size = 7.6, max(1.2 + 0.36 * len(indices), 2.4)
        return self._picture(title, lambda axes: draw_sensitivity(axes, indices), size, note)

    def _against(self, name: str, factor: Factor, title: str) -> Figure:
        def draw(axes: Axes) -> None:
            draw_against(axes, factor, self._values(name), self._runs, self._succeeded)
            axes.set_ylabel(name)

        return self._picture(title, draw, (7.6, 3.6))

    def _input(self, factor: Factor) -> Figure:
        def draw(axes: Axes) -> None:
            draw_histogram(axes, factor.values, self._succeeded, factor)
            axes.set_xlabel(factor.label)

        return self._picture(factor.name, draw)

    def _picture(
        self, title: str, draw: Callable[[Axes], None], size: tuple[float, float] = (7.6, 3.2), note: str = ""
    ) -> Figure:
        with svg_figure(*size) as figure:
            draw(figure.add_subplot())
            return Figure(title, with_titles(svg_of(figure), self._tips), note)

    def _measure_row(self, name: str, expression: str) -> MeasureRow:
        values = self._values(name)
        rows = np.flatnonzero(self._succeeded & np.isfinite(values))
        missing = str(int(self._succeeded.sum()) - len(rows))
        if not len(rows):
            return MeasureRow(name, expression, [*[("", None)] * (len(_STATISTICS) - 1), (missing, None)])
        known = values[rows]
        least, greatest = rows[np.argmin(known)], rows[np.argmax(known)]
        low, median, high = np.percentile(known, [5.0, 50.0, 95.0])
        cells: list[tuple[str, int | None]] = [
            (f"{known.mean():.4g}", None),
            (_interval(known), None),
            (f"{known.std(ddof=1):.3g}" if len(known) > 1 else "", None),
            (f"{values[least]:.4g}", int(self._runs[least])),
            *((f"{value:.4g}", None) for value in (low, median, high)),
            (f"{values[greatest]:.4g}", int(self._runs[greatest])),
            (missing, None),
        ]
        return MeasureRow(name, expression, cells)

    def _failed_row(self, row: int) -> FailedRow:
        run = int(self._runs[row])
        inputs = [factor.text(factor.values[row]) for factor in self._factors]
        return FailedRow(run, inputs, str(self._table[REASON].iloc[row]), self._command(str(run)))

    def _values(self, name: str) -> Array:
        return self._table[name].to_numpy(np.float64)

    @cached_property
    def _texts(self) -> dict[int, str]:
        """Inputs and outcome of each run as text."""
        reasons = self._table[REASON].tolist()
        measures = {one.name: self._values(one.name) for one in self._sweep.measures}
        texts = {}
        for row, run in enumerate(self._runs.tolist()):
            parts = [f"{factor.name} {factor.text(factor.values[row])}" for factor in self._factors]
            if self._succeeded[row]:
                parts += [f"{name} {values[row]:.4g}" for name, values in measures.items()]
            else:
                parts.append(f"failed: {reasons[row]}")
            texts[run] = ", ".join(parts)
        return texts

    @cached_property
    def _tips(self) -> dict[int, str]:
        return {run: escape(f"run {run}: {text}\n{self._command(str(run))}") for run, text in self._texts.items()}

    def _command(self, run: str) -> str:
        """Command that flies a run again in the viewer."""
        command = "sweep" if self._is_sample else "search"
        return f"rosflight_py_sim {command} {shlex.quote(str(self._sweep.file))} --run {run} --view"


def interval_of_rate(done: int, count: int) -> tuple[float, float]:
    """Confidence interval of a success rate by Clopper and Pearson."""
    # Not scipy.stats, which takes a second to import.
    from scipy.special import betaincinv

    tail = 0.5 - CONFIDENCE / 2.0
    low = float(betaincinv(done, count - done + 1, tail)) if done > 0 else 0.0
    high = float(betaincinv(done + 1, count - done, 1.0 - tail)) if done < count else 1.0
    return low, high


def _interval(values: Array) -> str:
    """Confidence interval of the mean by Student's t, as text."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return ""
    half = float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2.0) * values.std(ddof=1) / np.sqrt(len(values)))
    return f"{values.mean() - half:.4g} to {values.mean() + half:.4g}"
