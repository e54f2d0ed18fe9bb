"""docs/parameters.md matches the nodes' parameter tables."""

import importlib.util
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_page_matches_generated_tables() -> None:
    spec = importlib.util.spec_from_file_location("write_parameter_page", PROJECT / "tools" / "write_parameter_page.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (PROJECT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert written == tool.page(), "run .venv/bin/python tools/write_parameter_page.py"
