"""docs/sweep.md: its sweep files can be read, and its tables list every key, distribution, function and option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rosflight_py_sim.autopilot.mission import Phase
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.sweep.expressions import FUNCTIONS, Expression, series_of
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.vehicles import vehicle

PROJECT = Path(__file__).parents[2]
EXAMPLES = sorted((PROJECT / "docs" / "examples" / "sweeps").glob("*.yaml"))
PAGE = (PROJECT / "docs" / "sweep.md").read_text(encoding="utf-8")
FILES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def rows(header: str) -> list[list[str]]:
    """Cells of the table with a header."""
    lines = PAGE.partition(f"| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split(" | ")] for line in (line.strip("| ") for line in lines)]


JUDGE = "judge.tracking_error_rms_m"
NAMES = {name for row in rows("name | kind | meaning") for name in re.findall(r"`([\w.]+)`", row[0])}


def test_first_example_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(FILES[0], encoding="utf-8")
    assert read_sweep(file).runs == 200


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_files_can_be_read(file: Path) -> None:
    assert read_sweep(file).measures


@pytest.mark.parametrize(("place", "name"), [(1, "multirotor_gains"), (2, "fixedwing_landing")])
def test_worked_examples_show_their_files(place: int, name: str) -> None:
    assert FILES[place] == (PROJECT / f"docs/examples/sweeps/{name}.yaml").read_text(encoding="utf-8")


def test_table_of_functions_is_that_of_the_code() -> None:
    assert rows("function | value") == [[f"`{one.call}`", one.text] for one in FUNCTIONS.values()]


def test_table_of_names_is_that_of_the_code() -> None:
    log = FlightLog(vehicle("multirotor").actuators, Phase)
    assert NAMES - {JUDGE} == set(series_of(log))


def test_table_of_distributions_is_that_of_the_code(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(FILES[0].replace("uniform", "poisson"), encoding="utf-8")
    with pytest.raises(ParameterError) as error:
        read_sweep(file)
    allowed = re.findall(r"\w+", str(error.value).rpartition("allowed:")[2])
    assert {row[0].strip("`{").partition(":")[0] for row in rows("distribution | values")} == set(allowed)


def test_table_of_keys_is_that_of_the_code(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(f"colour: red\n{FILES[0]}", encoding="utf-8")
    with pytest.raises(ParameterError) as error:
        read_sweep(file)
    allowed = re.findall(r"\w+", str(error.value).rpartition("allowed:")[2])
    written = {name for row in rows("key | default | meaning") for name in row[0].replace("`", "").split(", ")}
    assert written == set(allowed)


def test_example_expressions_are_allowed() -> None:
    expressions = [row[1].strip("`") for row in rows("measure | expression")]
    assert len(expressions) == 4
    for text in expressions:
        Expression(text, NAMES)
