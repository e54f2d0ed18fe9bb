"""The state tables in docs/bridge.md match the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_documented_states_match_code() -> None:
    path = PROJECT / "tools" / "write_transition_tables.py"
    spec = importlib.util.spec_from_file_location("write_transition_tables", path)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (PROJECT / "docs" / "bridge.md").read_text(encoding="utf-8")
    assert written == tool.page(written), "run .venv/bin/python tools/write_transition_tables.py"
    assert all(written.count(f"| {name} state | event |") == 1 for name in tool.TABLES)
