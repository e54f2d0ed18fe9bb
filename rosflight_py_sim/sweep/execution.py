"""Execution of a sweep: fly the runs that are not stored yet, until the table is complete."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.sweep.definition import Row, Run, Sweep, run_of
from rosflight_py_sim.sweep.fly_run import check_direct, fly_run, fly_run_in_graph
from rosflight_py_sim.sweep.local_workers import LocalWorkers
from rosflight_py_sim.sweep.ray_workers import RayWorkers
from rosflight_py_sim.sweep.stop_rule import TableEnd
from rosflight_py_sim.sweep.store import Store
from rosflight_py_sim.sweep.sweep_progress import SweepProgress
from rosflight_py_sim.sweep.table import RUN, SUCCEEDED
from rosflight_py_sim.sweep.workers import Fly, Job, Lost, Workers

# A run that ends its worker process this many times has failed.
_LOSSES = 2

_WAIT_S = 0.2


def execute(
    sweep: Sweep,
    folder: Path,
    fly: Fly,
    *,
    workers: int | None = None,
    ray: str | None = None,
    console: Console | None = None,
) -> Path:
    """Fly the runs of a sweep whose rows are not in the folder yet.

    The table depends only on the sweep, not on the workers or on interruptions.

    Args:
        sweep: the sweep.
        folder: folder for the results, which is created if necessary.
        fly: function that flies a run.
        workers: number of runs at a time; None: one per CPU.
        ray: address of a Ray cluster; None: processes on this machine.
        console: output for the progress.

    Returns:
        The complete table, a Parquet file.

    Raises:
        SweepError: the results cannot be stored, or no worker can fly the runs; what is stored remains.
        ParameterError: the number of workers is not positive, or ray is not installed.
    """
    with Store(folder, sweep) as store:
        if not store.is_complete:
            prepare_kernels()
            job = Job(fly, sweep.file.absolute(), sweep.digest)
            pool = started_workers(job, sweep.runs, workers, ray)
            try:
                store.complete(_fly_rest(sweep, store, pool, console or Console(stderr=True)))
            finally:
                pool.close()
        return store.table


def flight_function(sweep: Sweep, *, graph: bool) -> Fly:
    """Function that flies the runs of a sweep, in the composed node graph or without ROS.

    Raises:
        ParameterError: the runs cannot be flown without ROS.
    """
    if graph:
        return fly_run_in_graph
    check_direct(sweep)
    return fly_run


def started_workers(job: Job, runs: int, count: int | None, ray: str | None) -> Workers:
    """Start workers.

    Args:
        job: what they fly.
        runs: largest number of runs.
        count: number of runs at a time; None: one per CPU.
        ray: address of a Ray cluster; None: processes on this machine.

    Raises:
        SweepError: there is no cluster at the address.
        ParameterError: the number of workers is not positive, or ray is not installed.
    """
    if count is not None and count < 1:
        raise ParameterError(f"workers: {count} given; allowed: at least 1")
    if ray is not None:
        return RayWorkers(job, ray, count)
    return LocalWorkers(job, min(runs, count or len(os.sched_getaffinity(0))))


def flown(pool: Workers, runs: Iterable[Run]) -> Iterator[Row | None]:
    """Rows of runs in the order in which they are done, and None after each fifth of a second or less.

    A run whose worker process ends is flown again, once.

    Raises:
        SweepError: no worker can fly the runs.
    """
    queue = _Queue(runs)
    while True:
        while pool.want_more and (run := queue.next()) is not None:
            pool.submit(run)
        if not queue.waiting:
            return
        for outcome in pool.outcomes(_WAIT_S):
            row = queue.row_of(outcome)
            if row is not None:
                yield row
        yield None


def _fly_rest(sweep: Sweep, store: Store, pool: Workers, console: Console) -> int:
    """Fly runs until the number of rows of the table is known; return it."""
    end = TableEnd(sweep.runs, sweep.stop)
    succeeded: dict[int, bool] = {}
    for cells in store.cells():
        succeeded[cells[RUN]] = cells[SUCCEEDED]
        end.add(cells[RUN], cells if cells[SUCCEEDED] else {})
    rest = (run_of(sweep, number) for number in range(sweep.runs) if number not in succeeded)
    with SweepProgress(console, sweep.runs, len(succeeded), sum(not one for one in succeeded.values())) as progress:
        for row in flown(pool, rest) if end.rows is None else ():
            if row is not None:
                store.add(row)
                end.add(row.run.number, row.measures if row.succeeded else {})
                progress.add(failed=not row.succeeded)
                continue
            store.save_if_due()
            progress.show_if_due()
            if end.rows is not None:
                break
    assert end.rows is not None
    return end.rows


class _Queue:
    """Runs to fly, in order; lost runs come first.

    Attributes:
        waiting: number of runs that have been taken and have no row.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self.waiting = 0
        self._runs = iter(runs)
        self._again: deque[Run] = deque()
        self._losses: Counter[int] = Counter()

    def next(self) -> Run | None:
        """The next run; None if there is none for now."""
        if self._again:
            return self._again.popleft()
        run = next(self._runs, None)
        self.waiting += run is not None
        return run

    def row_of(self, outcome: Row | Lost) -> Row | None:
        """Row of a run; None if it must be flown again."""
        if isinstance(outcome, Row):
            self.waiting -= 1
            return outcome
        self._losses[outcome.run.number] += bool(outcome.cause)
        if self._losses[outcome.run.number] == _LOSSES:
            self.waiting -= 1
            return Row(outcome.run, succeeded=False, reason=outcome.cause)
        self._again.append(outcome.run)
        return None
