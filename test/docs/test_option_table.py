"""The option table in docs/launch.md matches the code."""

from __future__ import annotations

from pathlib import Path

from project_programs import project_program

PROJECT = Path(__file__).parents[2]


def test_documented_options_match_code() -> None:
    tool = project_program("tools/write_option_table.py")
    written = (PROJECT / "docs" / "launch.md").read_text(encoding="utf-8")
    assert written == tool.page(written), "run .venv/bin/python tools/write_option_table.py"
    assert written.count(tool.HEADER) == 1
