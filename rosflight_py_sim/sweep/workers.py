"""Interface of the workers that fly the runs of a sweep, and their common parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from rosflight_py_sim import __version__
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.sweep.definition import Row, Run, Sweep
from rosflight_py_sim.sweep.sweep_file import read_sweep

Fly: TypeAlias = Callable[[Sweep, Run], Row]
"""Function that flies a run; a function of a module, because other processes import it."""

ENVIRONMENT = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}
"""Environment variables of workers: the graphs of two workers must not discover each other."""


class ChangedError(Exception):
    """A worker would fly a different sweep from the one that was started; the text gives the difference."""


@dataclass(frozen=True)
class Job:
    """What a worker needs to fly runs.

    Attributes:
        fly: flies a run.
        file: the sweep file, absolute.
        digest: digest of the sweep.
        version: version of this package.
    """

    fly: Fly
    file: Path
    digest: str
    version: str = __version__

    def sweep(self) -> Sweep:
        """Read the sweep and prepare the kernels, once in a process.

        Raises:
            ChangedError: the sweep file cannot be read or has changed, or the worker has another version.
        """
        if self.version != __version__:
            raise ChangedError(
                f"a worker has version {__version__} of this package; allowed: {self.version}, as in the command"
            )
        return _read(self.file, self.digest)

    def row(self, run: Run) -> Row:
        """Fly a run; an exception makes a failed run.

        Raises:
            ChangedError: as of `sweep`.
        """
        sweep = self.sweep()
        try:
            return self.fly(sweep, run)
        except Exception as error:
            return Row(run, succeeded=False, reason=f"{type(error).__name__}: {error}")


@lru_cache(maxsize=1)
def _read(file: Path, digest: str) -> Sweep:
    try:
        sweep = read_sweep(file)
    except (OSError, ValueError) as error:
        raise ChangedError(f"a worker cannot read '{file}': {error}") from error
    if sweep.digest != digest:
        raise ChangedError(f"'{file}', or a file that it names, has changed since the sweep began")
    prepare_kernels()  # on this machine the command has done so, but a cluster has others
    return sweep


@dataclass(frozen=True)
class Lost:
    """A run without a row.

    Attributes:
        run: the run.
        cause: how the process that flew the run ended; empty if the run was not its cause.
    """

    run: Run
    cause: str


class Workers(ABC):
    """Workers that fly runs at the same time."""

    @property
    @abstractmethod
    def want_more(self) -> bool:
        """Whether a further run should be submitted now."""

    @abstractmethod
    def submit(self, run: Run) -> None:
        """Give a run to a worker."""

    @abstractmethod
    def outcomes(self, timeout_s: float) -> Sequence[Row | Lost]:
        """Wait for outcomes of submitted runs, at most for a time (s).

        Raises:
            SweepError: no worker can fly the runs.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers."""
