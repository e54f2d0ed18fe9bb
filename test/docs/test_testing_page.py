"""docs/testing.md: its commands do what it says, and its tables and snippets are those of the code."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rosflight_py_sim.testing import plugin
from rosflight_py_sim.testing.described import KEYS
from rosflight_py_sim.testing.flown import FlownSimulation

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "docs" / "examples" / "testing"
PAGE = (PROJECT / "docs" / "testing.md").read_text(encoding="utf-8")

# Commands of the page that need no environment of their own, in order, with exit code and a line of their output.
EXPECTED = {
    "pytest": (0, r"5 passed"),
    "pytest too_windy.py --simulation-bundles kept": (1, r"the recording equals the flight of the test, bit for bit"),
    "rosflight_py_sim refly kept/too_windy-test_square_in_strong_wind/recording.mcap": (0, r"equal: 51\.8250 s, "),
    "rosflight_py_sim refly kept/too_windy-test_square_in_strong_wind/recording.mcap --ros-args -p mass:=3.6": (
        1,
        r"first difference: step 0 \(0\.0000 s\), /sim/truth_state, message 1: pose\.position\.x: \S+ recorded, ",
    ),
    "rosflight_py_sim baseline record": (0, r"recorded: baseline\.yaml, 2 flights, \d+ kB"),
    "rosflight_py_sim baseline check": (0, r"weak_motor: equal; hash "),
    "sed -i 's/wrong by -100/wrong by -90/' baseline.yaml": (0, ""),
    "rosflight_py_sim baseline check ": (
        1,
        r"  first difference: step 1600, 8\.0000 s, node forces_and_moments: sim/forces_and_moments or ",
    ),
}


def rows(header: str) -> list[list[str]]:
    """Cells of the table with a header."""
    lines = PAGE.partition(f"| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split(" | ")] for line in (line.strip("| ") for line in lines)]


def named(header: str) -> set[str]:
    """Names in the first column of the table with a header."""
    return {name for row in rows(header) for name in re.findall(r"`(\w+)", row[0])}


def snippets(language: str) -> list[str]:
    """Blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.timeout(600)
def test_commands_of_the_page_run_in_their_order(tmp_path: Path, ros_domain: int) -> None:
    folder = tmp_path / "my_tests"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*", "kept"))
    typed = re.findall(r"^    ((?:pytest|rosflight_py_sim|sed)(?: .*)?)$", PAGE, re.MULTILINE)
    assert typed == [one.strip() for one in EXPECTED]
    binaries = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": binaries, "PYTHONPATH": ".", "COLUMNS": "120"}
    environment.pop("PYTEST_ADDOPTS", None)
    for command, (code, line) in EXPECTED.items():
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300.0,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert re.search(line, done.stdout), done.stdout


def test_tables_list_every_key_fixture_and_requirement() -> None:
    assert named("key | meaning") == {*KEYS, "ros"}
    fixtures = [name for name in named("fixture | value") if hasattr(plugin, name)]
    assert {*fixtures} == {"simulation", "vehicle", "ros_domain"} == named("fixture | value")
    methods = {name for name, _ in inspect.getmembers(FlownSimulation, inspect.isfunction) if name[0] != "_"}
    assert named("method | requirement") == methods


def test_snippets_are_those_of_the_files() -> None:
    python, files = "\n".join(one.read_text("utf-8") for one in EXAMPLE.glob("*.py")), snippets("yaml")
    for snippet in snippets("python"):
        for block in snippet.strip().split("\n\n\n"):
            # The page leaves out lines of the launch test.
            assert all(line.strip() in python for line in block.splitlines()), block
    assert files[0] == (EXAMPLE / "baseline.yaml").read_text(encoding="utf-8")


def test_snippets_of_continuous_integration_are_yaml_with_the_commands_of_the_page() -> None:
    github, gitlab = (yaml.safe_load(one) for one in snippets("yaml")[1:])
    steps = github["jobs"]["flights"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    # YAML 1.1 reads the key `on` as a truth value; GitHub does not.
    assert github[True] == ["push", "pull_request"]
    for commands in ([step["run"] for step in steps if "run" in step], gitlab["flights"]["script"]):
        assert any(one.startswith("pytest --simulation-bundles bundles") for one in commands)
        assert "rosflight_py_sim baseline check" in commands
    assert gitlab["flights"]["artifacts"]["paths"] == [steps[-1]["with"]["path"]] == ["bundles"]
