"""One seed, one trajectory, bit for bit: the beginning of the mission, flown through services and all."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

SECONDS = "10"
PROGRAM = str(Path(__file__).with_name("flown_truth.py"))
WIND = str(Path(__file__).parents[2] / "config" / "wind.yaml")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def flown(run: Run, seed: int) -> list[str]:
    """Hash of all truth states at each full second, and what the pilot was doing at the end."""
    result = run(PROGRAM, SECONDS, "--params-file", WIND, "-p", f"seed:={seed}")
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_a_seed_gives_the_same_flight_bit_for_bit_and_another_seed_another(command_line: Run) -> None:
    first = flown(command_line, 7)
    assert len(first) == int(SECONDS) + 1
    # The vehicle is in the air and under the autopilot by then.
    assert first[-1].startswith("side")
    assert flown(command_line, 7) == first
    other = flown(command_line, 8)
    assert len(other) == len(first)
    assert all(line not in first for line in other[1:-1])
