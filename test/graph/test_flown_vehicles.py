"""Vehicles defined by files alone, the package's own and a user's, fly their mission in wind."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.commands.replay import appearance_of, kept_of
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.recording.mcap_file import read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles
from test.graph.conftest import SLOW_SENSORS, small_square

CONFIG = share_directory() / "config"

# 1.5 times the multirotor's.
LARGEST_RMS_M = 0.15

SHORT = (*small_square(2.5, 2.0), *SLOW_SENSORS)

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def flown(command_line: Run, tmp_path: Path, vehicle: str, *arguments: str) -> None:
    """Fly a vehicle's mission and evaluate it."""
    words = (
        "-m",
        "rosflight_py_sim",
        "fly",
        "--vehicle",
        vehicle,
        "--seed",
        "7",
        "--output",
        str(tmp_path),
    )
    result = command_line(*words, *arguments, *SHORT, timeout_s=300.0)
    assert result.returncode == 0, result.stdout + result.stderr
    found = re.search(r"tracking error\s*│ ([\d.]+) m RMS", result.stdout)
    assert found is not None, result.stdout
    assert float(found[1]) < LARGEST_RMS_M


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["hexarotor", "octorotor"])
def test_multirotor_with_more_rotors_flies_square(command_line: Run, tmp_path: Path, name: str) -> None:
    flown(command_line, tmp_path, name)


@pytest.mark.timeout(400)
def test_user_vehicle_flies_and_is_recorded_with_its_rotors(command_line: Run, tmp_path: Path) -> None:
    # A hexarotor plus: ROSflight's mixer HEX_PLUS, whose first rotor is at the front.
    for source, name, old, new in (
        ("vehicles/hexarotor.yaml", "plus.yaml", "../hexarotor", "own"),
        ("hexarotor.yaml", "own.yaml", "[30.0, 90.0, 150.0, 210.0, 270.0, 330.0]", "[0, 60, 120, 180, 240, 300]"),
        (
            "hexarotor_firmware.yaml",
            "own_firmware.yaml",
            "PRIMARY_MIXER, type: 6, value: 4",
            "PRIMARY_MIXER, type: 6, value: 3",
        ),
    ):
        text = (CONFIG / source).read_text(encoding="utf-8")
        assert old in text
        own = text.replace(old, new).replace("../px4/", f"{CONFIG}/px4/")
        (tmp_path / name).write_text(own, encoding="utf-8")
    file = tmp_path / "flight.mcap"
    flown(command_line, tmp_path, str(tmp_path / "plus.yaml"), "--record", str(file))
    assert list(tmp_path.glob("plus-*.png"))
    recording = read_recording(file, kept_of)
    (one,) = recorded_vehicles(recording)
    assert one.name == "plus"
    assert [actuator.name for actuator in one.actuators] == [f"motor {k}" for k in range(1, 7)]
    rotors = [part for part in appearance_of(one).parts if part.motion is not None]
    assert [round(part.pivot_frd[0], 6) for part in rotors] == [0.4, 0.2, -0.2, -0.4, -0.2, 0.2]
