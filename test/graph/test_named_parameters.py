"""Two nodes may declare one parameter name differently: `NODE.NAME` tells them apart."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.graph.named_parameters import NamedParameters
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable
from rosflight_py_sim.ground.resources import share_directory

PROJECT = Path(__file__).parents[2]
CONFIG = share_directory() / "config"

MASS = Parameter("mass", 1.0, "Mass", "kg")
HEAVY = MASS.overridden("this node's", default=2.0)
GRIP = Parameter("grip", 1.0, "Grip of the hand", "N")
GRIP_KIND = Parameter("grip", "soft", "Kind of the grip", choices=("soft", "hard"))

NAMED = NamedParameters(
    [("hand", ParameterTable(MASS, GRIP)), ("tyre", ParameterTable(HEAVY, GRIP_KIND)), ("tyre", ParameterTable(HEAVY))]
)


def test_short_name_stands_for_nodes_that_declare_the_same() -> None:
    assert NAMED.find("mass") == HEAVY
    assert [one.name for one in NAMED] == ["mass"]
    assert NAMED.find("gripp") is None and "did you mean 'mass'" in NAMED.unknown("masss")


def test_name_of_a_node_selects_its_declaration() -> None:
    hand, tyre = NAMED.find("hand.grip"), NAMED.find("tyre.grip")
    assert hand is not None and tyre is not None
    assert (hand.name, hand.unit, tyre.name, tyre.default) == ("hand:grip", "N", "tyre:grip", "soft")
    assert NAMED.find("hand.tyre") is None and NAMED.find("foot.grip") is None


def test_ambiguous_short_name_is_refused_with_the_choices() -> None:
    text = "parameter 'grip' given, which nodes declare differently; allowed: 'hand.grip' or 'tyre.grip'"
    with pytest.raises(ParameterError, match=text):
        NAMED.find("grip")
    with pytest.raises(ParameterError, match="declare differently"):
        NAMED.ros_arguments(["-p", "grip:=1"])
    one_name = NamedParameters([("hand", ParameterTable(GRIP)), ("hand", ParameterTable(GRIP_KIND))])
    for key in ("grip", "hand.grip"):
        with pytest.raises(ParameterError, match="allowed: the parameters of single vehicles"):
            one_name.find(key)


def test_ros_arguments_name_the_node_in_the_form_of_ros() -> None:
    given = ["--ros-args", "-p", "hand.grip:=2", "-p", "tyre:grip:=hard", "-r", "grip:=b", "-p", "copter.port:=3"]
    expected = [word.replace("hand.grip", "hand:grip") for word in given]
    assert NAMED.ros_arguments(given) == expected


MODULE = """\
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics


class Forces(MultirotorForces):
    PARAMETERS = MultirotorForces.PARAMETERS + ParameterTable(Parameter("grip", 1.0, "Grip of the hand", "N"))


class Motion(RigidBodyDynamics):
    PARAMETERS = RigidBodyDynamics.PARAMETERS + ParameterTable(
        Parameter("grip", "soft", "Kind of the grip", choices=("soft", "hard"))
    )
"""

VALUES = """\
import json, sys
from pathlib import Path
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.sweep.definition import run_of, scenario_of
from rosflight_py_sim.sweep.sweep_file import read_sweep

sweep = read_sweep(Path(sys.argv[1]))
scenario = scenario_of(sweep, run_of(sweep, 0))
sources = parameter_sources(scenario.members, files=scenario.files, weakest={}, settings=scenario.settings)
values = [sources.values_of(node_class(name), scenario.members[0])["grip"] for name in ("grip_forces", "grip_motion")]
print(json.dumps([*values, sorted(one.key for one in sweep.quantities)]))
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(command_line: Command, tmp_path: Path) -> Command:
    """A function that runs Python with a package whose forces and dynamics have different parameters of one name."""
    information = tmp_path / "grips-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: grips\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[rosflight_py_sim.nodes]\ngrip_forces = grips:Forces\ngrip_motion = grips:Motion\n"
    )
    (tmp_path / "grips.py").write_text(MODULE)
    return lambda *words: command_line(*words, PYTHONPATH=f"{PROJECT}:{tmp_path}")


def scenario(folder: Path, parameters: str, of_vehicle: str = "{}") -> str:
    (folder / "grips.yaml").write_text(
        f"description: grips\nparameters: {parameters}\nvehicles:\n"
        f"  - {{name: a, kind: multirotor, forces_and_moments: grip_forces, dynamics: grip_motion, autopilot: true, "
        f"parameters: {of_vehicle}}}\n"
    )
    return "grips.yaml"


def test_scenario_names_the_node_of_an_ambiguous_parameter(run: Command, tmp_path: Path) -> None:
    end = ("--duration", "0.1", "--real-time-multiplier", "0")
    refused = run("-m", "rosflight_py_sim", "sim", "--scenario", scenario(tmp_path, "{grip: 2.0}"), *end)
    assert refused.returncode == 1
    assert (
        "grips.yaml, line 2: parameters.grip: parameter 'grip' given, which nodes declare differently; allowed: "
        "'forces_and_moments.grip' or 'dynamics.grip'" in refused.stderr
    )
    file = scenario(tmp_path, "{forces_and_moments.grip: 2.0}", "{dynamics.grip: hard}")
    started = run("-m", "rosflight_py_sim", "sim", "--scenario", file, *end)
    assert started.returncode == 0, started.stderr
    ros = ("--ros-args", "-p", "dynamics.grip:=loose")
    refused = run("-m", "rosflight_py_sim", "sim", "--scenario", file, *end, *ros)
    assert refused.returncode == 1 and "'loose' given; allowed: text, one of soft, hard" in refused.stderr
    refused = run("-m", "rosflight_py_sim", "sim", "--scenario", file, *end, "--ros-args", "-p", "grip:=2.0")
    assert refused.returncode == 1 and "'grip' given, which nodes declare differently" in refused.stderr


def test_sweep_names_the_node_of_an_ambiguous_parameter(run: Command, tmp_path: Path) -> None:
    file = scenario(tmp_path, "{}")
    text = f"description: grips\nscenario: {file}\nruns: 1\nparameters:\n"
    (tmp_path / "sweep.yaml").write_text(
        f"{text}  forces_and_moments.grip: {{uniform: [3.0, 4.0]}}\n  a.dynamics.grip: {{choice: [hard]}}\n"
    )
    found = run("-c", VALUES, "sweep.yaml")
    assert found.returncode == 0, found.stderr
    grip, kind, keys = json.loads(found.stdout)
    assert 3.0 < grip < 4.0 and kind == "hard" and keys == ["a.dynamics.grip", "forces_and_moments.grip"]
    (tmp_path / "sweep.yaml").write_text(f"{text}  grip: {{uniform: [3.0, 4.0]}}\n")
    refused = run("-m", "rosflight_py_sim", "sweep", "sweep.yaml")
    assert refused.returncode == 1
    assert "sweep.yaml, line 5: parameters.grip: parameter 'grip' given, which nodes declare diff" in refused.stderr
