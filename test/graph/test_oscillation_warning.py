"""A flight whose attitude oscillates is named while it happens, before the mission has failed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TINY = str(Path(__file__).parents[1] / "data" / "tiny_quadrotor" / "tiny_quadrotor.yaml")


@pytest.mark.timeout(300)
def test_oscillation_is_logged_once_while_the_mission_is_under_way(
    command_line: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = command_line("-m", "rosflight_py_sim", "fly", "--vehicle", TINY, "--output", "flight")
    assert result.returncode == 1
    warnings = [line for line in result.stderr.splitlines() if "[WARN]" in line and "oscillates" in line]
    assert len(warnings) == 1
    assert "tiny_quadrotor: the roll rate oscillates at 19 Hz" in warnings[0]
    assert "rosflight_py_sim gains" in warnings[0]
