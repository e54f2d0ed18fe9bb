"""Unusual file names, full disks, missing folders: each command works, or ends with one line that says what to do."""

from __future__ import annotations

import ctypes
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.ground.confined_files import expanded
from rosflight_py_sim.ground.new_files import reserved
from rosflight_py_sim.ground.parameters import ParameterError

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[2]

LATIN_1 = os.fsdecode(b"caf\xe9")
"""A file name as older systems write it, which is not UTF-8."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def obey_permissions() -> None:
    """Let the permissions of files apply to the program that is about to start, even if it runs as root."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


@pytest.fixture
def run(ros_domain: int, tmp_path: Path) -> Run:
    """A function that runs a module of the package to its end, in a temporary folder."""

    def run_module(
        *words: str, module: str = "", stdout: int = subprocess.PIPE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(ros_domain), **environment}
        return subprocess.run(
            [sys.executable, "-m", f"rosflight_py_sim{module}", *words],
            cwd=tmp_path,
            env={name: value for name, value in variables.items() if value},
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=100.0,
            check=False,
            preexec_fn=obey_permissions,
        )

    return run_module


def test_recording_with_any_file_name_is_read(run: Run, tmp_path: Path) -> None:
    recorded = run("sim", "--duration", "0.1", "--record", "flight.mcap")
    assert recorded.returncode == 0, recorded.stderr
    (tmp_path / "flight.mcap").rename(tmp_path / f"{LATIN_1}.mcap")
    report = run("report", f"{LATIN_1}.mcap", PYTHONUTF8="1")
    assert report.returncode == 0, report.stderr
    assert f"report: {tmp_path / LATIN_1}.html" in report.stdout
    assert r"caf\xe9.mcap" in (tmp_path / f"{LATIN_1}.html").read_text(encoding="utf-8")
    again = run("refly", f"{LATIN_1}.mcap")
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("equal: ")


@pytest.mark.parametrize(
    "words",
    [
        ("sim", "--record", f"{LATIN_1}.mcap"),
        ("sim", "--namespace", LATIN_1),
        ("sim", "--params-file", f"{LATIN_1}.yaml"),
        ("fly", "--ros-args", "-p", f"param_storage_file:={LATIN_1}"),
    ],
)
def test_names_that_ros_cannot_take_are_refused_in_one_line(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "UTF-8" in line] == done.stderr.splitlines()
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    ("module", "words"),
    [("", ("vehicles",)), ("", ("--help",)), ("", ("--version",)), (".executables", ("rc", "--help"))],
)
def test_full_disk_is_reported_in_one_line(run: Run, module: str, words: tuple[str, ...], buffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(*words, module=module, stdout=full.fileno(), PYTHONUNBUFFERED=buffered)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith(": the output cannot be written: No space left on device")


def test_reader_that_stops_early_is_no_error(run: Run) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run("vehicles", stdout=writer)
    os.close(writer)
    assert done.stderr == ""


def test_recordings_of_the_same_second_have_different_names(tmp_path: Path) -> None:
    first, second, third = (reserved(tmp_path / "flights", "multirotor", ".mcap") for _ in range(3))
    assert len({first, second, third}) == 3
    assert first.is_file() and second.is_file() and third.is_file()
    assert {one.suffix for one in (first, second, third)} == {".mcap"}


RECORD_TWICE = """
import datetime, sys
from pathlib import Path
from rosflight_py_sim.ground import new_files
from rosflight_py_sim.nodes.recorder import Recorder

class Noon(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 1, 12)

new_files.datetime = Noon
import rclpy
rclpy.init()
nodes = [Recorder(name=f"recorder_{number}") for number in range(2)]
print([str(node.path) for node in nodes])
for node in nodes:
    node.destroy_node()
rclpy.shutdown()
"""


def test_two_recorders_that_start_in_the_same_second_record_to_two_files(ros_domain: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RECORD_TWICE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(ros_domain)},
        capture_output=True,
        text=True,
        timeout=100.0,
        check=False,
    )
    names = ["flights/recording-20260101-120000.mcap", "flights/recording-20260101-120000-2.mcap"]
    assert done.stdout.strip() == str(names), done.stderr
    assert all((tmp_path / name).stat().st_size > 0 for name in names)


def test_unknown_home_folder_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError("no such user, as in a container started with --user 12345")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(ParameterError, match=r"'~/x.yaml' given, but the home folder is unknown: set .* HOME, or give"):
        expanded("~/x.yaml")
    assert expanded("x.yaml") == Path("x.yaml")


def test_without_home_the_log_folder_of_ros_is_named(run: Run) -> None:
    done = run("sim", "--duration", "0.1", HOME="", ROS_LOG_DIR="", ROS_HOME="")
    assert done.returncode == 1
    # In Jazzy, rcutils prints lines of its own before.
    assert "set HOME, or ROS_LOG_DIR to a folder that you can write to" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_log_file_that_cannot_be_created_is_reported_with_a_remedy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir(mode=0o555)
    done = run("sim", "--duration", "0.1", ROS_LOG_DIR=str(tmp_path / "log"))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("rosflight_py_sim: Failed opening file ")
    assert line.endswith("Permission denied (set HOME, or ROS_LOG_DIR to a folder that you can write to)")


@pytest.mark.parametrize("output", ["locked", "locked/plots", "file"])
def test_folder_for_plots_that_cannot_be_written_is_refused_before_the_flight(
    run: Run, tmp_path: Path, output: str
) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    (tmp_path / "file").touch()
    done = run("fly", "--output", output)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"rosflight_py_sim: folder '{output}' for plots given, which cannot be written (")
    assert "--output" in line and done.stdout == ""


IN_REMOVED_FOLDER = """
import sys
from pathlib import Path
from rosflight_py_sim.commands.cli import main

Path.cwd().rmdir()
main(sys.argv[1:])
"""


@pytest.mark.parametrize("words", [("sim", "--duration", "0.1", "--record"), ("fly",)])
def test_removed_working_folder_is_reported_in_one_line(
    ros_domain: int, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", IN_REMOVED_FOLDER, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(ros_domain)},
        capture_output=True,
        text=True,
        timeout=100.0,
        check=False,
    )
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("rosflight_py_sim: ")]
    assert len(lines) == 1 and "cannot" in lines[0]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_standard_streams_are_no_error(ros_domain: int, tmp_path: Path, closed: tuple[int, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rosflight_py_sim", "sim", "--duration", "0.1", "--record", "flight.mcap"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(ros_domain)},
        preexec_fn=lambda: [os.close(number) for number in closed],
        timeout=100.0,
        check=False,
    )
    assert done.returncode == 0
    assert (tmp_path / "flight.mcap").stat().st_size > 0


@pytest.mark.parametrize(
    ("section", "name", "value", "reason"),
    [
        ("standalone_dynamics", "masss", "3.0", "there is no parameter 'masss'; did you mean 'mass'?"),
        ("/**", "masss", "3.0", "there is no parameter 'masss'; did you mean 'mass'?"),
        ("/dynamics", "mass", "-3.0", "parameter 'mass': -3.0 given; allowed: number, "),
        ("dynamics", "shear_roughness_length", "[1]", "parameter 'shear_roughness_length': [1] given; allowed: "),
    ],
)
def test_error_in_a_parameter_file_names_file_and_line(
    run: Run, tmp_path: Path, section: str, name: str, value: str, reason: str
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"# a comment\n{section}:\n  ros__parameters:\n    Jyy: 0.2\n    {name}: {value}\n")
    vehicle = str(ROOT / "config" / "multirotor.yaml")
    node = run(
        *("standalone_dynamics", "--ros-args", "--params-file", vehicle, "--params-file", "own.yaml"),
        module=".executables",
    )
    assert node.returncode == 1
    assert node.stderr.startswith(f"dynamics: own.yaml, line 5: {reason}")
    composed = run("sim", "--params-file", "own.yaml")
    assert composed.returncode == 1
    assert composed.stderr.startswith(f"rosflight_py_sim: own.yaml, line 5: {reason}")
