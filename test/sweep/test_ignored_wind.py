"""Warnings of a sweep: wind parameters that have no effect in some of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rosflight_py_sim.sweep.definition import run_of
from rosflight_py_sim.sweep.fly_run import ignored_in
from rosflight_py_sim.sweep.sweep_file import read_sweep

STEADY = "parameter 'steady_state_wind' is ignored, because parameter 'use_random_wind' is true"
DRAWN = "parameter 'random_wind_mean' is ignored, because parameter 'use_random_wind' is false"


@pytest.mark.parametrize(
    ("given", "ignored"),
    [
        ("steady_state_wind: [0.0, 4.0, 0.0]", [STEADY]),
        ("random_wind_mean: [0.0, 4.0, 0.0]", [STEADY, DRAWN]),
    ],
)
def test_parameter_that_is_ignored_in_some_run_is_told_once(tmp_path: Path, given: str, ignored: list[str]) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(
        f"""
description: Square in steady and in random wind
vehicle: multirotor
runs: 9
seed: 3
parameters:
  {given}
  use_random_wind: {{choice: [false, true]}}
measures: {{rms: judge.tracking_error_rms_m}}
""",
        encoding="utf-8",
    )
    sweep = read_sweep(file)
    drawn = [run_of(sweep, number).values["use_random_wind"] for number in range(sweep.runs)]
    assert not drawn[0], "the first run alone would give no warning of steady_state_wind"
    assert True in drawn
    texts = ignored_in(sweep)
    assert sorted(texts) == sorted(texts for texts in texts if any(map(texts.startswith, ignored)))
    assert len(texts) == len(ignored)
