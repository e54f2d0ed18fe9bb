"""docs/nodes.md and docs/reference.md match the ports of the code, and docs/add_a_node.md lists names that exist."""

import importlib
import re
from pathlib import Path

from project_programs import project_program

DOCS = Path(__file__).parents[2] / "docs"
NODES = (DOCS / "nodes.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")
PAGE = (DOCS / "add_a_node.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("| for | module of `rosflight_py_sim` | names |") :].partition("\n\n")[0]
ROWS = [[re.findall(r"`(\w[\w.]*)`", cell) for cell in line.split("|")[2:4]] for line in TABLE.splitlines()[2:]]


def test_each_listed_name_exists_in_its_module() -> None:
    assert len(ROWS) > 10
    for (module,), names in ROWS:
        found = importlib.import_module(f"rosflight_py_sim.{module}")
        assert [name for name in names if not hasattr(found, name)] == []


def test_each_contract_interface_class_is_in_the_table() -> None:
    contracts = PAGE[PAGE.index("| class | methods |") :].partition("\n\n")[0]
    classes = set(re.findall(r"^\| `(\w+)`", contracts, re.MULTILINE))
    assert len(classes) == 5
    assert classes <= {name for _, names in ROWS for name in names}


def test_tables_match_the_ports() -> None:
    tool = project_program("tools/write_port_tables.py")
    assert tool.nodes_page(NODES) == NODES, "run tools/write_port_tables.py"
    assert tool.reference_page(REFERENCE) == REFERENCE, "run tools/write_port_tables.py"


def test_join_table_names_the_inputs_of_the_step() -> None:
    joins = {line.split("|")[1].strip(): line for line in NODES.splitlines() if line.startswith("| `")}
    waiting = joins["`forces_and_moments` (multirotor_forces_and_moments)"].split("|")[2:4]
    assert waiting[0].strip() == "`sim/pwm_output`"
    assert re.findall(r"`(sim/\S+)`", waiting[1]) == ["sim/truth_wind", "sim/truth_state", "sim/truth_wind_rates"]
    assert {"`sensors`", "`sil_board`", "`auv_controller`", "`dynamics` (standalone_dynamics)"} <= joins.keys()
