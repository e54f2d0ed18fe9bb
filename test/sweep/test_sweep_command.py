"""The command `rosflight_py_sim sweep` and the function `run`, with real flights."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from forked_python import ForkedPython, preload, run_forked_python
from short_flights import CALIBRATED, SMALL_BIASES, SQUARE

from proof.interruptions import Interrupted, interrupt_at
from rosflight_py_sim import sweep

pytestmark = pytest.mark.timeout(600)

PROJECT = Path(__file__).parents[2]
TIMEOUT_S = 300.0
RUNS = 3

SWEEP = f"""\
description: Mass, wind and a failure of the multirotor
vehicle: multirotor
runs: {RUNS}
seed: 3
parameters:
{SQUARE}
  step_size: 0.008
{SMALL_BIASES}
  mass: {{uniform: [2.8, 3.4]}}
  use_random_wind: {{choice: [true, false]}}
  steady_state_wind: [{{uniform: [-3, 3]}}, 0.0, 0.0]
firmware: {{{CALIBRATED}}}
failures: ["motor 1 stuck at {{time}}"]
variables:
  time: {{uniform: [0, 20]}}
measures:
  error: judge.tracking_error_rms_m
signals:
  height: -truth_state.position_ned[2]
signal_period: 0.05
limit: 8
"""

# Writes the first run's row to disk as soon as the run has ended.
SAVED_AT_ONCE = """\
from rosflight_py_sim.sweep import store
store.SAVING_PERIOD_S = 0.0
from rosflight_py_sim.commands.cli import main
main()
"""


@pytest.fixture(scope="module", autouse=True)
def _preload() -> None:
    preload("rosflight_py_sim.sweep.report", "SALib.analyze.rbd_fast")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "mixed.yaml"
    path.write_text(SWEEP)
    return path


@pytest.fixture(scope="module")
def flown(file: Path) -> str:
    """What the command prints when one worker flies the sweep, into the folder `mixed.sweep` beside the file."""
    code, printed, errors = finished(file, "--workers", "1", folder=file.parent)
    assert code == 0, errors
    return printed


@pytest.fixture(scope="module")
def expected(file: Path, flown: str) -> bytes:
    """Table of one worker."""
    return (file.with_suffix(".sweep") / "table.parquet").read_bytes()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT)}


def finished(*arguments: object, folder: Path) -> tuple[int, str, str]:
    """Exit code and output of the command."""
    command = ["-m", "rosflight_py_sim", "sweep", *map(str, arguments)]
    done = run_forked_python(command, env=environment(), cwd=folder, timeout=TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def wait_for_part(folder: Path, process: ForkedPython) -> None:
    end_s = time.monotonic() + TIMEOUT_S
    while not list(folder.glob("parts/*.parquet")):
        assert time.monotonic() < end_s and process.poll() is None
        time.sleep(0.02)


def test_flights_differ_succeed_and_fail(expected: bytes, file: Path) -> None:
    table = pq.read_table(file.with_suffix(".sweep") / "table.parquet").to_pandas()
    assert table["run"].tolist() == list(range(RUNS))
    succeeded = table[table["succeeded"]]
    assert 2 <= len(succeeded) < RUNS
    assert succeeded["error"].nunique() == len(succeeded) and table["mass"].nunique() == RUNS
    assert all(len(heights) > 100 for heights in succeeded["height"])
    assert [*map(bool, table["reason"])] == [not one for one in table["succeeded"]]


def test_command_writes_table_and_report_into_folder_named_after_file(file: Path, flown: str) -> None:
    folder = file.with_suffix(".sweep")
    assert (folder / "report.html").stat().st_size > 1000
    failed = pq.read_table(folder / "table.parquet")["succeeded"].to_pylist().count(False)
    assert flown.splitlines() == [
        f"{RUNS} runs, {failed} failed",
        f"table: {folder / 'table.parquet'}",
        f"report: {folder / 'report.html'}",
    ]


def test_two_workers_give_the_same_table_as_one_from_python(file: Path, tmp_path: Path, expected: bytes) -> None:
    table = sweep.run(str(file), output=tmp_path, workers=2)
    assert (tmp_path / "table.parquet").read_bytes() == expected
    pd.testing.assert_frame_equal(table, pd.read_parquet(file.with_suffix(".sweep") / "table.parquet"))


def test_sweep_continues_after_kill_9_with_the_same_table(file: Path, tmp_path: Path, expected: bytes) -> None:
    process = ForkedPython(
        ["-c", SAVED_AT_ONCE, "sweep", str(file), "--output", "out", "--workers", "1"],
        env=environment(),
        cwd=tmp_path,
        stdout=tmp_path / "printed",
        stderr=tmp_path / "errors",
    )
    try:
        wait_for_part(tmp_path / "out", process)
    finally:
        process.kill()
        process.wait()
    assert not (tmp_path / "out" / "table.parquet").exists()
    code, _, errors = finished(file, "--output", "out", "--workers", "1", folder=tmp_path)
    assert code == 0, errors
    assert (tmp_path / "out" / "table.parquet").read_bytes() == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_sweep_says_how_to_continue(tmp_path: Path, number: signal.Signals) -> None:
    # More runs than can be flown before the signal.
    (tmp_path / "long.yaml").write_text(SWEEP.replace(f"runs: {RUNS}", "runs: 400"))
    process = ForkedPython(
        ["-c", SAVED_AT_ONCE, "sweep", "long.yaml", "--output", "out", "--workers", "1"],
        env=environment(),
        cwd=tmp_path,
        stdout=tmp_path / "printed",
        stderr=tmp_path / "errors",
    )
    try:
        wait_for_part(tmp_path / "out", process)
        process.send_signal(number)
        code = process.wait(TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    errors = (tmp_path / "errors").read_text()
    assert code == 130
    assert errors.splitlines()[-1] == (
        "rosflight_py_sim: interrupted; give the same command again to fly the remaining runs"
    )
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_at_any_moment_ends_command_without_orphan_or_traceback(
    file: Path, ros_domain: int, number: signal.Signals
) -> None:
    # Workers start, runs are flown, the report is written.
    endings = interrupt_at(Interrupted(("sweep", str(file)), 1.75), (0.0, 0.5, 1.0, 1.75), number, ros_domain)
    assert endings.are_clean, endings


def test_graph_gives_the_same_table(file: Path, tmp_path: Path, expected: bytes) -> None:
    code, _, errors = finished(file, "--output", "out", "--graph", folder=tmp_path)
    assert code == 0, errors
    assert (tmp_path / "out" / "table.parquet").read_bytes() == expected


def test_run_is_flown_again_in_the_graph_with_the_same_outcome(
    file: Path, tmp_path: Path, expected: bytes, ros_domain: int
) -> None:
    rows = pq.read_table(file.with_suffix(".sweep") / "table.parquet").to_pylist()
    row = next(one for one in rows if one["succeeded"])
    code, printed, errors = finished(file, "--run", row["run"], folder=tmp_path)
    assert code == 0, errors
    assert printed.startswith(f"run {row['run']}, mass {row['mass']:g} kg, ")
    assert f"{row['error']:.2f} m RMS" in printed
    assert list((tmp_path / "flights").glob("*.png"))


def test_run_flown_again_ends_at_the_limit(tmp_path: Path, ros_domain: int) -> None:
    (tmp_path / "short.yaml").write_text(SWEEP.replace("limit: 8", "limit: 0.2"))
    code, printed, errors = finished("short.yaml", "--run", 0, folder=tmp_path)
    assert code == 1, errors
    assert "not done after 0.2 s" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.yaml"], ["missing.yaml"]),
        (["FILE", "--run", str(RUNS)], [f"--run: run {RUNS} given; allowed: 0 to {RUNS - 1}"]),
        (["FILE", "--view"], ["--view given without --run"]),
        (["FILE", "--workers", "0"], ["workers: 0 given; allowed: at least 1"]),
        (["FILE", "--ray", "127.0.0.1:9"], ["no Ray cluster at '127.0.0.1:9'"]),
        (["other.yaml", "--output", "ONE"], ["mixed.yaml', not of '", "other.yaml", "--output"]),
    ],
)
def test_wrong_input_is_rejected_in_one_line(
    file: Path, tmp_path: Path, expected: bytes, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "other.yaml").write_text(SWEEP.replace("seed: 3", "seed: 4"))
    names = {"FILE": str(file), "ONE": str(file.with_suffix(".sweep"))}
    code, _, errors = finished(*(names.get(one, one) for one in arguments), folder=tmp_path)
    assert code == 1
    (line,) = errors.splitlines()
    assert line.startswith("rosflight_py_sim: ")
    for word in words:
        assert word in line
    assert "Traceback" not in errors


@pytest.mark.parametrize(("package", "option"), [("pyarrow", []), ("ray", ["--ray", "auto"])])
def test_missing_package_error_names_the_extra(file: Path, tmp_path: Path, package: str, option: list[str]) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from rosflight_py_sim.commands.cli import main; main()"
    result = run_forked_python(
        ["-c", program, "sweep", str(file), *option], env=environment(), cwd=tmp_path, timeout=TIMEOUT_S
    )
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    extra = "sweep" if package == "pyarrow" else "ray"
    assert f"needs {package} " in line and line.endswith(f"pip install 'rosflight_py_sim[{extra}]'")
