"""The command `rosflight_py_sim search`, with real flights."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from forked_python import preload, run_forked_python
from short_flights import CALIBRATED, SMALL_BIASES, SQUARE

pytestmark = pytest.mark.timeout(600)

PROJECT = Path(__file__).parents[2]
TIMEOUT_S = 300.0

SEARCH = f"""\
description: Height of the square
vehicle: multirotor
runs: 40
seed: 3
parameters:
{SQUARE.replace("square_height: 1.0", "square_height: {uniform: [0.8, 1.6]}")}
  step_size: 0.008
{SMALL_BIASES}
  mass: {{uniform: [3.3, 3.7]}}
variables:
  loss: {{uniform: [0, 20]}}
firmware: {{{CALIBRATED}}}
failures: ["motor 1 wrong by -{{loss}}"]
nominal: {{square_height: 1.0, loss: 0}}
signals:
  height: -truth_state.position_ned[2]
property: always(height < 1.6)
limit: 20
"""


@pytest.fixture(scope="module", autouse=True)
def _preload() -> None:
    preload("rosflight_py_sim.sweep.report", "rosflight_py_sim.testing.bundle")


def finished(command: str, *arguments: object, folder: Path, domain: int) -> tuple[int, str, str]:
    """Exit code and output of a command."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "ROS_DOMAIN_ID": str(domain)}
    done = run_forked_python(
        ["-m", "rosflight_py_sim", command, *map(str, arguments)], env=environment, cwd=folder, timeout=TIMEOUT_S
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("search") / "height.yaml"
    path.write_text(SEARCH)
    return path


@pytest.fixture(scope="module")
def printed(file: Path, claim_domain: Callable[[], AbstractContextManager[int]]) -> str:
    """What the command prints when one worker searches."""
    with claim_domain() as domain:
        code, output, errors = finished("search", file, "--workers", "1", folder=file.parent, domain=domain)
    assert code == 1, errors
    return output


def test_command_prints_the_smallest_failing_case_in_the_words_of_the_file(file: Path, printed: str) -> None:
    lines = printed.splitlines()
    assert lines[0] == "property: always(height < 1.6)"
    (height,) = [line for line in lines if line.startswith("  square_height ")]
    assert height.endswith("(nominal 1 m)")
    assert 1.0 < float(height.split()[1]) < 1.5
    assert "  nominal: mass, loss" in lines
    assert f"table: {file.with_suffix('.search') / 'table.parquet'}" in lines
    page = (file.with_suffix(".search") / "report.html").read_text(encoding="utf-8")
    name, value = height.split(maxsplit=1)
    assert f"<th>{name}</th><td>{value}</td>" in page and "<th>nominal</th><td>mass, loss</td>" in page
    assert "the recording equals the flight of the test, bit for bit" in lines


def test_refly_repeats_the_failing_flight_to_the_bit(file: Path, printed: str, ros_domain: int) -> None:
    (command,) = re.findall(r"fly it again: rosflight_py_sim refly (.*)", printed)
    code, output, errors = finished("refly", command, folder=file.parent, domain=ros_domain)
    assert code == 0, errors
    assert output.startswith("equal: ")


def test_two_workers_find_the_same_case(file: Path, printed: str, tmp_path: Path, ros_domain: int) -> None:
    code, output, errors = finished(
        "search", file, "--output", "out", "--workers", "2", folder=tmp_path, domain=ros_domain
    )
    assert code == 1, errors
    expected = file.with_suffix(".search") / "table.parquet"
    assert (tmp_path / "out" / "table.parquet").read_bytes() == expected.read_bytes()
    assert output.splitlines()[:5] == printed.splitlines()[:5]


def test_flight_of_a_search_is_flown_again_in_the_graph(file: Path, printed: str, ros_domain: int) -> None:
    rows = pq.read_table(file.with_suffix(".search") / "table.parquet").to_pylist()
    row = next(one for one in rows if one["robustness"] >= 0.0)
    code, output, errors = finished("search", file, "--run", row["run"], folder=file.parent, domain=ros_domain)
    assert code == 0, errors
    assert output.startswith(f"run {row['run']}, square_height {row['square_height']:g} m, ")


def test_sweep_of_the_same_file_has_the_robustness_in_its_table(file: Path, tmp_path: Path, ros_domain: int) -> None:
    text = SEARCH.replace("runs: 40\n", "").replace("uniform: [0.8, 1.6]", "grid: [1.0, 1.6]")
    (tmp_path / "two.yaml").write_text(text)
    code, _, errors = finished("sweep", "two.yaml", "--workers", "1", folder=tmp_path, domain=ros_domain)
    assert code == 0, errors
    rows = pq.read_table(tmp_path / "two.sweep" / "table.parquet").to_pylist()
    assert {row["square_height"] for row in rows} == {1.0, 1.6}
    for row in rows:
        assert row["succeeded"] == (row["square_height"] == 1.0) == (row["robustness"] > 0.0)
        assert row["reason"] == (
            "" if row["succeeded"] else f"the property is broken, robustness {row['robustness']:.4g}"
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.yaml"], "missing.yaml"),
        (["FILE", "--budget", "0"], "--budget: 0 given; allowed: "),
        (["FILE", "--seed", "-1"], "--seed: -1 given; allowed: "),
        (["FILE", "--view"], "--view given without --run"),
        (["FILE", "--workers", "0"], "workers: 0 given; allowed: at least 1"),
        (["FILE", "--run", "3", "--output", "nowhere"], "--run: 'nowhere' holds no complete search"),
    ],
)
def test_wrong_input_is_rejected_in_one_line(
    file: Path, tmp_path: Path, ros_domain: int, arguments: list[str], words: str
) -> None:
    names = {"FILE": str(file)}
    given = [names.get(one, one) for one in arguments]
    code, _, errors = finished("search", *given, folder=tmp_path, domain=ros_domain)
    assert code == 1
    (line,) = errors.splitlines()
    assert line.startswith("rosflight_py_sim: ") and words in line
