"""Workers of a Ray cluster."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rosflight_py_sim.extras import missing_extra
from rosflight_py_sim.process_environment import prepare_environment
from rosflight_py_sim.sweep.definition import Row
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.workers import ENVIRONMENT, Job, Lost, Workers

if TYPE_CHECKING:
    from ray import ObjectRef

# Some runs wait in the cluster, so that a node begins the next run as soon as it has sent a row.
_RUNS_PER_CPU = 2

_CONNECTION_TIMEOUT_S = 5.0


class RayWorkers(Workers):
    """Tasks on an existing Ray cluster, each of which flies a run on one CPU.

    Every node needs this package, and the sweep's files at the same paths.
    """

    def __init__(self, job: Job, address: str, count: int | None) -> None:
        """Connect to the cluster.

        Args:
            job: what the tasks fly.
            address: as for `ray.init`: host:port, or 'auto' for the cluster on this machine.
            count: largest number of runs at a time; None: a run for each CPU of the cluster.

        Raises:
            ParameterError: ray is not installed.
            SweepError: there is no cluster at the address.
        """
        try:
            import ray
        except ImportError as error:
            raise missing_extra("--ray", error, "ray") from error
        self._ray = ray
        self._is_connected_here = not ray.is_initialized()
        if self._is_connected_here:
            try:
                _check_address(address)
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
            except (OSError, ValueError, RuntimeError) as error:
                reason = str(error).partition(". ")[0]
                raise SweepError(f"there is no Ray cluster at '{address}': {reason}") from error
        self._job = job
        self._task = ray.remote(num_cpus=1, max_retries=0)(_row)
        self._count = count
        self._numbers: dict[ObjectRef[Row], int] = {}

    @property
    def want_more(self) -> bool:
        if self._count is not None:
            return len(self._numbers) < self._count
        return len(self._numbers) < _RUNS_PER_CPU * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, number: int) -> None:
        self._numbers[self._task.remote(self._job, number)] = number

    def outcomes(self, timeout_s: float) -> Sequence[Row | Lost]:
        tasks = list(self._numbers)
        self._ray.wait(tasks, num_returns=1, timeout=timeout_s)
        done, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0.0)
        return [self._outcome(task) for task in done]

    def close(self) -> None:
        for task in self._numbers:
            self._ray.cancel(task, force=True)
        if self._is_connected_here:
            self._ray.shutdown()

    def _outcome(self, task: ObjectRef[Row]) -> Row | Lost:
        number = self._numbers.pop(task)
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError as error:
            raise SweepError(str(error.cause)) from error
        except errors.NodeDiedError:
            return Lost(number, "")
        except errors.RayError as error:
            return Lost(number, f"the worker process ended ({type(error).__name__})")


def _check_address(address: str) -> None:
    """Try to connect to an address with a port; Ray itself times out only after minutes.

    Raises:
        OSError: there is no server.
        ValueError: the port is not a number.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), _CONNECTION_TIMEOUT_S).close()


def _row(job: Job, number: int) -> Row:
    prepare_environment()
    os.environ.update(ENVIRONMENT)
    return job.row(number)
