"""docs/parameters.md matches the nodes' parameter tables."""

from pathlib import Path

from project_programs import project_program

PROJECT = Path(__file__).parents[2]


def test_page_matches_generated_tables() -> None:
    tool = project_program("tools/write_parameter_page.py")
    written = (PROJECT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert written == tool.page(), "run .venv/bin/python tools/write_parameter_page.py"
