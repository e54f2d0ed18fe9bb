"""docs/uthere.md lists the commands, modes and bits of the code, and its picture shows the code's table."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image
from project_programs import project_program

from rosflight_py_sim.autopilot.cage import CAGE_LIMITS, CageBit
from rosflight_py_sim.autopilot.guided_mode_states import TRANSITIONS, Mode
from rosflight_py_sim.autopilot.guided_mode_supervisor import GUIDED_MODE_PARAMETERS
from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.bridge.uthere_settings import UTHERE_SETTINGS
from rosflight_py_sim.bridge.uthere_variables import RC_CHANNELS, VARIABLES
from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.protocols.uthere.commands import CLASS_OF_NAME
from rosflight_py_sim.protocols.uthere.parameters import PARAMETERS, Number

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "uthere.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return project_program("tools/draw_uthere_modes.py")


def test_diagram_shows_the_transitions_in_code(tool: ModuleType) -> None:
    with Image.open(tool.PICTURE) as picture:
        drawn = json.loads(picture.text["Edges"])
    assert drawn == tool.edges(), "run .venv/bin/python tools/draw_uthere_modes.py, and look at the picture"


def test_every_edge_is_routed_and_common_edges_apply_to_all_framed_modes(tool: ModuleType) -> None:
    by_label = {mode.label: mode for mode in Mode}
    assert set(tool.WAYS) == {(by_label[source], by_label[target]) for source, target, *_ in tool.edges()}
    assert set(tool.PLACES) == set(Mode)
    for event in tool.COMMON:
        assert len({TRANSITIONS[mode][event] for mode in tool.FLYING}) == 1


@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.label)
def test_mode_is_documented_with_its_number(mode: Mode) -> None:
    assert f"\n| {mode.value} | {mode.label} | " in PAGE


@pytest.mark.parametrize("bit", CageBit, ids=lambda bit: bit.name)
def test_bit_is_documented_with_its_number(bit: CageBit) -> None:
    row = re.search(rf"^\| {bit.value} \| (\w+) \| ", PAGE.split("## The cage")[1], re.MULTILINE)
    assert row is not None
    assert row[1].lower() == bit.name.replace("_", "").lower()


@pytest.mark.parametrize("name", CLASS_OF_NAME)
def test_command_is_documented(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if re.match(rf"\|.*`{name}`.*\| ", line))
    if name not in ("waypoint_add",):  # that row refers to fly_to
        assert all(f"`{field.name}`" in row for field in fields(CLASS_OF_NAME[name]))


RANGES = PAGE.split("| parameter | unit | allowed |")[1].split("\n\n")[0].splitlines()


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "variable"])
def test_parameter_range_is_documented(name: str) -> None:
    row = next(line for line in RANGES if f"`{name}`" in line)
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Number)
    for bound in (parameter.minimum, parameter.maximum):
        assert f"{bound:,.0f}" in row or f"{bound:.0f}" in row


@pytest.mark.parametrize("parameter", GUIDED_MODE_PARAMETERS, ids=lambda parameter: parameter.name)
def test_mode_and_cage_parameters_are_documented(parameter: Parameter) -> None:
    assert f"`{parameter.name}`" in PAGE


VARIABLE_ROWS = PAGE.split("| variable | unit and meaning |")[1].split("\n\n")[0].splitlines()


@pytest.mark.parametrize("name", [name for name in VARIABLES if not re.fullmatch(r"rc_\d", name)])
def test_variable_is_documented_with_its_unit(name: str) -> None:
    assert f"| `{name}` | {VARIABLES[name]} |" in VARIABLE_ROWS


@pytest.mark.parametrize("name", [f"rc_{RC_CHANNELS}", *(limit.name for limit in CAGE_LIMITS), "waypoint_id"])
def test_grouped_variable_is_documented(name: str) -> None:
    assert any(f"`{name}`" in row for row in VARIABLE_ROWS)


@pytest.mark.parametrize("parameter", UTHERE_SETTINGS, ids=lambda parameter: parameter.name)
def test_settings_are_documented_with_their_defaults(parameter: Parameter) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{parameter.name}` |"))
    default = parameter.default
    shown = (
        f"{default:g}" if isinstance(default, float) else str(default).replace("False", "false").replace("True", "true")
    )
    assert row.split("|")[2].strip(" `") == shown


@pytest.mark.parametrize("counter", UthereFrontEnd.COUNTERS)
def test_counters_are_documented(counter: str) -> None:
    rows = PAGE.split("| counter |")[1].split("\n\n")[0]
    assert f"`{counter}`" in rows


def test_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(PAGE.split("```python")[1].split("```")[0], "docs/uthere.md", "exec"), {})
    output = capsys.readouterr().out
    assert output.startswith("fly(plane=12345,heading=265,airspeed=19.5,climb=5) [Fly(plane=12345, ")
    assert "Data(time_s=1208472993.743, plane=12345, values={'airspeed': 19.4})" in output
