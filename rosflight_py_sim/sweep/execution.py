"""Execution of a sweep: fly the runs that are not stored yet, until the table is complete."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.sweep.definition import Row, Sweep, run_of
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
    if workers is not None and workers < 1:
        raise ParameterError(f"workers: {workers} given; allowed: at least 1")
    with Store(folder, sweep) as store:
        if not store.is_complete:
            prepare_kernels()
            job = Job(fly, sweep.file.absolute(), sweep.digest)
            pool = _workers(job, sweep.runs, workers, ray)
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


def _workers(job: Job, runs: int, count: int | None, ray: str | None) -> Workers:
    if ray is not None:
        return RayWorkers(job, ray, count)
    return LocalWorkers(job, min(runs, count or len(os.sched_getaffinity(0))))


def _fly_rest(sweep: Sweep, store: Store, pool: Workers, console: Console) -> int:
    """Fly runs until the number of rows of the table is known; return it."""
    end = TableEnd(sweep.runs, sweep.stop)
    succeeded: dict[int, bool] = {}
    for cells in store.cells():
        succeeded[cells[RUN]] = cells[SUCCEEDED]
        end.add(cells[RUN], cells if cells[SUCCEEDED] else {})
    queue = _Queue(sweep, {*succeeded})
    with SweepProgress(console, sweep.runs, len(succeeded), sum(not one for one in succeeded.values())) as progress:
        while end.rows is None:
            while pool.want_more and (number := queue.next()) is not None:
                pool.submit(number)
            for outcome in pool.outcomes(_WAIT_S):
                row = queue.row_of(outcome)
                if row is not None:
                    store.add(row)
                    end.add(row.run.number, row.measures if row.succeeded else {})
                    progress.add(failed=not row.succeeded)
            store.save_if_due()
            progress.show_if_due()
    return end.rows


class _Queue:
    """Numbers of the runs to fly, in order; lost runs come first."""

    def __init__(self, sweep: Sweep, done: set[int]) -> None:
        self._sweep = sweep
        self._numbers: Iterator[int] = (number for number in range(sweep.runs) if number not in done)
        self._again: deque[int] = deque()
        self._losses: Counter[int] = Counter()

    def next(self) -> int | None:
        """Number of the next run; None if there is none for now."""
        return self._again.popleft() if self._again else next(self._numbers, None)

    def row_of(self, outcome: Row | Lost) -> Row | None:
        """Row of a run; None if it must be flown again."""
        if isinstance(outcome, Row):
            return outcome
        self._losses[outcome.number] += bool(outcome.cause)
        if self._losses[outcome.number] == _LOSSES:
            return Row(run_of(self._sweep, outcome.number), succeeded=False, reason=outcome.cause)
        self._again.append(outcome.number)
        return None
