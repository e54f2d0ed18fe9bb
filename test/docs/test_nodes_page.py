"""The tables in docs/nodes.md: all imports exist, and joins match the code."""

import importlib
import re
from pathlib import Path

import pytest

from rosflight_py_sim.bridge.actuated_vehicle import ActuatedVehicle
from rosflight_py_sim.interfaces.flight_model_interface import FlightModelInterface
from rosflight_py_sim.interfaces.forces_and_moments_interface import ForcesAndMomentsInterface
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.sensor_interface import SensorInterface
from rosflight_py_sim.nodes.sil_board import SilBoard
from rosflight_py_sim.parts.auv_controller import AuvController
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.join import JoinRule
from rosflight_py_sim.step.part import Part, rule_of
from rosflight_py_sim.step.ports import Input, ports_of
from rosflight_py_sim.step.topics import STEP_TOPICS

StandaloneDynamics = node_of(RigidBodyDynamics)
AuvAutopilot = node_of(AuvController)

PAGE = (Path(__file__).parents[2] / "docs" / "nodes.md").read_text(encoding="utf-8")
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


def _rule(part: type[Part], *conditions: str) -> JoinRule:
    """Rule of a part's inputs, where these conditions are met."""
    return rule_of(port for port in ports_of(part) if isinstance(port, Input) and port.when in ("", *conditions))


@pytest.mark.parametrize(
    ("node", "rule"),
    [
        ("`sensors`", _rule(SensorInterface)),
        ("`sil_board`", _rule(SilBoard)._replace(admitted_by="sil_board/run")),
        ("`auv_autopilot`", _rule(AuvAutopilot)),
        ("`bridge` as flight controller", _rule(ActuatedVehicle, "has_imu")),
        ("`forces_and_moments`", _rule(ForcesAndMomentsInterface)),
        ("`dynamics`", _rule(StandaloneDynamics, "follows_outputs")),
        ("a whole flight model", _rule(FlightModelInterface)),
    ],
)
def test_each_join_table_row_matches_its_rule_in_code(node: str, rule: JoinRule) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {node} |"))
    trigger, synchronized, required = (re.findall(r"`(/?\w+/?\S*)`", cell) for cell in row.split("|")[2:5])
    assert trigger == [rule.trigger]
    assert tuple(synchronized) == (*rule.synchronized, *rule.expected)
    admitting = (rule.admitted_by,) if rule.admitted_by else ()
    assert tuple(name for name in required if name != "use_timer") == (*rule.required, *admitting)
    services = {"sil_board/run"}
    assert {rule.trigger, *rule.synchronized, *rule.expected, *rule.required, *admitting} - services <= {
        topic.name for topic in STEP_TOPICS
    }
