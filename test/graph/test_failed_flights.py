"""Flights with failures: the vehicle survives some of them, and the same seed gives the same flight."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = str(Path(__file__).with_name("flown_truth.py"))
WIND = str(Path(__file__).parents[2] / "config" / "wind.yaml")

# Half the usual number; the calibration, a number of steps, then lasts 5 s. With longer ones yaw control oscillates.
LONG_STEPS = "--step-size", "0.005"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def flown(run: Run, vehicle: str, seconds: int, *failures: str) -> list[str]:
    """Hash of all truth states and the position at each full second."""
    given = ["-p", f"failures:={list(failures)}"] if failures else []
    result = run(PROGRAM, vehicle, str(seconds), "--params-file", WIND, "-p", "seed:=7", *given, *LONG_STEPS)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[:seconds]


def altitude(line: str) -> float:
    return -float(line.split()[-1])


@pytest.mark.timeout(400)
def test_quadrotor_falls_without_a_motor_and_flies_as_ever_before(command_line: Run) -> None:
    failures = "motor 2 off at 16", "accel noisy 0.5 at 15", "wind front 3 0 0 at 15"
    first = flown(command_line, "multirotor", 19, *failures)
    assert flown(command_line, "multirotor", 19, *failures) == first
    sound = flown(command_line, "multirotor", 16)
    # The hash of second k covers all states up to its end.
    assert first[:15] == sound[:15]
    assert first[15] != sound[15]
    assert altitude(first[14]) > 4.5
    assert altitude(first[18]) < 0.5


def test_octorotor_keeps_flying_without_a_motor(command_line: Run) -> None:
    lines = flown(command_line, "octorotor", 20, "motor 3 off at 15")
    assert min(map(altitude, lines[14:])) > 4.5
