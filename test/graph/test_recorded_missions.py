"""Whole missions are those that were recorded before messages were handed over inside a process."""

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


@pytest.mark.timeout(400)
@pytest.mark.parametrize("watch", ["guest", "member", "recorder"])
@pytest.mark.parametrize("vehicle", RECORDED["missions"])
def test_mission_matches_recording(command_line: Run, tmp_path: Path, vehicle: str, watch: str) -> None:
    recorded = RECORDED["missions"][vehicle]
    # Who looks on changes nothing.
    looking = ["--watch", "member", "--record", str(tmp_path / "r.mcap")] if watch == "recorder" else ["--watch", watch]
    seconds = str(recorded[-1][0])
    words = (PROGRAM, vehicle, seconds, *looking, "--params-file", WIND, "-p", "seed:=7")
    result = command_line(*words, timeout_s=300.0)
    assert result.returncode == 0, result.stderr
    *lines, doing = result.stdout.splitlines()
    assert doing == "done"
    flown = {int(second): (digest, [float(x) for x in place]) for second, digest, *place in map(str.split, lines)}
    for second, digest, place in recorded:
        # Mathematical functions of other processors and libraries round otherwise, and noise hides what follows.
        assert flown[second][1] == pytest.approx(place, abs=0.5)
        if mark() == RECORDED["arithmetic"]:
            assert flown[second][0] == digest
