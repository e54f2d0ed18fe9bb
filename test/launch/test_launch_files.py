"""Launch files: all names in them exist, and they run if launch_ros is installed."""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from distribution_packages import of_a_distribution_alone

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS, instructions
from rosflight_py_sim.graph.launch_arguments import (
    all_arguments,
    arguments_of_file,
    check_none_in_scenario,
    is_listed,
    scenario_arguments,
)
from rosflight_py_sim.graph.meetings import ENCOUNTERS, encounter_settings
from rosflight_py_sim.graph.options import FLY, SIM, Kind, Option, all_options, options_at
from rosflight_py_sim.graph.options import LAUNCH as PLACE
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.plan import PlannedNode, planned_nodes
from rosflight_py_sim.graph.rosflight_io import OURS, with_rosflight_io
from rosflight_py_sim.graph.scenario import known_scenarios, load_scenario
from rosflight_py_sim.graph.simulation_file import read_simulation, write_simulation
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.graph.time_modes import TIME_MANAGERS, chosen_time_mode
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, STANDALONE, Vehicle, all_vehicles, vehicle

ALL = all_vehicles()

LAUNCH = share_directory() / "launch"
SHARED = share_directory() / "rosflight_py_sim" / "graph" / "launch_graph.py"

HAS_LAUNCH = importlib.util.find_spec("launch_ros") is not None
WITH_LAUNCH = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed")

ROSFLIGHT_ARGUMENTS = {"use_sim_time", "use_vimfly", "dynamics_param_file"}


def calls(file: Path, name: str) -> list[ast.Call]:
    """Calls of this function or class in a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name]


def literals(nodes: list[ast.expr]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def description(file: str) -> dict[str, Any]:
    """Arguments that a launch file passes to `launch_description`, read without importing launch."""
    given: list[dict[str, Any]] = []
    shared = mock.Mock(launch_description=lambda **options: given.append(options))
    modules = ("launch", "launch.actions", "launch_ros", "launch_ros.actions")
    with mock.patch.dict(
        sys.modules, {name: mock.Mock() for name in modules} | {"rosflight_py_sim.graph.launch_graph": shared}
    ):
        runpy.run_path(str(LAUNCH / f"{file}.launch.py"))["generate_launch_description"]()
    (options,) = given
    return options


def arguments(file: str) -> dict[str, Option]:
    """Arguments of a launch file."""
    options = description(file)
    return arguments_of_file(options.get("defaults", {}), options.get("own", ()))


def listed(file: str) -> dict[str, Option]:
    """Arguments that `ros2 launch --show-args` lists."""
    found = arguments(file)
    return {name: one for name, one in found.items() if is_listed(one, found)}


GRAPHS = sorted(
    path.name.removesuffix(".launch.py")
    for path in LAUNCH.glob("*.launch.py")
    if "init_firmware" not in path.name and "scenario" not in path.name
)

PX4 = {"flight_controller": "px4", "time_mode": "lockstep"}
ARDUPILOT = {"flight_controller": "ardupilot", "time_mode": "lockstep"}

DEFAULTS = {
    "standalone": {},
    "fleet": {"vehicle": "multirotor", "count": "2", "time_mode": "lockstep", "composed": "true"},
    "multirotor_standalone": {"vehicle": "multirotor"},
    "fixedwing_standalone": {"vehicle": "fixedwing"},
    "fixedwing_jsbsim": {"vehicle": "fixedwing", "dynamics": "jsbsim"},
    "auv_standalone": {"vehicle": "auv", "time_mode": "lockstep"},
    "ardupilot_copter": {"vehicle": "multirotor", **ARDUPILOT},
    "ardupilot_plane": {"vehicle": "anaconda", **ARDUPILOT},
    "ardupilot_sub": {"vehicle": "bluerov2", **ARDUPILOT},
    "px4_multirotor": {"vehicle": "multirotor", **PX4},
    "px4_fixedwing": {"vehicle": "anaconda", **PX4},
    "uthere_fixedwing": {"vehicle": "anaconda", "flight_controller": "uthere", "time_mode": "lockstep"},
}
OWN = {"ardupilot_plane": {"variant"}, "uthere_fixedwing": {"pilot"}}


@pytest.mark.parametrize("file", GRAPHS)
def test_launch_files_differ_in_their_defaults_and_own_arguments_alone(file: str) -> None:
    shared = all_arguments()
    given = arguments(file)
    differing = {name: given[name].default for name, one in shared.items() if given[name] != one}
    assert differing == DEFAULTS[file]
    # If time_mode has a default, use_sim_time has no effect.
    without_effect = {"use_sim_time"} if "time_mode" in DEFAULTS[file] else set()
    assert set(listed(file)) == (set(shared) | OWN.get(file, set())) - without_effect


@pytest.mark.parametrize("file", GRAPHS)
def test_defaults_are_valid_choices_and_only_vehicle_may_lack_one(file: str) -> None:
    for name, one in listed(file).items():
        assert one.default is not None or (file, name) == ("standalone", "vehicle")
        assert one.default is None or not one.choices or one.default in one.choices


@pytest.mark.parametrize("file", GRAPHS)
def test_default_vehicle_and_flight_controller_of_a_launch_file_go_together(file: str) -> None:
    given = {name: one.default for name, one in arguments(file).items()}
    if given["vehicle"] is not None:
        chosen = vehicle(given["vehicle"], str(given["dynamics"]))
        assert FLIGHT_CONTROLLERS[given["flight_controller"] or chosen.flight_controller].flies(chosen)


@pytest.mark.parametrize(("name", "dynamics"), [key for key in ALL if key[1] != STANDALONE])
def test_vehicles_with_other_dynamics_have_a_launch_file(name: str, dynamics: str) -> None:
    assert arguments(f"{name}_{dynamics}")["dynamics"].default == dynamics
    assert arguments(f"{name}_{dynamics}")["vehicle"].default == name


def test_uthere_pilot_command_exists() -> None:
    from rosflight_py_sim.commands.cli import command_parser

    assert command_parser().parse_args(["hand-over", "--namespace", "a/b"]).namespace == ["a/b"]


@pytest.mark.parametrize("vehicle", ALL.values(), ids=["-".join(names) for names in ALL])
def test_files_and_physics_of_each_vehicle_exist(vehicle: Vehicle) -> None:
    assert vehicle.parameter_file.is_file()
    assert vehicle.firmware_file.is_file()
    assert vehicle.forces_and_moments in NODE_CLASSES


PLANS = [
    (vehicle, name)
    for vehicle in ALL.values()
    for name, controller in FLIGHT_CONTROLLERS.items()
    if name in vehicle.pairings or not controller.needs_file
]


def requested_autopilots(vehicle: Vehicle, controller: str) -> tuple[str, ...]:
    """The vehicle's autopilot, if it has one and the flight controller follows it."""
    follows = bool(vehicle.autopilot) and FLIGHT_CONTROLLERS[controller].follows(vehicle.autopilot)
    return (vehicle.autopilot,) if follows else ()


@pytest.mark.parametrize(("vehicle", "controller"), PLANS, ids=[f"{v.name}-{v.dynamics}-{c}" for v, c in PLANS])
def test_planned_graph_has_each_node_once_with_valid_parameters(vehicle: Vehicle, controller: str) -> None:
    autopilots = requested_autopilots(vehicle, controller)
    members = [Member(vehicle, name, flight_controller=controller, executables=autopilots) for name in ("one", "two")]
    planned = planned_nodes(members)
    names = [node.full_name for node in planned]
    assert len(names) == len(set(names))
    assert {"one/rc", "two/rc", "one/sensors", "two/dynamics"} <= set(names)
    assert ("two/autopilot" in names) == bool(autopilots)
    for executable in FLIGHT_CONTROLLERS[controller].executables:
        cls = node_class(executable)
        assert sum(node.name == cls.DEFAULT_NAME for node in planned) == (1 if "vehicles" in cls.PARAMETERS else 2)
    for node in planned:
        assert node.name == node_class(node.executable).DEFAULT_NAME
        assert node.own({"no_such": 1}) == {}
        # A node with a time mode must receive it.
        has_mode = "time_mode" in node_class(node.executable).PARAMETERS
        assert node.own({"time_mode": "lockstep"}) == ({"time_mode": "lockstep"} if has_mode else {})


def test_planned_graph_supports_rosflight_node_names() -> None:
    members = [Member(vehicle("fixedwing"), namespace) for namespace in ("one", "two")]
    planned = planned_nodes(members, ["visualizer", "lockstep_time_manager"], names="rosflight")
    of_each = {"rc", "standalone_sensors", "fixedwing_forces_and_moments", "standalone_dynamics", "sil_board"}
    assert [node.full_name for node in planned][-2:] == ["standalone_viz_transcriber", "standalone_time_manager"]
    assert {node.full_name for node in planned[:-2]} == {f"{one}/{name}" for one in ("one", "two") for name in of_each}


# Nodes beside the step, which run with any graph.
VIEWERS = ["visualizer", "recorder", "web_viewer", "view_relay", "simulation_interfaces"]


def test_every_node_in_the_package_is_used_in_some_graph() -> None:
    planned = {
        node.executable
        for vehicle, controller in PLANS
        for node in planned_nodes(
            [Member(vehicle, flight_controller=controller, executables=requested_autopilots(vehicle, controller))],
            VIEWERS,
        )
    }
    for name in known_scenarios():
        scenario = load_scenario(name)
        sources = parameter_sources(scenario.members, files=scenario.files, weakest={}, settings=scenario.settings)
        further = [ENCOUNTERS] if encounter_settings(scenario.members, sources) else []
        planned |= {node.executable for node in planned_nodes(scenario.members, further)}
    flown = Member(PLANS[0][0], flight_controller="sil_board", executables=("policy_autopilot",))
    planned |= {node.executable for node in planned_nodes([flown])}
    linked = with_rosflight_io([Member(PLANS[0][0], flight_controller="sil_board")], OURS)
    planned |= {node.executable for node in planned_nodes(linked)}
    assert planned | set(TIME_MANAGERS.values()) == set(NODE_CLASSES)


@pytest.mark.parametrize(("vehicle", "controller"), PLANS, ids=[f"{v.name}-{v.dynamics}-{c}" for v, c in PLANS])
def test_flight_controller_files_exist_and_set_existing_parameters(vehicle: Vehicle, controller: str) -> None:
    planned = planned_nodes([Member(vehicle, flight_controller=controller)])
    files = FLIGHT_CONTROLLERS[controller].files_for(vehicle)
    assert bool(files) == FLIGHT_CONTROLLERS[controller].needs_file
    for file in files:
        assert_sections_suit(file, planned)


def assert_sections_suit(file: Path, planned: list[PlannedNode]) -> None:
    """Check that every section belongs to one or all nodes of the graph, with valid values of their parameters."""
    tables = {node.name: node_class(node.executable).PARAMETERS for node in planned}
    for section, content in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        name = section.removeprefix("/**/")
        for parameter, value in content["ros__parameters"].items():
            having = [table for table in tables.values() if parameter in table] if name == "/**" else [tables[name]]
            assert having, parameter
            for table in having:
                table[parameter].checked(value)


def test_elevon_overlay_fits_the_fixed_wing() -> None:
    planned = planned_nodes([Member(vehicle("fixedwing"), flight_controller="ardupilot")])
    assert_sections_suit(share_directory() / "config" / "ardupilot" / "elevon.yaml", planned)


@pytest.mark.parametrize(
    "vehicle", [one for one in ALL.values() if "ardupilot" in one.pairings], ids=lambda one: one.name
)
def test_ardupilot_instructions_name_existing_files_and_each_parameter_once(vehicle: Vehicle) -> None:
    (instruction,) = instructions([Member(vehicle, flight_controller="ardupilot")])
    assert instruction.startswith("in another terminal: sim_vehicle.py -v Ardu")
    assert "--model JSON:127.0.0.1" in instruction
    files = [Path(word.partition("=")[2]) for word in instruction.split() if word.startswith("--add-param-file=")]
    assert files
    for file in files:
        assert_is_parameter_file_of_ardupilot(file)


def assert_is_parameter_file_of_ardupilot(file: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [line.split()[0] for line in lines]
    assert len(names) == len(set(names)) > 0
    for line in lines:
        name, value = line.split()
        # ArduPilot's parameter protocol carries sixteen characters.
        assert re.fullmatch(r"[A-Z][A-Z0-9_]{2,15}", name)
        assert math.isfinite(float(value))


def test_every_ardupilot_parameter_file_is_valid() -> None:
    files = sorted((share_directory() / "config" / "ardupilot").glob("*.parm"))
    assert {"copter.parm", "anaconda.parm", "aerosonde.parm", "elevon.parm", "sub.parm"} <= {
        file.name for file in files
    }
    for file in files:
        assert_is_parameter_file_of_ardupilot(file)


def test_flight_controller_without_file_for_vehicle_is_rejected_with_clear_message() -> None:
    with pytest.raises(ParameterError, match=r"'ardupilot' given for vehicle 'fixedwing'.*allowed: sil_board"):
        FLIGHT_CONTROLLERS["ardupilot"].files_for(vehicle("fixedwing", "jsbsim"))


def test_each_vehicle_names_an_existing_flight_controller() -> None:
    for one in ALL.values():
        FLIGHT_CONTROLLERS[one.flight_controller].files_for(one)


def test_example_package_replaces_an_executable_via_existing_arguments() -> None:
    package = share_directory() / "docs" / "examples" / "my_nodes"
    file = package / "launch" / "balloon.launch.py"
    assert (LAUNCH / "multirotor_standalone.launch.py").name in file.read_text(encoding="utf-8")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    pairs = [pair for n in ast.walk(tree) if isinstance(n, ast.Dict) for pair in zip(n.keys, n.values, strict=True)]
    given = {ast.literal_eval(key): value for key, value in pairs if key is not None}
    assert {"leave_out"} <= set(given) <= set(listed("multirotor_standalone"))
    (node,) = calls(file, "additional_node")
    own = {str(k.arg): k.value for k in node.keywords}
    assert ast.literal_eval(own["name"]) == ast.literal_eval(given["leave_out"]) == "forces_and_moments"
    setup = (package / "setup.py").read_text(encoding="utf-8")
    assert f'"{ast.literal_eval(own["executable"])} = {ast.literal_eval(own["package"])}.balloon:main"' in setup


# A value of each type that is not the default of any option.
GIVEN = {
    Kind.BOOLEAN: "true",
    Kind.NODE: "follower_autopilot",
    Kind.INTEGER: "3",
    Kind.NUMBER: "4.5",
    Kind.FILE: __file__,
    Kind.RECORDING: "new.mcap",
}
GIVEN |= {Kind.FILES: f"{__file__}, {LAUNCH / 'fleet.launch.py'}", Kind.NAMES: "one, two", Kind.TEXT: "text"}


def test_launch_arguments_and_command_line_give_the_same_options() -> None:
    from rosflight_py_sim.commands.cli import command_parser

    words, texts = ["sim"], {}
    for one in options_at(SIM):
        if PLACE not in one.at:
            continue
        text = one.choices[-1] if one.choices and one.kind is Kind.TEXT else GIVEN[one.kind]
        texts[one.name] = text
        if one.kind is Kind.FILES:
            words += [word for file in (__file__, str(LAUNCH / "fleet.launch.py")) for word in (one.command_flag, file)]
        else:
            words += [one.command_flag] if one.kind is Kind.BOOLEAN else [one.command_flag, text]
    assert len(texts) > 15
    options = SimulationOptions.of_launch(texts)
    assert options == SimulationOptions.of_command(command_parser().parse_args(words))
    assert not [name for name in texts if getattr(options, name) == getattr(SimulationOptions(), name)]


def test_options_have_the_names_and_defaults_of_the_table() -> None:
    names = {one.name for one in fields(SimulationOptions)}
    # Files that `fly` writes after the simulation.
    table = {name: one for name, one in all_options().items() if name not in ("output", "gif")}
    assert names == set(table)
    texts = {name: one.default or "" for name, one in table.items()}
    assert SimulationOptions.of_launch(texts | {"vehicle": DEFAULT_VEHICLE}) == SimulationOptions()


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("view", "maybe", "'maybe' given; allowed: true, false"),
        ("seed", "1.5", "'1.5' given; allowed: an integer"),
        ("real_time_multiplier", "fast", "'fast' given; allowed: a number"),
        ("params_file", "a.yaml", "there is no file 'a.yaml'"),
        ("firmware_param_file", "b.yaml", "there is no file 'b.yaml'"),
    ],
)
def test_text_of_another_type_is_refused_with_the_values_allowed(name: str, text: str, allowed: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"launch argument '{name}': {allowed}")):
        SimulationOptions.of_launch({name: text})


def test_simulation_file_holds_options_and_scenario_and_is_read_once(tmp_path: Path) -> None:
    given = tmp_path / "own.yaml"
    given.write_text("/**:\n  ros__parameters:\n    mass: 3.0\n", "utf-8")
    texts = {"params_file": str(given), "dynamics_param_file": str(given), "count": "2", "record": "true", "seed": "7"}
    options = SimulationOptions.of_launch({"vehicle": "multirotor", "observers": "uthere", **texts})
    for scenario in (options.simulated(), options.added_to(load_scenario("harbour"))):
        file = write_simulation(options, scenario)
        read, described = read_simulation(file)
        assert read == options and not file.exists()
        assert described.settings == scenario.settings and described.time_mode == scenario.time_mode
        assert list(described.files) == list(scenario.files)
        assert [(one.namespace, one.settings, one.vehicle.parameter_file) for one in described.members] == [
            (one.namespace, one.settings, one.vehicle.parameter_file) for one in scenario.members
        ]


@pytest.mark.parametrize("command", [SIM, FLY])
def test_unset_options_have_table_default_or_none(command: str) -> None:
    from rosflight_py_sim.commands.cli import command_parser

    parsed = vars(command_parser().parse_args([command]))
    for one in options_at(command):
        default = one.command_default or (one.default if one.kind is Kind.TEXT else "")
        assert (parsed[one.name] or "") == default, one.name


def started(entities: str = "graph", **given: str) -> dict[str, dict[str, Any]]:
    """Options by name of the nodes that the shared launch description starts, without importing launch."""
    names = ("launch", "launch.actions", "launch.events", "launch.events.process", "launch.logging", "launch_ros")
    actions = mock.Mock()
    with mock.patch.dict(sys.modules, {name: mock.Mock() for name in names} | {"launch_ros.actions": actions}):
        start = runpy.run_path(str(SHARED))[entities]
    arguments = scenario_arguments() if entities == "scenario_graph" else all_arguments()
    texts = {name: one.default or "" for name, one in arguments.items()} | given
    start(SimulationOptions.of_launch(texts | {"scenario": given.get("file", "")}))
    return {call.kwargs.get("name", call.kwargs["executable"]): call.kwargs for call in actions.Node.call_args_list}


@pytest.mark.parametrize(("respawn", "back"), [("false", False), ("true", True)])
def test_all_nodes_except_the_recorder_respawn_on_request(respawn: str, back: bool) -> None:
    nodes = started(vehicle="multirotor", time_mode="paced", record="true", view="true", respawn=respawn)
    assert {"dynamics", "time_manager", "recorder", "web_viewer"} <= set(nodes)
    for name, options in nodes.items():
        assert options["respawn"] is (back and name != "recorder")
        assert options["respawn_delay"] > 0.0


def test_user_vehicle_file_supplies_node_parameters(tmp_path: Path) -> None:
    text = vehicle("hexarotor").file.read_text(encoding="utf-8")
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("../", f"{share_directory()}/config/"), encoding="utf-8")
    nodes = started(vehicle=str(own), time_mode="lockstep", view="true", record="true")
    weak, file, _ = nodes["sil_board"]["parameters"]
    assert weak["firmware_param_file"] == str(vehicle("hexarotor").firmware_file)
    assert file == str(vehicle("hexarotor").parameter_file)
    assert nodes["web_viewer"]["parameters"][0] == {"appearance": "multirotor"}
    assert nodes["recorder"]["parameters"][0]["record.vehicle"] == str(own)


def test_invalid_vehicle_file_affects_only_launches_of_its_vehicle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {file: arguments(file) for file in GRAPHS}
    (tmp_path / "bad.yaml").write_text("description: half a kite\n", encoding="utf-8")
    monkeypatch.setenv("ROSFLIGHT_PY_SIM_VEHICLES", str(tmp_path))
    assert {file: arguments(file) for file in GRAPHS} == before
    vehicle("auv")
    with pytest.raises(ParameterError, match=r"bad.yaml, line 1: .*no forces_and_moments given"):
        vehicle("bad")


def test_argument_earth_reaches_the_nodes_that_use_it() -> None:
    nodes = started(vehicle="multirotor", earth="wgs84")
    for name in ("dynamics", "sensors", "forces_and_moments"):
        assert nodes[name]["parameters"][-1]["earth"] == "wgs84"


def test_scenario_is_started_in_one_process_or_in_many() -> None:
    (composed,) = started("scenario_graph", file="harbour", view="true").values()
    assert composed["arguments"][:2] == ["sim", "--launched"]
    options, scenario = read_simulation(Path(composed["arguments"][2]))
    assert options.scenario == "harbour" and options.view
    assert [one.namespace for one in scenario.members] == [one.namespace for one in load_scenario("harbour").members]
    nodes = started("scenario_graph", file="swarm", composed="false")
    assert {"autopilot", "sil_board", "time_manager"} <= set(nodes)
    assert nodes["time_manager"]["parameters"][-1]["vehicles"] == [
        member.namespace for member in load_scenario("swarm").members
    ]


def test_bridge_of_a_scenario_is_given_the_parameters_in_which_vehicles_differ() -> None:
    different = started("scenario_graph", file="harbour", composed="false")["bridge"]["parameters"][0]
    values = yaml.safe_load(Path(different).read_text(encoding="utf-8"))["/**/bridge"]["ros__parameters"]
    assert values["copter.ardupilot.outputs"][:4] == ["1", "4", "2", "3"]
    assert values["plane.uthere.cage_battery_warn"] == 21.2


def test_arguments_that_a_scenario_gives_are_refused_and_not_listed() -> None:
    arguments = scenario_arguments()
    assert not {"vehicle", "count", "seed", "time_mode", "world"} & set(arguments)
    assert {"file", "view", "record", "params_file", "composed"} <= set(arguments)
    check_none_in_scenario({"file": "harbour", "view": "true", "count": ""})
    with pytest.raises(ParameterError, match="launch argument 'count': '3' given; a scenario file gives its own"):
        check_none_in_scenario({"file": "harbour", "count": "3"})


def test_composed_process_does_not_respawn() -> None:
    assert "respawn" not in started(vehicle="multirotor", composed="true")["rosflight_py_sim"]
    with pytest.raises(ParameterError, match="composed:=true and respawn:=true exclude each other"):
        started(vehicle="multirotor", composed="true", respawn="true")


def test_every_argument_is_described_and_rosflight_arguments_exist() -> None:
    assert set(all_arguments()) >= ROSFLIGHT_ARGUMENTS | {"time_mode", "composed", "namespace", "log_level"}
    for file in GRAPHS:
        for name, one in listed(file).items():
            # Help texts append a default or a full stop.
            assert one.text and not one.text.endswith("."), name
            assert one.default != "" or one.unset, name


def test_every_argument_is_in_the_launch_page() -> None:
    page = (share_directory() / "docs" / "launch.md").read_text(encoding="utf-8")
    own = [name for names in OWN.values() for name in names]
    assert [name for name in all_arguments() if f"| `{name}` |" not in page] == []
    assert [name for name in own if f"`{name}:=" not in page] == []


@pytest.mark.parametrize(
    ("time_mode", "use_sim_time", "lockstep", "expected"),
    [
        ("", None, False, "wall"),
        ("", False, False, "wall"),
        ("", True, False, "paced"),
        ("", None, True, "lockstep"),
        ("", True, True, "lockstep"),
        ("", False, True, "wall"),
        ("lockstep", None, False, "lockstep"),
        ("lockstep", True, False, "lockstep"),
        ("paced", None, True, "paced"),
        ("wall", False, False, "wall"),
        ("wall", None, True, "wall"),
    ],
)
def test_time_mode_is_derived_from_arguments(
    time_mode: str, use_sim_time: bool | None, lockstep: bool, expected: str
) -> None:
    assert chosen_time_mode(time_mode, use_sim_time, lockstep=lockstep) == expected


@pytest.mark.parametrize(("time_mode", "use_sim_time"), [("lockstep", False), ("paced", False), ("wall", True)])
def test_time_mode_conflicting_with_use_sim_time_is_rejected(time_mode: str, use_sim_time: bool | None) -> None:
    with pytest.raises(
        ParameterError, match=f"use_sim_time:={str(use_sim_time).lower()} and time_mode:={time_mode} contradict"
    ):
        chosen_time_mode(time_mode, use_sim_time, lockstep=False)


# From here on, tests run the launch files.

TIMEOUT_S = 60.0


def launched(
    *given: str,
    file: str = "multirotor_standalone.launch.py",
    output: Any = subprocess.PIPE,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """A launch file in a separate process, which handles Ctrl-C even if the tests' shell ignores it."""
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from launch import LaunchDescription, LaunchService\n"
        "from launch.actions import IncludeLaunchDescription\n"
        "from launch.launch_description_sources import PythonLaunchDescriptionSource\n"
        "service = LaunchService(argv=sys.argv[2:])\n"
        "pairs = [tuple(argument.split(':=', 1)) for argument in sys.argv[2:]]\n"
        "source = PythonLaunchDescriptionSource(sys.argv[1])\n"
        "service.include_launch_description(LaunchDescription(\n"
        "    [IncludeLaunchDescription(source, launch_arguments=pairs)]))\n"
        "sys.exit(service.run())\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, str(LAUNCH / file), *given],
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def output_of(process: subprocess.Popen[str]) -> str:
    """Output of a launch that ends by itself."""
    try:
        return process.communicate(timeout=1.5 * TIMEOUT_S)[0]
    finally:
        if process.poll() is None:
            # The launch ends its nodes, too.
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30.0)


def wait_for_truth(process: subprocess.Popen[str], topic: str, seconds: float) -> None:
    """Return once the truth state has advanced by this much simulated time."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rosflight_msgs.msg import SimState

    from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
    from rosflight_py_sim.step.qos import CHAIN

    context = rclpy.Context()
    rclpy.init(context=context)
    listener = Node("launch_listener", context=context)
    times: list[float] = []
    listener.create_subscription(
        SimState, topic, lambda state: times.append(time_ns_of(state.header.stamp) / NANOSECONDS), CHAIN
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(listener)
    give_up = time.monotonic() + TIMEOUT_S
    try:
        while not times or times[-1] < times[0] + seconds:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < give_up, f"the truth state stands at {times[-1:]} s"
            executor.spin_once(timeout_sec=0.2)
    finally:
        listener.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("file", "given", "topic"),
    [
        ("multirotor_standalone", (), "sim/truth_state"),
        ("multirotor_standalone", ("use_sim_time:=true",), "sim/truth_state"),
        ("multirotor_standalone", ("time_mode:=lockstep", "namespace:=one"), "one/sim/truth_state"),
        ("multirotor_standalone", ("time_mode:=lockstep", "names:=rosflight"), "sim/truth_state"),
        ("multirotor_standalone", ("composed:=true", "names:=rosflight", "visualizer:=true"), "sim/truth_state"),
        ("multirotor_standalone", ("composed:=true", "seed:=3"), "sim/truth_state"),
        ("multirotor_standalone", ("time_mode:=lockstep", "visualizer:=true"), "sim/truth_state"),
        ("multirotor_standalone", ("composed:=true", "visualizer:=true"), "sim/truth_state"),
        ("fleet", ("composed:=false",), "multirotor_2/sim/truth_state"),
        ("fleet", ("count:=3", "vehicle:=multirotor", "namespace:=swarm"), "swarm/multirotor_3/sim/truth_state"),
    ],
    ids=[
        "wall",
        "paced",
        "lockstep",
        "ROSflight's names",
        "composed, ROSflight's names",
        "composed",
        "drawn",
        "composed, drawn",
        "fleet",
        "composed fleet",
    ],
)
def test_launched_graph_runs_and_exits_cleanly_on_interrupt(file: str, given: tuple[str, ...], topic: str) -> None:
    process = launched(*given, file=f"{file}.launch.py")
    try:
        wait_for_truth(process, topic, 0.5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30.0)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert "process has died" not in output
    assert output.count("process has finished cleanly") == output.count("process started"), output


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("file", "given"),
    [
        ("ardupilot_copter", ()),
        ("ardupilot_copter", ("composed:=true",)),
        ("ardupilot_plane", ("variant:=elevon", "vehicle:=aerosonde")),
        ("ardupilot_plane", ("variant:=elevon", "composed:=true")),
        ("ardupilot_sub", ("composed:=true",)),
    ],
    ids=["copter", "composed copter", "plane", "composed plane", "composed sub"],
)
def test_launched_graph_prints_ardupilot_command_and_waits_for_it(
    tmp_path: Path, file: str, given: tuple[str, ...]
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = tmp_path / "port.yaml"
    own.write_text(f"/**/bridge:\n  ros__parameters:\n    ardupilot.port: {port}\n")
    log = tmp_path / "log"
    with log.open("w") as output:
        process = launched(*given, f"params_file:={own}", file=f"{file}.launch.py", output=output)
        try:
            give_up = time.monotonic() + TIMEOUT_S
            while f"waiting for ArduPilot on UDP 127.0.0.1:{port}" not in log.read_text():
                assert process.poll() is None and time.monotonic() < give_up, log.read_text()
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30.0)
        finally:
            process.kill()
            process.wait()
    text = log.read_text()
    assert process.returncode == 0, text
    assert "in another terminal: sim_vehicle.py -v Ardu" in text
    assert ("elevon.parm" in text) == ("variant:=elevon" in given)
    assert "Traceback" not in text
    assert "process has died" not in text


def climb_in_mission(process: subprocess.Popen[str], height_m: float) -> None:
    """Start the autopilot's mission, and return once the vehicle has reached a height."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rosflight_msgs.msg import SimState
    from std_srvs.srv import Trigger

    from rosflight_py_sim.step.qos import CHAIN

    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("pilot", context=context)
    heights: list[float] = [0.0]
    node.create_subscription(SimState, "sim/truth_state", lambda state: heights.append(-state.pose.position.z), CHAIN)
    client = node.create_client(Trigger, "autopilot/start")
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    give_up = time.monotonic() + TIMEOUT_S
    try:
        assert client.wait_for_service(TIMEOUT_S)
        answer = client.call_async(Trigger.Request())
        while heights[-1] < height_m:
            assert process.poll() is None and time.monotonic() < give_up, (heights[-1], answer.result())
            executor.spin_once(timeout_sec=0.2)
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
def test_multirotor_flies_with_the_packages_of_a_distribution_alone(tmp_path: Path) -> None:
    environment = of_a_distribution_alone()
    with (tmp_path / "log").open("w") as output:
        process = launched("time_mode:=lockstep", "autopilot:=true", environment=environment, output=output)
        try:
            wait_for_truth(process, "sim/truth_state", 0.5)
            command = [sys.executable, "-m", "rosflight_py_sim", "hand-over"]
            handed_over = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
            assert handed_over.returncode == 0, handed_over.stderr
            climb_in_mission(process, 4.0)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30.0)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, (tmp_path / "log").read_text()


def processes_of(launch: subprocess.Popen[str], executable: str) -> list[int]:
    """Process ids of this executable among the processes started by a launch."""
    children = Path(f"/proc/{launch.pid}/task/{launch.pid}/children").read_text().split()
    return [int(child) for child in children if executable in Path(f"/proc/{child}/cmdline").read_text()]


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("given", "executable"),
    [
        (("time_mode:=lockstep",), "standalone_dynamics"),
        (("time_mode:=lockstep",), "lockstep_time_manager"),
        (("use_sim_time:=true", "names:=rosflight"), "multirotor_forces_and_moments"),
        ((), "standalone_sensors"),
    ],
    ids=["lockstep", "its time manager", "paced", "wall"],
)
def test_killed_node_respawns_and_flight_continues(tmp_path: Path, given: tuple[str, ...], executable: str) -> None:
    log = tmp_path / "log"
    with log.open("w") as output:
        process = launched(*given, "respawn:=true", output=output)
    try:
        wait_for_truth(process, "sim/truth_state", 0.5)
        (first,) = processes_of(process, executable)
        os.kill(first, signal.SIGKILL)
        give_up = time.monotonic() + TIMEOUT_S
        while processes_of(process, executable) in ([], [first]):
            assert process.poll() is None and time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
        wait_for_truth(process, "sim/truth_state", 0.5)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30.0)
    finally:
        process.kill()
        process.wait()
    text = log.read_text()
    assert process.returncode == 0, text
    # One node was killed; after an interrupt, none is restarted.
    assert text.count("process has died") == 1, text
    assert text.count("process has finished cleanly") == text.count("process started") - 1, text


@WITH_LAUNCH
@pytest.mark.parametrize("file", GRAPHS)
def test_arguments_listed_by_launch_match_the_file_with_defaults(file: str) -> None:
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.utilities import perform_substitutions

    context = LaunchContext()
    source = PythonLaunchDescriptionSource(str(LAUNCH / f"{file}.launch.py"))
    declared = source.get_launch_description(context).get_launch_arguments()
    shown = {
        one.name: None if one.default_value is None else perform_substitutions(context, one.default_value)
        for one in declared
    }
    assert shown == {name: one.default for name, one in listed(file).items()}


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            ("vehicle:=anaconda",),
            "'vehicle': 'anaconda' given, which has fixedwing_forces_and_moments; this launch file allows: vehicle",
        ),
        (("time_mode:=lockstep", "use_sim_time:=false"), "contradict each other"),
        (("time_mode:=locked",), "time_mode"),
        (("dynamics_param_file:=/no/such.yaml",), "there is no file '/no/such.yaml'"),
        (("params_file:=/no/such.yaml",), "there is no file '/no/such.yaml'"),
        (("leave_out:=sensor",), "'sensor' given; allowed: rc, sensors"),
        (("names:=rosflight", "leave_out:=sensor"), "'sensor' given; allowed: rc, standalone_sensors"),
        (
            ("flight_controller:=ardupilot", "time_mode:=wall"),
            "'time_mode': 'wall' given; allowed: text, one of lockstep",
        ),
        (("composed:=true", "respawn:=true"), "composed:=true and respawn:=true exclude each other"),
        (("respawn:=perhaps",), "launch argument 'respawn': 'perhaps' given; allowed: true, false"),
        (("respawn:=true", "params_file:={misspelt}"), "no parameter 'masss'; did you mean 'mass'"),
        (("count:=0",), "'count': 0 given; allowed: integer, from 1 to 100"),
        (("real_time_multiplier:=2",), "leave it out, or choose the time mode paced, gated"),
        (("use_sim_time:=true", "real_time_multiplier:=-1"), "'real_time_multiplier': -1 given; allowed"),
    ],
)
def test_invalid_launch_argument_ends_launch_with_reason(tmp_path: Path, given: tuple[str, ...], text: str) -> None:
    misspelt = tmp_path / "misspelt.yaml"
    misspelt.write_text("/**/dynamics:\n  ros__parameters: {masss: 2.0}\n")
    output = output_of(launched(*(one.format(misspelt=misspelt) for one in given)))
    assert text in output
    assert "Traceback" not in output


@WITH_LAUNCH
def test_overriding_a_fixed_argument_ends_launch_with_exit_code_1() -> None:
    process = launched("vehicle:=anaconda")
    output_of(process)
    assert process.returncode == 1


INCLUDING = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    given = {{"time_mode": "lockstep", "leave_out": "rc,sensors,forces_and_moments,dynamics,sil_board,time_manager"}}
    return LaunchDescription([
        DeclareLaunchArgument("my_arg", default_value="anaconda"),
        IncludeLaunchDescription(PythonLaunchDescriptionSource("{file}"), launch_arguments=given.items()),
    ])
"""


@WITH_LAUNCH
def test_user_launch_file_with_own_arguments_can_include_a_provided_one(tmp_path: Path) -> None:
    own = tmp_path / "own.launch.py"
    own.write_text(INCLUDING.format(file=LAUNCH / "multirotor_standalone.launch.py"))
    process = launched("my_arg:=aerosonde", file=str(own))
    output = output_of(process)
    assert process.returncode == 0, output
    assert "my_arg" not in output


def test_option_names_an_autopilot_in_place_of_the_vehicles_own() -> None:
    def executables(text: str) -> tuple[str, ...]:
        (member,) = SimulationOptions.of_launch({"vehicle": "multirotor", "autopilot": text}).members
        return member.executables

    assert [executables(text) for text in ("", "False", "true")] == [(), (), ("autopilot",)]
    assert executables("fixedwing_autopilot") == ("fixedwing_autopilot",)
    with pytest.raises(
        ParameterError, match="autopilot 'camera' given; allowed: true, false, autopilot, follower_auto"
    ):
        executables("camera")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ([], None),
        (["--autopilot"], True),
        (["--no-autopilot"], False),
        (["--autopilot", "follower_autopilot", "--view"], "follower_autopilot"),
    ],
)
def test_command_line_starts_an_autopilot_with_or_without_its_name(words: list[str], value: object) -> None:
    from rosflight_py_sim.commands.cli import command_parser

    assert command_parser().parse_args(["sim", *words]).autopilot == value
