"""Workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.process_environment import prepare_environment
from rosflight_py_sim.sweep.definition import Row, Run
from rosflight_py_sim.sweep.ray_guard import RayGuard
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.workers import ENVIRONMENT, Job, Lost, Workers

if TYPE_CHECKING:
    from ray import ObjectRef

# Some runs wait in the cluster, so that a node begins the next run as soon as it has sent a row.
_RUNS_PER_CPU = 2

_CONNECTION_TIMEOUT_S = 5.0

LOCAL = "local"
"""Address that starts a Ray runtime for the sweep."""

# With the first variable, which Ray reads when it is imported, a runtime has the address 127.0.0.1 and receives only
# there; otherwise, it has this machine's address in the network, and all its processes receive at all addresses. With
# the second, it sends no statistics to Ray's makers.
_LOOPBACK_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_LOCAL_ENVIRONMENT = {_LOOPBACK_VARIABLE: "0", "RAY_USAGE_STATS_ENABLED": "0"}


class RayWorkers(Workers):
    """Tasks on a Ray cluster, each of which flies a run on one CPU.

    A runtime that is started for the sweep receives at 127.0.0.1 only, unless `RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER` is 1.
    Every node needs this package, and the sweep's files at the same paths.
    """

    def __init__(self, job: Job, address: str, count: int | None) -> None:
        """Connect to the cluster, or start one.

        Args:
            job: what the tasks fly.
            address: as for `ray.init`: host:port, 'auto' for the cluster on this machine, or 'local' to start one.
            count: largest number of runs at a time; None: a run for each CPU of the cluster.

        Raises:
            ParameterError: ray is not installed.
            SweepError: there is no cluster at the address, or a runtime cannot be started on loopback.
        """
        if address == LOCAL:
            for name, value in _LOCAL_ENVIRONMENT.items():
                os.environ.setdefault(name, value)
        try:
            import ray
        except ImportError as error:
            raise missing_extra("--ray", error, "ray") from error
        self._ray = ray
        self._is_connected_here = not ray.is_initialized()
        self._guard = RayGuard() if self._is_connected_here and address == LOCAL else None
        if self._is_connected_here:
            try:
                _check_address(address)
                with self._guard.marking() if self._guard else contextlib.nullcontext():
                    ray.init(
                        address,
                        include_dashboard=False if address == LOCAL else None,
                        log_to_driver=False,
                        logging_level=logging.ERROR,
                    )
                _check_loopback(ray, address)
            except (OSError, ValueError, RuntimeError) as error:
                if self._guard:
                    self._guard.close()
                reason = str(error).partition(". ")[0]
                raise SweepError(f"there is no Ray cluster at '{address}': {reason}") from error
        self._job = job
        self._task = ray.remote(num_cpus=1, max_retries=0)(_row)
        self._count = count
        self._runs: dict[ObjectRef[Row], Run] = {}

    @property
    def want_more(self) -> bool:
        if self._count is not None:
            return len(self._runs) < self._count
        return len(self._runs) < _RUNS_PER_CPU * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, run: Run) -> None:
        self._runs[self._task.remote(self._job, run)] = run

    def outcomes(self, timeout_s: float) -> Sequence[Row | Lost]:
        tasks = list(self._runs)
        self._ray.wait(tasks, num_returns=1, timeout=timeout_s)
        done, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0.0)
        return [self._outcome(task) for task in done]

    def close(self) -> None:
        for task in self._runs:
            self._ray.cancel(task, force=True)
        if self._is_connected_here:
            self._ray.shutdown()
        if self._guard:
            self._guard.close()

    def _outcome(self, task: ObjectRef[Row]) -> Row | Lost:
        run = self._runs.pop(task)
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError as error:
            raise SweepError(str(error.cause)) from error
        except errors.NodeDiedError:
            return Lost(run, "")
        except errors.RayError as error:
            return Lost(run, f"the worker process ended ({type(error).__name__})")


def _check_loopback(ray: ModuleType, address: str) -> None:
    """Shut a runtime down that was to receive on loopback but does not, because Ray was imported before.

    Raises:
        RuntimeError: this is so.
    """
    if address != LOCAL or os.environ[_LOOPBACK_VARIABLE] != _LOCAL_ENVIRONMENT[_LOOPBACK_VARIABLE]:
        return
    own = ray.util.get_node_ip_address()
    if own != "127.0.0.1":
        ray.shutdown()
        raise RuntimeError(
            f"the runtime would receive at {own}, because Ray had been imported before; set "
            f"{_LOOPBACK_VARIABLE}=0 in the environment (127.0.0.1), or =1 (all addresses)"
        )


def _check_address(address: str) -> None:
    """Try to connect to an address with a port; Ray itself times out only after minutes.

    Raises:
        OSError: there is no server.
        ValueError: the port is not a number, or the address is empty.
    """
    if not address:
        raise ValueError("an empty address given; allowed: host:port, auto, local")
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), _CONNECTION_TIMEOUT_S).close()


def _row(job: Job, run: Run) -> Row:
    prepare_environment()
    os.environ.update(ENVIRONMENT)
    return job.row(run)
