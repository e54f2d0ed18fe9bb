"""Execution of sweeps: the same table whatever happens to the workers."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sample_flights
from forked_python import ForkedPython
from rich.console import Console
from sample_flights import STOP, write_sweep

from rosflight_py_sim import __version__
from rosflight_py_sim.sweep.execution import execute
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.workers import ChangedError, Fly, Job

TIMEOUT_S = 60.0
HERE = Path(__file__).parent


def table(file: Path, folder: Path, fly: Fly = sample_flights.fly_sample, workers: int = 2) -> Path:
    return execute(read_sweep(file), folder, fly, workers=workers, console=Console(file=io.StringIO()))


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    return write_sweep(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Table of one worker, which does not depend on the file's location."""
    folder = tmp_path_factory.mktemp("expected")
    return table(write_sweep(folder), folder / "out", workers=1).read_bytes()


def test_two_workers_give_the_same_table_as_one(sweep_file: Path, tmp_path: Path, expected: bytes) -> None:
    assert table(sweep_file, tmp_path / "two", sample_flights.fly_out_of_order).read_bytes() == expected


def test_killed_worker_is_replaced_and_its_run_flown_again(sweep_file: Path, tmp_path: Path, expected: bytes) -> None:
    assert table(sweep_file, tmp_path / "out", sample_flights.kill_once, 1).read_bytes() == expected
    assert sweep_file.with_suffix(".killed").exists()


@pytest.mark.parametrize(
    ("fly", "reason"),
    [
        (sample_flights.kill_always, "the worker process ended with signal 9"),
        (sample_flights.raise_error, "ZeroDivisionError: no mass"),
    ],
)
def test_run_that_cannot_be_flown_is_a_failed_row(sweep_file: Path, tmp_path: Path, fly: Fly, reason: str) -> None:
    rows = pq.read_table(table(sweep_file, tmp_path / "out", fly, 1)).to_pylist()
    assert [row["run"] for row in rows] == list(range(20))
    assert [(row["run"], row["reason"]) for row in rows if not row["succeeded"]] == [
        *((4, reason), (6, "did not take off"), (13, "did not take off"))
    ]


def test_stop_rule_ends_the_table_at_the_same_run_for_any_number_of_workers(tmp_path: Path) -> None:
    file = write_sweep(tmp_path, 500, STOP)
    one = table(file, tmp_path / "one", workers=1)
    two = table(file, tmp_path / "two", sample_flights.fly_out_of_order)
    assert one.read_bytes() == two.read_bytes()
    assert 5 < pq.read_metadata(one).num_rows < 500


def test_complete_sweep_is_not_flown_again(sweep_file: Path, tmp_path: Path) -> None:
    before = table(sweep_file, tmp_path / "out", workers=1).stat().st_mtime_ns
    assert table(sweep_file, tmp_path / "out", sample_flights.kill_always).stat().st_mtime_ns == before


def test_sweep_continues_after_kill_9_with_the_same_table(sweep_file: Path, tmp_path: Path, expected: bytes) -> None:
    program = (
        "import sys; from pathlib import Path; import sample_flights; "
        "from rosflight_py_sim.sweep.execution import execute; "
        "from rosflight_py_sim.sweep.sweep_file import read_sweep; "
        "execute(read_sweep(Path(sys.argv[1])), Path(sys.argv[2]), sample_flights.fly_very_slowly, workers=1)"
    )
    folder = tmp_path / "out"
    process = ForkedPython(
        ["-c", program, str(sweep_file), str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])},
        cwd=tmp_path,
        stdout=tmp_path / "printed",
        stderr=tmp_path / "errors",
    )
    try:
        end_s = time.monotonic() + TIMEOUT_S
        while not list(folder.glob("parts/*.parquet")):
            assert time.monotonic() < end_s and process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    parts = [pq.read_metadata(part).num_rows for part in folder.glob("parts/*.parquet")]
    assert 0 < sum(parts) < 20
    assert table(sweep_file, folder, workers=1).read_bytes() == expected


def test_workers_end_with_a_killed_command(sweep_file: Path, tmp_path: Path) -> None:
    from multiprocessing import Pipe

    connection, other = Pipe()
    worker = subprocess.Popen(
        [sys.executable, "-m", "rosflight_py_sim.sweep.worker_process", str(other.fileno())], pass_fds=[other.fileno()]
    )
    other.close()
    connection.close()
    # The worker itself and its watch on the parent see the end of the connection in either order.
    assert worker.wait(TIMEOUT_S) in (0, -signal.SIGTERM)


def test_sweep_file_changed_meanwhile_ends_the_sweep(sweep_file: Path, tmp_path: Path) -> None:
    sweep = read_sweep(sweep_file)
    write_sweep(tmp_path, runs=21)
    with pytest.raises(SweepError, match=r"sample\.yaml', or a file that it names, has changed since the sweep began"):
        execute(sweep, tmp_path / "out", sample_flights.fly_sample, workers=1)


def test_worker_of_another_version_is_refused(sweep_file: Path) -> None:
    job = Job(sample_flights.fly_sample, sweep_file, read_sweep(sweep_file).digest, "9.9")
    with pytest.raises(ChangedError, match=f"a worker has version {__version__} of this package; allowed: 9.9"):
        job.row(0)


def test_workers_that_cannot_start_end_the_sweep(
    sweep_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(SweepError, match=r"3 worker processes in a row ended before their first run, .* exit code 1"):
        table(sweep_file, tmp_path / "out")


def test_interrupted_sweep_stores_its_rows_and_ends_its_workers(
    sweep_file: Path, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rosflight_py_sim.sweep.sweep_progress import SweepProgress

    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def note(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr("subprocess.Popen", note)
    monkeypatch.setattr(SweepProgress, "add", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        table(sweep_file, tmp_path / "out", sample_flights.fly_slowly)
    assert len(started) == 2 and all(one.returncode is not None for one in started)
    monkeypatch.undo()
    assert list((tmp_path / "out" / "parts").glob("*.parquet"))
    assert table(sweep_file, tmp_path / "out", workers=1).read_bytes() == expected
