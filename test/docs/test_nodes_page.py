"""The table of imports in docs/nodes.md names modules and names that there are, and every interface class."""

import importlib
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "nodes.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("| for | module | names |") :].partition("\n\n")[0]
ROWS = [[re.findall(r"`(\w[\w.]*)`", cell) for cell in line.split("|")[2:4]] for line in TABLE.splitlines()[2:]]


def test_each_name_of_the_table_is_in_its_module() -> None:
    assert len(ROWS) > 10
    for (module,), names in ROWS:
        found = importlib.import_module(f"rosflight_py_sim.{module}")
        assert [name for name in names if not hasattr(found, name)] == []


def test_each_interface_class_of_the_contracts_stands_in_the_table() -> None:
    contracts = PAGE[PAGE.index("| class | methods |") :].partition("\n\n")[0]
    classes = set(re.findall(r"^\| `(\w+)`", contracts, re.MULTILINE))
    assert len(classes) == 5
    assert classes <= {name for _, names in ROWS for name in names}
