"""docs/rc.md matches the code."""

from __future__ import annotations

import re
from pathlib import Path

from rosflight_py_sim.transmitter.keyboard import LAYOUTS
from rosflight_py_sim.transmitter.mapping import all_mappings, load_mappings

PAGE = (Path(__file__).parents[2] / "docs" / "rc.md").read_text(encoding="utf-8")


def test_documented_example_is_a_valid_mapping(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "example.yaml").write_text(example)
    (mapping,) = load_mappings(tmp_path / "example.yaml")
    assert mapping.fits("Some USB Simulator v2")


def test_every_included_mapping_has_a_table_row() -> None:
    for mapping in all_mappings(None):
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {mapping.name} |")]
        assert any(f"`{pattern}`" in row for pattern in mapping.matches)


def test_documented_keys_match_the_layouts() -> None:
    rows = [[cell.strip() for cell in line.split("|")[2:4]] for line in PAGE.splitlines() if line.startswith("| ")]
    for column, layout in enumerate(("vimfly", "wasd")):
        letters = {key for key in LAYOUTS[layout] if len(key) == 1}
        keys = [re.split(r"[, ]+", row[column]) for row in rows if len(row) == 2]
        assert letters <= {key for cell in keys for key in cell if len(key) == 1}
