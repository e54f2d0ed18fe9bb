"""docs/search.md: its file is the example, examples can be searched, formulas and options are those of the code."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from rosflight_py_sim.commands.search import add_search_parser
from rosflight_py_sim.search.execution import read_property
from rosflight_py_sim.sweep.measured_values import trial_flight
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.temporal_logic import Property

PROJECT = Path(__file__).parents[2]
EXAMPLES = sorted((PROJECT / "docs" / "examples" / "search").glob("*.yaml"))
PAGE = (PROJECT / "docs" / "search.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """Cells of the table with a header."""
    lines = PAGE.partition(f"| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def test_file_on_the_page_is_the_example() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert text == (PROJECT / "docs/examples/search/gust_and_motor.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_can_be_searched_and_are_on_the_page(file: Path) -> None:
    assert read_property(read_sweep(file)).is_property
    assert f"[`{file.name}`]" in PAGE


def test_example_properties_are_allowed() -> None:
    trial = trial_flight(read_sweep(EXAMPLES[0]).scenario)
    formulas = [row[1].strip("`") for row in rows("property | formula")]
    assert len(formulas) == 4
    for text in formulas:
        Property(text, trial, {}).value(trial)


def test_table_of_options_is_that_of_the_command() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    add_search_parser(commands)
    usage = commands.choices["search"].format_usage()
    options = {name for name in re.findall(r"--[a-z]+", usage) if name != "--help"}
    written = {re.findall(r"--[a-z]+", row[0])[0] for row in rows("option of `rosflight_py_sim search FILE` | meaning")}
    assert written == options
