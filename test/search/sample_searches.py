"""Functions in place of flights, for tests of searches; worker processes import this module."""

from __future__ import annotations

import math
import os
import signal
import time
from pathlib import Path

from rosflight_py_sim.sweep.definition import Row, Run, Sweep

SEARCH = """\
description: Values without a flight
vehicle: multirotor
runs: {runs}
seed: {seed}
parameters:
  mass: {{uniform: [2.8, 3.6]}}
  CD: {{log_uniform: [0.5, 4.0]}}
  gyro_stdev: {{normal: {{mean: 0.02, sigma: 0.004, within: [0.0, 0.04]}}}}
  turbulence_model: {{choice: [none, dryden_8785c]}}
measures:
  error: judge.tracking_error_rms_m
property: error < 1
"""


def write_search(folder: Path, *, runs: int = 300, seed: int = 1, further: str = "") -> Path:
    """A sweep file with a property."""
    file = folder / "sample.yaml"
    file.write_text(SEARCH.format(runs=runs, seed=seed) + further)
    return file


def fly_corner(sweep: Sweep, run: Run) -> Row:
    """A row that breaks the property for a heavy vehicle with little drag in turbulence, whatever the gyroscope."""
    heavy = (float(run.values["mass"]) - 3.2) / 0.4
    slick = -math.log(float(run.values["CD"]) / math.sqrt(2.0)) / math.log(2.0 * math.sqrt(2.0))
    rough = run.values["turbulence_model"] == "dryden_8785c"
    robustness = 2.0 - heavy - slick - 0.3 * rough
    return Row(
        run,
        succeeded=robustness >= 0.0,
        reason="" if robustness >= 0.0 else f"the property is broken, robustness {robustness:.4g}",
        measures={"error": 1.0 - robustness, "robustness": robustness},
    )


def fly_safely(sweep: Sweep, run: Run) -> Row:
    """A row that never breaks the property."""
    return Row(run, succeeded=True, measures={"error": 0.5, "robustness": 0.5})


def fly_anywhere(sweep: Sweep, run: Run) -> Row:
    """A row that always breaks the property."""
    return Row(run, succeeded=False, reason="broken", measures={"error": 1.5, "robustness": -0.5})


def fly_heavy_error(sweep: Sweep, run: Run) -> Row:
    """As `fly_safely`, with an exception for a heavy vehicle."""
    if float(run.values["mass"]) > 3.3:
        raise ZeroDivisionError("no thrust left")
    return fly_safely(sweep, run)


def kill_once(sweep: Sweep, run: Run) -> Row:
    """As `fly_corner`; the fourth flight ends its process at the first attempt, which leaves a file."""
    mark = sweep.file.with_suffix(".killed")
    if run.number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fly_corner(sweep, run)


def fly_out_of_order(sweep: Sweep, run: Run) -> Row:
    """As `fly_corner`; flights of even number take longer than others."""
    time.sleep(0.0 if run.number % 2 else 0.02)
    return fly_corner(sweep, run)
