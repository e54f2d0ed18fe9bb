"""The same seed gives the same trajectory, bit for bit: the start of the mission, including its service calls."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.vehicles import STANDALONE

# Wind and noise act from the first step on.
OTHER_SECONDS = 3
# Twice the usual step, to keep the tests short. Not for JSBSim's aircraft, which would take off too late.
STEP = ("--step-size", "0.005")
PROGRAM = str(Path(__file__).with_name("flown_truth.py"))
# Slow enough for a fixed wing to stand still during its first calibration in steps of this length.
LIGHT_WIND = ("-p", "steady_state_wind:=[0.0, 1.0, 0.0]")
WIND = str(Path(__file__).parents[2] / "config" / "wind.yaml")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def flown(run: Run, vehicle: str, dynamics: str, seed: int, seconds: int) -> list[str]:
    """Hash of all truth states at each full second, and the pilot's activity at the end."""
    words = (PROGRAM, vehicle, str(seconds), "--dynamics", dynamics, *(STEP if dynamics == STANDALONE else ()))
    result = run(*words, "--params-file", WIND, *LIGHT_WIND, "-p", f"seed:={seed}")
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("vehicle", "dynamics", "seconds", "doing"),
    [
        ("multirotor", "standalone", 8, "take off"),
        ("fixedwing", "standalone", 10, "climb out"),
        ("fixedwing", "jsbsim", 5, "take off"),
    ],
)
def test_same_seed_reproduces_flight_bit_for_bit_and_other_seed_differs(
    command_line: Run, vehicle: str, dynamics: str, seconds: int, doing: str
) -> None:
    first = flown(command_line, vehicle, dynamics, 1, seconds)
    assert len(first) == seconds + 1
    # By then, the autopilot is in command, and the vehicle is airborne or taking off.
    assert first[-1].startswith(doing)
    assert flown(command_line, vehicle, dynamics, 1, seconds) == first
    other = flown(command_line, vehicle, dynamics, 2, OTHER_SECONDS)
    assert len(other) == OTHER_SECONDS + 1
    # A hash covers all states so far. They differ once wind and noise act on the vehicle.
    assert other[-2] != first[OTHER_SECONDS - 1]


def test_fleet_vehicle_flies_as_alone_with_same_seed_and_start(command_line: Run) -> None:
    seconds = "6"
    words = ("multirotor", seconds, *STEP, "--params-file", WIND)
    result = command_line(PROGRAM, *words, "--count", "2")
    assert result.returncode == 0, result.stderr
    together = result.stdout.splitlines()
    assert len(together) == 2 * (int(seconds) + 1)
    for k in (0, 1):
        start = f"initial_position:=[0.0, {20.0 * k}]"
        alone = command_line(PROGRAM, *words, "-p", f"seed:={7 + k}", "-p", start)
        assert alone.returncode == 0, alone.stderr
        name = f"multirotor_{k + 1} "
        assert [line.removeprefix(name) for line in together if line.startswith(name)] == alone.stdout.splitlines()
