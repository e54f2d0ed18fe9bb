"""Execution of a search: flights generation by generation until one breaks the property, then smaller failing cases."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.search.proposals import Proposals
from rosflight_py_sim.search.shrinking import Shrinking, Values
from rosflight_py_sim.sweep.definition import Measure, Row, Run, Sweep, run_of
from rosflight_py_sim.sweep.distributions import Grid
from rosflight_py_sim.sweep.execution import flown, started_workers
from rosflight_py_sim.sweep.store import TABLE, Store, SweepError
from rosflight_py_sim.sweep.sweep_progress import SweepProgress
from rosflight_py_sim.sweep.table import REASON, RUN, SEED, SUCCEEDED
from rosflight_py_sim.sweep.workers import Fly, Job, Workers


@dataclass
class Findings:
    """What a search has found so far.

    Attributes:
        nominal: flight with the nominal values; None before it.
        least: flight of the least robustness among those with proposed values; None before the first.
        found: first flight that breaks the property, the most probable one of its generation; None if there is none.
        smallest: smallest failing case so far; None before the first failing one.
        searched: number of flights until `found`.
        flights: number of flights.
        is_complete: whether the search has ended.
    """

    nominal: Row | None = None
    least: Row | None = None
    found: Row | None = None
    smallest: Row | None = None
    searched: int = 0
    flights: int = 0
    is_complete: bool = False


def read_property(sweep: Sweep) -> Measure:
    """The property to break.

    Raises:
        ParameterError: the sweep file has none, or nothing that a search can vary.
    """
    if sweep.property is None:
        raise ParameterError(f"{sweep.file}: no property given; allowed: the key 'property', such as {_EXAMPLE}")
    grids = [one.key for one in sweep.quantities if isinstance(one.distribution, Grid)]
    if grids:
        raise ParameterError(
            f"{sweep.file}: '{grids[0]}' with a grid given; allowed in a search: uniform, log_uniform, normal, choice"
        )
    if all(len({*one.distribution.extremes}) == 1 for one in sweep.quantities):
        raise ParameterError(f"{sweep.file}: no distribution given; allowed: at least one quantity with a distribution")
    return sweep.property


_EXAMPLE = "always(norm(truth_state.position_ned - setpoint.position_ned) < 1)"


def searched_sweep(sweep: Sweep, *, seed: int | None = None, budget: int | None = None) -> Sweep:
    """The sweep with the seed and the largest number of flights of a search; its digest depends on them.

    Args:
        sweep: as read from its file.
        seed: root seed; None: that of the file.
        budget: largest number of flights until one breaks the property; None: the number of runs in the file.
    """
    chosen = replace(
        sweep, seed=sweep.seed if seed is None else seed, runs=sweep.runs if budget is None else budget, stop=None
    )
    text = f"{sweep.digest} search {chosen.seed} {chosen.runs}"
    return replace(chosen, digest=hashlib.sha256(text.encode()).hexdigest())


def default_folder(sweep: Sweep) -> Path:
    """Folder for the results of a search: named after its file, in the working directory."""
    return Path(f"{sweep.file.stem}.search")


def search(
    sweep: Sweep,
    folder: Path,
    fly: Fly,
    findings: Findings,
    *,
    digest: str,
    workers: int | None = None,
    ray: str | None = None,
    console: Console | None = None,
) -> Path:
    """Search for a flight that breaks the property, then for smaller failing cases.

    All flights have the same seed, so that they differ only in the values. The flights depend only on the sweep, not
    on the workers or on interruptions; those in the folder are not flown again.

    Args:
        sweep: as of `searched_sweep`.
        folder: folder for the results, which is created if necessary.
        fly: function that flies a run.
        findings: receives what is found, also before an interruption.
        digest: digest of the sweep file.
        workers: number of flights at a time; None: one per CPU.
        ray: address of a Ray cluster; None: processes on this machine.
        console: output for the progress.

    Returns:
        The table of all flights, a Parquet file.

    Raises:
        SweepError: the results cannot be stored, or no worker can fly; what is stored remains.
        ParameterError: the number of workers is not positive, or ray is not installed.
    """
    prepare_kernels()
    measure = read_property(sweep)
    with Store(folder, sweep) as store:
        job = Job(fly, sweep.file.absolute(), digest)
        flights = _Flights(sweep, measure, store, lambda: started_workers(job, sweep.runs, workers, ray))
        console = console or Console(stderr=True)
        flights.progress = _Progress(console, sweep.runs)
        with flights.progress:
            try:
                _search(sweep, flights, findings)
                findings.is_complete = True
            finally:
                findings.flights = len(flights.numbers)
                flights.close()
        if not store.is_complete:
            store.complete(findings.flights)
        return store.table


def stored_row(sweep: Sweep, folder: Path, number: int) -> Row:
    """A flight of a complete search, without measures and signals.

    Raises:
        SweepError: the folder holds no complete search, or the results of another one.
        ParameterError: the search has no flight of that number.
    """
    import pyarrow.parquet as pq

    if not (folder / TABLE).is_file():
        raise SweepError(f"'{folder}' holds no complete search; allowed: a folder in which a search has ended")
    with Store(folder, sweep) as store:
        cells = {one[RUN]: one for one in pq.read_table(store.table, partitioning=None).to_pylist()}
    if number not in cells:
        raise ParameterError(f"--run: flight {number} given; allowed: 0 to {len(cells) - 1}")
    one = cells[number]
    return Row(
        Run(number, one[SEED], {key: one[key] for key in sweep.nominal}), succeeded=one[SUCCEEDED], reason=one[REASON]
    )


def _search(sweep: Sweep, flights: _Flights, findings: Findings) -> None:
    nominal = flights.fly([sweep.nominal])[0]
    findings.nominal = nominal
    if flights.robustness(nominal) < 0.0:
        findings.found = findings.smallest = nominal
        findings.searched = 1
        return
    proposals = Proposals(sweep.quantities, sweep.seed)
    while findings.found is None and len(flights.numbers) < sweep.runs:
        generation = proposals.next()[: sweep.runs - len(flights.numbers)]
        rows = flights.fly([one.values for one in generation])
        findings.least = min([*filter(None, [findings.least]), *rows], key=flights.robustness)
        broken = [
            (one.distance, row.run.number, row)
            for one, row in zip(generation, rows, strict=True)
            if flights.robustness(row) < 0.0
        ]
        if broken:
            findings.found = findings.smallest = min(broken)[2]
            findings.searched = len(flights.numbers)
        elif len(flights.numbers) < sweep.runs:
            proposals.learn(list(zip(generation, map(flights.robustness, rows), strict=True)))
    if findings.found is not None:
        shrinking = Shrinking(sweep.quantities, sweep.nominal, flights.fly, flights.robustness)
        for row in shrinking.smaller(findings.found):
            findings.smallest = row


class _Flights:
    """Flights with chosen values, each flown once.

    Attributes:
        numbers: numbers of the flights by their values.
        progress: shows the number of flights.
    """

    progress: _Progress

    def __init__(self, sweep: Sweep, measure: Measure, store: Store, start: Callable[[], Workers]) -> None:
        self.numbers: dict[tuple[Any, ...], int] = {}
        self._sweep, self._measure, self._store = sweep, measure, store
        self._seed = run_of(sweep, 0).seed
        self._start = start
        self._pool: Workers | None = None
        self._stored: dict[int, dict[str, Any]] = {cells[RUN]: cells for cells in store.cells()}
        self._rows: dict[int, Row] = {}

    def fly(self, cases: Sequence[Values]) -> list[Row]:
        """Rows of flights with these values, in the same order."""
        keys = [tuple(case[one.key] for one in self._sweep.quantities) for case in cases]
        for key in keys:
            self.numbers.setdefault(key, len(self.numbers))
        new = {self.numbers[key]: case for key, case in zip(keys, cases, strict=True)}
        runs = [Run(number, self._seed, dict(case)) for number, case in new.items() if number not in self._rows]
        for run in runs:
            if run.number in self._stored:
                self._take(self._row(run, self._stored[run.number]))
        rest = [run for run in runs if run.number not in self._stored]
        if rest:
            self._pool = self._pool or self._start()
            for row in flown(self._pool, rest):
                if row is not None:
                    self._store.add(row)
                    self._take(row)
                else:
                    self._store.save_if_due()
                    self.progress.show_if_due()
        return [self._rows[self.numbers[key]] for key in keys]

    def robustness(self, row: Row) -> float:
        """Robustness of the property; minus infinite if it has no value, as in a flight that ends with an error."""
        value = row.measures.get(self._measure.name, math.nan)
        return -math.inf if math.isnan(value) else value

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()

    def _take(self, row: Row) -> None:
        self._rows[row.run.number] = row
        self.progress.add_flight(self.robustness(row))

    def _row(self, run: Run, cells: Mapping[str, Any]) -> Row:
        measures = {one.name: cells[one.name] for one in self._sweep.measures}
        return Row(run, cells[SUCCEEDED], cells[REASON], measures)


class _Progress(SweepProgress):
    """Shows the number of flights, the least robustness, and the time left until the budget is used."""

    def __init__(self, console: Console, budget: int) -> None:
        self._least = math.inf
        super().__init__(console, budget, 0, 0)

    @property
    def text(self) -> str:
        """The progress as text: '120 of at most 500 flights, least robustness 0.31'."""
        if self._failed:
            return f"{self._done} flights, the property is broken; looking for a smaller failing case"
        return f"{self._done} of at most {self._runs} flights, least robustness {self._least:.4g}"

    def add_flight(self, robustness: float) -> None:
        """Count a flight."""
        self._least = min(self._least, robustness)
        self.add(failed=robustness < 0.0)
