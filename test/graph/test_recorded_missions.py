"""Whole missions equal recorded ones, with and without observers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from test.graph.arithmetic import mark

PROGRAM = str(Path(__file__).with_name("flown_truth.py"))
WIND = str(Path(__file__).parents[2] / "config" / "wind.yaml")
RECORDED: dict[str, Any] = yaml.safe_load((Path(__file__).parents[1] / "data" / "missions.yaml").read_text("utf-8"))

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def check_flight(run: Run, vehicle: str, recorded: list[Any], *watch: str) -> str:
    """Fly for the recorded time, compare both flights, and return the pilot's activity at the end."""
    words = (PROGRAM, vehicle, str(recorded[-1][0]), "--step-size", str(RECORDED["step_size"]), *watch)
    settings = ("-p", f"seed:={RECORDED['seed']}", "-p", f"steady_state_wind:={RECORDED['steady_state_wind']}")
    result = run(*words, "--params-file", WIND, *settings, timeout_s=300.0)
    assert result.returncode == 0, result.stderr
    *lines, doing = result.stdout.splitlines()
    flown = {int(second): (digest, [float(x) for x in place]) for second, digest, *place in map(str.split, lines)}
    for second, digest, place in recorded:
        # Mathematical functions of other processors and libraries round differently; noise hides the effect.
        assert flown[second][1] == pytest.approx(place, abs=0.5)
        if mark() == RECORDED["arithmetic"]:
            assert flown[second][0] == digest
    return doing


@pytest.mark.timeout(400)
@pytest.mark.parametrize("vehicle", RECORDED["missions"])
def test_mission_matches_recording(command_line: Run, vehicle: str) -> None:
    assert check_flight(command_line, vehicle, RECORDED["missions"][vehicle], "--watch", "member") == "done"


@pytest.mark.timeout(400)
@pytest.mark.parametrize("watch", ["guest", "recorder"])
@pytest.mark.parametrize("vehicle", RECORDED["missions"])
def test_observers_do_not_change_a_mission(command_line: Run, tmp_path: Path, vehicle: str, watch: str) -> None:
    # Take-off and climb in wind.
    beginning = RECORDED["missions"][vehicle][:1]
    looking = ["--watch", "member", "--record", str(tmp_path / "r.mcap")] if watch == "recorder" else ["--watch", watch]
    assert not check_flight(command_line, vehicle, beginning, *looking).startswith("failure")
