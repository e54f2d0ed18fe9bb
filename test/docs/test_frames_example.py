"""The examples of docs/frames.md print the values in their comments."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "frames.md").read_text(encoding="utf-8")


def numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+\.?\d*", text)]


@pytest.mark.parametrize(("example", "lines"), [(0, 3), (1, 2)])
def test_example_output_matches_its_comments(example: int, lines: int) -> None:
    code = PAGE.split("```python")[1 + example].split("```")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/frames.md", "exec"), {})
    expected = re.findall(r"# .*(\[.*\])$", code, re.MULTILINE)
    assert len(expected) == lines
    for line, comment in zip(printed.getvalue().splitlines(), expected, strict=True):
        assert numbers(line) == pytest.approx(numbers(comment), abs=1e-3)
