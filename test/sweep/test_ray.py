"""Sweeps on a Ray cluster: the same table as on this machine, whatever happens to nodes and their processes."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sample_flights
from rich.console import Console
from sample_flights import write_sweep
from short_flights import CALIBRATED, SMALL_BIASES, SQUARE

from rosflight_py_sim import sweep
from rosflight_py_sim.sweep.execution import execute
from rosflight_py_sim.sweep.ray_guard import marked
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.workers import Fly

# Fixtures import Ray, because each process that runs tests imports all modules of tests, and Ray takes long.
pytestmark = [pytest.mark.timeout(600), pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")]

# Longest time for the processes of a runtime to end; without the guard, some run on for more than a minute.
TIMEOUT_S = 40.0

FLIGHTS = f"""\
description: Mass of the multirotor
vehicle: multirotor
runs: 3
parameters:
{SQUARE}
  step_size: 0.008
{SMALL_BIASES}
  mass: {{uniform: [2.8, 3.4]}}
firmware: {{{CALIBRATED}}}
measures:
  error: judge.tracking_error_rms_m
"""


STARTED = """
import time
from pathlib import Path
from rosflight_py_sim.sweep.ray_workers import RayWorkers
workers = RayWorkers(None, "local", 1)
Path("started").touch()
time.sleep(600.0)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes on this machine, each with one CPU and thus one worker process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_raylet_start_wait_time_s", "300")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])]))
        from ray.cluster_utils import Cluster

        # What is not needed by tasks would take seconds to start.
        left_out = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **left_out})
        made.add_node(num_cpus=1)
        yield made
        made.shutdown()


@pytest.fixture(scope="module")
def connected(cluster: Any) -> Iterator[Any]:
    """The cluster, and a connection that the following sweeps share, as they share the processes of its workers."""
    import ray

    ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    yield cluster
    ray.shutdown()


def table(file: Path, folder: Path, fly: Fly, ray: str | None) -> Path:
    return execute(read_sweep(file), folder, fly, ray=ray, console=Console(file=io.StringIO()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_sweep(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Table of this machine, which does not depend on the file's location."""
    folder = tmp_path_factory.mktemp("expected")
    return table(write_sweep(folder), folder / "out", sample_flights.fly_sample, None).read_bytes()


# The next two are first, because they connect by themselves.
def test_missing_cluster_is_reported_at_once(file: Path, tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"there is no Ray cluster at '127\.0\.0\.1:9': .*refused"):
        table(file, tmp_path / "ray", sample_flights.fly_sample, "127.0.0.1:9")


def test_flights_on_the_cluster_give_the_same_table_as_on_this_machine(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(FLIGHTS)
    sweep.run(file, output=tmp_path / "ray", ray=cluster.address)
    sweep.run(file, output=tmp_path / "here", workers=1)
    contents = [(tmp_path / name / "table.parquet").read_bytes() for name in ("ray", "here")]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("fly", [sample_flights.fly_out_of_order, sample_flights.kill_once])
def test_cluster_gives_the_same_table_as_this_machine(
    connected: Any, file: Path, tmp_path: Path, expected: bytes, fly: Fly
) -> None:
    assert table(file, tmp_path / "ray", fly, connected.address).read_bytes() == expected


def test_run_that_ends_its_process_twice_is_a_failed_row(connected: Any, file: Path, tmp_path: Path) -> None:
    rows = pq.read_table(table(file, tmp_path / "ray", sample_flights.kill_always, connected.address)).to_pylist()
    assert [(row["run"], row["reason"]) for row in rows if not row["succeeded"]] == [
        *((4, "the worker process ended (WorkerCrashedError)"), (6, "did not take off"), (13, "did not take off"))
    ]


def test_sweep_file_that_a_node_reads_differently_ends_the_sweep(connected: Any, file: Path, tmp_path: Path) -> None:
    read = read_sweep(file)
    write_sweep(tmp_path, runs=21)
    with pytest.raises(SweepError, match="has changed since the sweep began"):
        execute(read, tmp_path / "ray", sample_flights.fly_sample, ray=connected.address)


def test_started_runtime_ends_with_the_killed_program(tmp_path: Path) -> None:
    mark = f"TEST_OF_RAY={tmp_path}"
    environment = {**os.environ, "TEST_OF_RAY": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    with (tmp_path / "output").open("w") as output:
        program = subprocess.Popen(
            [sys.executable, "-c", STARTED], cwd=tmp_path, env=environment, stdout=output, stderr=output
        )
    try:
        while not (tmp_path / "started").exists():
            assert program.poll() is None, (tmp_path / "output").read_text()
            time.sleep(0.1)
        assert len(marked(mark.encode())) > 4
    finally:
        program.kill()
        program.wait()
    end_s = time.monotonic() + TIMEOUT_S
    while left := marked(mark.encode()):
        assert time.monotonic() < end_s, [Path(f"/proc/{one}/cmdline").read_bytes() for one in left]
        time.sleep(0.1)


# Last, because the cluster loses a node.
def test_runs_of_a_lost_node_are_flown_again(connected: Any, file: Path, tmp_path: Path, expected: bytes) -> None:
    folder = tmp_path / "ray"
    lost = list(connected.worker_nodes)[-1]

    def lose_node() -> None:
        while not list(folder.glob("parts/*.parquet")):
            time.sleep(0.02)
        connected.remove_node(lost, allow_graceful=False)

    losing = threading.Thread(target=lose_node)
    losing.start()
    result = table(file, folder, sample_flights.fly_very_slowly, connected.address).read_bytes()
    losing.join()
    assert result == expected
