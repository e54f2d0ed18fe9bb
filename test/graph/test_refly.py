"""A recorded run is repeated from its recording alone, and the first difference is found."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.reader import make_reader

from rosflight_py_sim.recording.mcap_file import read_recording
from test.graph.conftest import SLOW_SENSORS, small_square

pytestmark = pytest.mark.timeout(400)

Run = Callable[..., "subprocess.CompletedProcess[str]"]

CLI = ("-m", "rosflight_py_sim")
PILOT = str(Path(__file__).with_name("outside_pilot.py"))
FAST = ("--time-mode", "lockstep", "--real-time-multiplier", "0")


def recorded(run: Run, *arguments: str) -> None:
    result = run(*CLI, *arguments, timeout_s=300.0)
    assert result.returncode == 0, result.stderr


def reflown(run: Run, file: str, *arguments: str) -> tuple[int, str, str]:
    result = run(*CLI, "refly", file, *arguments, timeout_s=300.0)
    return result.returncode, result.stdout, result.stderr


def test_mission_is_repeated_and_another_mass_shows_the_first_difference(command_line: Run) -> None:
    short = (*small_square(), *SLOW_SENSORS)
    recorded(command_line, "fly", "--vehicle", "multirotor", "--record", "mission.mcap", *short)
    code, printed, complaints = reflown(command_line, "mission.mcap")
    assert (code, complaints) == (0, "")
    assert re.fullmatch(r"equal: \d+\.\d{4} s, \d+ topics, \d+ messages\n", printed)
    code, printed, _ = reflown(command_line, "mission.mcap", "--ros-args", "-p", "mass:=3.6")
    assert code == 1
    # The vehicle starts on the ground: its weight shows in the first steps.
    assert re.match(r"first difference: step \d \(0\.\d{4} s\), /sim/\S+, message \d+: \S+: \S+ recorded, ", printed)


def test_changed_files_other_versions_and_truncation_are_reported(command_line: Run, tmp_path: Path) -> None:
    parameters = tmp_path / "own.yaml"
    parameters.write_text("/**:\n  ros__parameters:\n    mass: 3.4\n", encoding="utf-8")
    own = ("--params-file", str(parameters))
    # Slow enough for several chunks; one is written every 0.4 s.
    slow = ("--time-mode", "lockstep", "--real-time-multiplier", "2")
    recorded(command_line, "sim", *slow, "--duration", "2", "--record", "run.mcap", "--ros-args", *own)
    parameters.write_text("/**:\n  ros__parameters:\n    mass: 3.6\n", encoding="utf-8")
    quiet = ("--ros-args", "--log-level", "error")
    code, printed, complaints = reflown(command_line, "run.mcap", *quiet)
    assert code == 0 and printed.startswith("equal: 2.0000 s, "), printed
    assert f"'{parameters}' has changed or is missing; its recorded contents are used" in complaints

    whole = (tmp_path / "run.mcap").read_bytes()
    version = read_recording(tmp_path / "run.mcap", lambda topic, type_name: 0).facts["version"]
    other = "9" * len(version)
    named = b'"rosflight_py_sim": "%s"'
    assert whole.count(named % version.encode()) == 1
    (tmp_path / "other.mcap").write_bytes(whole.replace(named % version.encode(), named % other.encode()))
    code, printed, complaints = reflown(command_line, "other.mcap", *quiet)
    assert code == 0
    assert f"recorded with rosflight_py_sim {other}, repeated with {version}: results may differ" in complaints

    with (tmp_path / "run.mcap").open("rb") as source:
        summary = make_reader(source).get_summary()
    assert summary is not None and len(summary.chunk_indexes) > 1
    (tmp_path / "truncated.mcap").write_bytes(whole[: summary.chunk_indexes[-1].chunk_start_offset + 20])
    code, printed, complaints = reflown(command_line, "truncated.mcap", *quiet)
    assert code == 0 and re.match(r"equal: [01]\.\d{4} s, ", printed), printed
    assert "the recording is truncated (its end is missing); it is compared up to its end" in complaints

    (tmp_path / "start.mcap").write_bytes(whole[:300])
    code, _, complaints = reflown(command_line, "start.mcap")
    assert code == 2 and "the recording does not describe its run" in complaints


@pytest.mark.parametrize("multiplier", ["4", "0"])
def test_services_and_commands_from_outside_are_repeated(command_line: Run, tmp_path: Path, multiplier: str) -> None:
    command = [sys.executable, *CLI, "sim", "--time-mode", "lockstep", "--real-time-multiplier", multiplier]
    with subprocess.Popen([*command, "--record", "run.mcap"], cwd=tmp_path, stdout=subprocess.DEVNULL) as simulation:
        try:
            piloted = command_line(PILOT, timeout_s=200.0)
        finally:
            simulation.send_signal(signal.SIGINT)
    assert piloted.returncode == 0, piloted.stderr
    code, printed, _ = reflown(command_line, "run.mcap")
    assert code == 0, printed
    # Calibration, arming, override, pause, two steps and resumption, besides the commands.
    found = re.search(r"(\d+) outside inputs", printed)
    assert found is not None and int(found[1]) > 7


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--time-mode", "gated", "--real-time-multiplier", "0"), "has the time mode 'gated'; allowed: lockstep"),
        (
            (
                *FAST,
                "--vehicle",
                "uthere",
                "--ros-args",
                "-p",
                "uthere.udp_port_in:={}",
                "-p",
                "uthere.udp_port_out:={}",
            ),
            "does not contain all inputs of its run: clients of the front-end 'uthere' (/bridge)",
        ),
    ],
)
def test_runs_that_cannot_be_repeated_are_refused(command_line: Run, arguments: tuple[str, ...], reason: str) -> None:
    from free_ports import free_ports

    ports = iter(free_ports(2))
    words = [word.format(next(ports)) if "{}" in word else word for word in arguments]
    recorded(command_line, "sim", "--duration", "0.1", "--record", "run.mcap", *words)
    code, printed, complaints = reflown(command_line, "run.mcap")
    assert (code, printed) == (2, "")
    assert reason in complaints
