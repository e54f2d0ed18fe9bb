"""docs/camera.md matches the code."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "camera.md").read_text(encoding="utf-8")


def test_documented_program_detects_the_line():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(program, "camera.md", "exec"), names)
    blue, _, red = names["image"][60, 160].astype(int)
    assert red > 2 * blue
