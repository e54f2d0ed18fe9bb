"""docs/world.md matches the code."""

import re
from pathlib import Path

from rosflight_py_sim.world import Kind, load_world
from rosflight_py_sim.world.colours import COLOURS

PAGE = (Path(__file__).parents[2] / "docs" / "world.md").read_text(encoding="utf-8")


def test_documented_example_loads(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "example.yaml"
    file.write_text(example)
    world = load_world(file)
    assert [thing.name for thing in world.objects] == ["line 0", "gate 1", "crate"]
    assert world.start is not None


def test_page_lists_object_kinds_and_sizes():
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", PAGE.split("| kind | size |")[1], re.MULTILINE)
    assert rows == [(kind.label, ", ".join(kind.sizes)) for kind in Kind]


def test_page_lists_the_colours():
    assert ", ".join(COLOURS) in " ".join(PAGE.split())


def test_documented_program_runs():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(program, "world.md", "exec"), names)
    assert len(names["solid"]) > 20
