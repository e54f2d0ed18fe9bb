"""The tables of docs/failures.md list every part with its kinds, and every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from rosflight_py_sim.failures.failure import KINDS, all_targets, parse_failure

PAGE = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("name", all_targets())
def test_every_part_is_listed_with_its_kinds(name: str) -> None:
    target = all_targets()[name]
    (row,) = [row for row in ROWS if (f"`{name}` N" if target.last else f"`{name}`") in row[0].split(", ")]
    assert row[3] == ", ".join(f"`{kind}`" for kind in target.kinds)
    assert row[2].split(",")[0] == target.unit.split(",")[0]


def test_every_kind_is_explained() -> None:
    assert set(KINDS) <= {row[0].strip("`") for row in ROWS}


def test_every_example_is_a_failure() -> None:
    examples = [row[0].strip("`") for row in ROWS if len(row) == 2]
    assert len(examples) == 5
    for example in examples:
        assert parse_failure(example).text == example
