"""Commands of the docs that start ROSflight's nodes: each names its node, so that the node finds its parameters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# In code blocks and in text; a backslash continues a line.
RUNS = re.compile(r"ros2 run rosflight_(?:sim|io) (?:[^\n`]|\\\n)*")
NODES = re.compile(r"Node\([^)]*package=.rosflight_(?:sim|io).[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_names_the_node_that_it_starts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [run for run in RUNS.findall(text) if "-r __node:=" not in run] == []
    assert [node for node in NODES.findall(text) if "name=" not in node] == []


def test_launch_page_has_such_commands() -> None:
    text = (ROOT / "docs" / "launch.md").read_text(encoding="utf-8")
    assert len(RUNS.findall(text)) >= 5 and NODES.findall(text)
