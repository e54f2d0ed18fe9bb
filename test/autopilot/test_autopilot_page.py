"""docs/autopilot.md lists the parameters of the code, and its example runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rosflight_py_sim.autopilot.fixedwing_mission import FIXEDWING_MISSION_PARAMETERS
from rosflight_py_sim.autopilot.fixedwing_target_controller import FIXEDWING_TARGET_PARAMETERS
from rosflight_py_sim.autopilot.formation import FORMATION_PARAMETERS
from rosflight_py_sim.autopilot.mission import MISSION_PARAMETERS
from rosflight_py_sim.autopilot.multirotor_target_controller import MULTIROTOR_TARGET_PARAMETERS
from rosflight_py_sim.autopilot.path_planning import planned_path
from rosflight_py_sim.autopilot.path_segments import Arc, Line
from rosflight_py_sim.autopilot.position_controller import POSITION_CONTROLLER_PARAMETERS
from rosflight_py_sim.autopilot.surge_guidance import SURGE_GUIDANCE_PARAMETERS
from rosflight_py_sim.autopilot.underwater_mission import UNDERWATER_MISSION_PARAMETERS
from rosflight_py_sim.autopilot.waypoint_route import ROUTE_PARAMETERS
from rosflight_py_sim.autopilot.waypoints import flight_plan
from rosflight_py_sim.ground.parameters import Parameter

PAGE = (Path(__file__).parents[2] / "docs" / "autopilot.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]
PARAMETERS = [
    *MISSION_PARAMETERS,
    *(one for one in FORMATION_PARAMETERS if one.name not in MISSION_PARAMETERS and isinstance(one.default, float)),
    *POSITION_CONTROLLER_PARAMETERS,
    *(
        parameter
        for parameter in FIXEDWING_MISSION_PARAMETERS + FIXEDWING_TARGET_PARAMETERS + ROUTE_PARAMETERS
        if parameter.name not in MISSION_PARAMETERS
    ),
    *(
        parameter
        for parameter in UNDERWATER_MISSION_PARAMETERS + SURGE_GUIDANCE_PARAMETERS
        if parameter.name not in MISSION_PARAMETERS
    ),
    *(parameter for parameter in MULTIROTOR_TARGET_PARAMETERS if parameter.name not in POSITION_CONTROLLER_PARAMETERS),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_documented_parameter_matches_code(parameter: Parameter) -> None:
    row = f"| `{parameter.name}` | {parameter.default:g} | {parameter.unit} | {parameter.allowed} | {parameter.text} |"
    assert row in ROWS


def test_page_lists_each_parameter_exactly_once() -> None:
    assert len(ROWS) == len(PARAMETERS)


def test_documented_waypoint_file_is_flyable() -> None:
    plan, landing = (yaml.safe_load(block.split("```")[0]) for block in PAGE.split("```yaml")[1:])
    assert isinstance(planned_path(flight_plan(plan))[-1], Arc)
    assert isinstance(planned_path(flight_plan(plan | landing))[-1], Line)


def test_documented_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for example in PAGE.split("```python")[1:]:
        exec(compile(example.split("```")[0], "docs/autopilot.md", "exec"), {})
    assert capsys.readouterr().out.startswith("take off AttitudeCommand(")
