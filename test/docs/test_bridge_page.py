"""The state tables in docs/bridge.md match the code."""

from __future__ import annotations

from pathlib import Path

from project_programs import project_program

PROJECT = Path(__file__).parents[2]


def test_documented_states_match_code() -> None:
    tool = project_program("tools/write_transition_tables.py")
    written = (PROJECT / "docs" / "bridge.md").read_text(encoding="utf-8")
    assert written == tool.page(written), "run .venv/bin/python tools/write_transition_tables.py"
    assert all(written.count(f"| {name} state | event |") == 1 for name in tool.TABLES)
