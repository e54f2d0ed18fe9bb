"""The option table in docs/launch.md matches the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_documented_options_match_code() -> None:
    path = PROJECT / "tools" / "write_option_table.py"
    spec = importlib.util.spec_from_file_location("write_option_table", path)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (PROJECT / "docs" / "launch.md").read_text(encoding="utf-8")
    assert written == tool.page(written), "run .venv/bin/python tools/write_option_table.py"
    assert written.count(tool.HEADER) == 1
