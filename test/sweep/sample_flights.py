"""Functions in place of flights, for tests of the execution; worker processes import this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from rosflight_py_sim.sweep.definition import Row, Run, Sweep

SWEEP = """\
description: Runs that need no flight
vehicle: multirotor
runs: {runs}
seed: 3
parameters:
  mass: {{uniform: [2.8, 3.4]}}
  use_random_wind: {{choice: [true, false]}}
measures:
  error: judge.tracking_error_rms_m
signals:
  height: -truth_state.position_ned[2]
"""

STOP = "stop: {measure: error, half_width: 0.08, least_runs: 5}\n"


def write_sweep(folder: Path, runs: int = 20, further: str = "") -> Path:
    """A sweep file."""
    file = folder / "sample.yaml"
    file.write_text(SWEEP.format(runs=runs) + further)
    return file


def fly_sample(sweep: Sweep, run: Run) -> Row:
    """A row that depends on the seed of the run; every seventh run fails."""
    if run.number % 7 == 6:
        return Row(run, succeeded=False, reason="did not take off")
    rng = np.random.default_rng(run.seed)
    heights = rng.normal(size=run.number % 4)
    return Row(run, succeeded=True, measures={"error": float(rng.uniform())}, signals={"height": heights.tolist()})


def fly_slowly(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`, in 0.05 s."""
    time.sleep(0.05)
    return fly_sample(sweep, run)


def fly_very_slowly(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`, in 0.5 s."""
    time.sleep(0.5)
    return fly_sample(sweep, run)


def fly_out_of_order(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`; runs of even number take longer than others."""
    time.sleep(0.0 if run.number % 2 else 0.04)
    return fly_sample(sweep, run)


def kill_once(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`; run 4 ends its process at the first attempt, which leaves a file in the sweep's folder."""
    mark = sweep.file.with_suffix(".killed")
    if run.number == 4 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fly_sample(sweep, run)


def kill_always(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`; run 4 ends its process at every attempt."""
    if run.number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return fly_sample(sweep, run)


def raise_error(sweep: Sweep, run: Run) -> Row:
    """As `fly_sample`; run 4 raises an exception."""
    if run.number == 4:
        raise ZeroDivisionError("no mass")
    return fly_sample(sweep, run)
