"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import wait

from rosflight_py_sim.sweep.definition import Row, Run
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.workers import ENVIRONMENT, Job, Lost, Workers

# A worker that has sent a row begins the next run without waiting for this process.
_RUNS_PER_WORKER = 2

# Starts that may fail one after another.
_STARTS = 3

_SHUTDOWN_TIMEOUT_S = 5.0


class LocalWorkers(Workers):
    """Worker processes on this machine. A process that ends is replaced."""

    def __init__(self, job: Job, count: int) -> None:
        """Start the processes.

        Args:
            job: what they fly.
            count: number of processes, at least 1.
        """
        self._job = job
        self._failed_starts = 0
        self._workers: list[_Worker] = []
        try:
            while len(self._workers) < count:
                self._workers.append(_Worker(job))
        except BaseException:
            self.close()
            raise

    @property
    def want_more(self) -> bool:
        return len(self._least_busy.runs) < _RUNS_PER_WORKER

    def submit(self, run: Run) -> None:
        self._least_busy.submit(run)

    def outcomes(self, timeout_s: float) -> Sequence[Row | Lost]:
        outcomes: list[Row | Lost] = []
        ready = wait([one.connection for one in self._workers], timeout_s)
        for worker in [one for one in self._workers if one.connection in ready]:
            try:
                while worker.connection.poll():
                    outcomes += worker.received()
            except (EOFError, OSError):
                outcomes += self._replace(worker)
        return outcomes

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        for worker in self._workers:
            worker.wait()

    @property
    def _least_busy(self) -> _Worker:
        return min(self._workers, key=lambda one: len(one.runs))

    def _replace(self, worker: _Worker) -> list[Lost]:
        """Start a process in the place of one that has ended; its runs are lost."""
        how = worker.wait()
        self._failed_starts = 0 if worker.has_begun else self._failed_starts + 1
        if self._failed_starts == _STARTS:
            raise SweepError(f"{_STARTS} worker processes in a row ended before their first run, the last one {how}")
        self._workers[self._workers.index(worker)] = _Worker(self._job)
        cause = f"the worker process ended {how}" if worker.has_begun else ""
        # Only the first run was being flown.
        return [Lost(run, "" if place else cause) for place, run in enumerate(worker.runs)]


class _Worker:
    """A worker process, and the runs that it has not returned, in the order in which it flies them."""

    def __init__(self, job: Job) -> None:
        self.connection, other = Pipe()
        self.runs: deque[Run] = deque()
        self.has_begun = False
        # A separate session: Ctrl-C must end only the command, which then ends its workers.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rosflight_py_sim.sweep.worker_process", str(other.fileno())],
            pass_fds=[other.fileno()],
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        other.close()
        self._send(list(sys.path))
        self._send(job)

    def submit(self, run: Run) -> None:
        self.runs.append(run)
        self._send(run)

    def received(self) -> list[Row]:
        """Rows of the next message.

        Raises:
            EOFError, OSError: the process has ended.
            SweepError: the process cannot fly the runs.
        """
        message = self.connection.recv()
        if isinstance(message, str):
            raise SweepError(message)
        self.has_begun = True
        if message is None:
            return []
        self.runs.popleft()
        return [message]

    def end(self) -> None:
        self.connection.close()
        if self.runs:
            self._process.terminate()

    def wait(self) -> str:
        """Wait for the process; return how it ended, as text."""
        try:
            code = self._process.wait(_SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"with signal {-code}" if code < 0 else f"with exit code {code}"

    def _send(self, message: object) -> None:
        # If the process has ended, `outcomes` finds it.
        with contextlib.suppress(OSError):
            self.connection.send(message)
