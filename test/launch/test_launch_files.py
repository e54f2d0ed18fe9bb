"""Launch files: what they name exists, and where launch_ros is installed they run."""

from __future__ import annotations

import ast
import importlib.util
import math
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from rosflight_py_sim import interfaces
from rosflight_py_sim.fleet import Member
from rosflight_py_sim.flight_controllers import FLIGHT_CONTROLLERS
from rosflight_py_sim.graph_plan import PlannedNode, planned_nodes
from rosflight_py_sim.nodes.running import NODE_CLASSES, node_class
from rosflight_py_sim.parameters import ParameterError, ParameterTable
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.time_modes import TIME_MANAGERS, TIME_MODES, chosen_time_mode
from rosflight_py_sim.vehicles import FLOWN_BY_OTHERS, STANDALONE, VEHICLES, Vehicle

ALL = {(name, STANDALONE): vehicle for name, vehicle in VEHICLES.items()} | FLOWN_BY_OTHERS

LAUNCH = share_directory() / "launch"
GRAPH = LAUNCH / "standalone.launch.py"

HAS_LAUNCH = importlib.util.find_spec("launch_ros") is not None
WITH_LAUNCH = pytest.mark.skipif(not HAS_LAUNCH, reason="launch_ros is not installed")

ROSFLIGHT_ARGUMENTS = {"use_sim_time", "use_vimfly", "dynamics_param_file"}


def calls(file: Path, name: str) -> list[ast.Call]:
    """Calls of that function or class in a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name]


def literals(nodes: list[ast.expr]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def arguments() -> dict[str, dict[str, ast.expr]]:
    """Declared launch arguments, with the keywords of each declaration."""
    declared = calls(GRAPH, "DeclareLaunchArgument")
    return {literals(c.args)[0]: {str(k.arg): k.value for k in c.keywords} for c in declared}


@pytest.mark.parametrize(("name", "dynamics"), FLOWN_BY_OTHERS)
def test_vehicles_flown_by_other_dynamics_have_a_launch_file_that_includes_the_common_graph(
    name: str, dynamics: str
) -> None:
    file = LAUNCH / f"{name}_{dynamics}.launch.py"
    words = {n.value for n in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant)}
    assert {GRAPH.name, "vehicle", name, "dynamics", dynamics} <= words
    assert calls(file, "IncludeLaunchDescription")


@pytest.mark.parametrize("name", ["multirotor", "fixedwing"])
def test_vehicles_that_rosflight_has_a_launch_file_for_have_one_that_includes_the_common_graph(name: str) -> None:
    file = LAUNCH / f"{name}_standalone.launch.py"
    words = {n.value for n in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant)}
    assert {GRAPH.name, "vehicle", name} <= words
    assert calls(file, "IncludeLaunchDescription")


@pytest.mark.parametrize(("file", "names"), [("copter", {"multirotor"}), ("plane", set()), ("sub", {"bluerov2"})])
def test_vehicles_for_ardupilot_have_a_launch_file_that_includes_the_common_graph_in_lockstep(
    file: str, names: set[str]
) -> None:
    path = LAUNCH / f"ardupilot_{file}.launch.py"
    words = {n.value for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant)}
    assert {GRAPH.name, "vehicle", "flight_controller", "ardupilot", "time_mode", "lockstep"} | names <= words
    assert calls(path, "IncludeLaunchDescription")
    declared = {literals(call.args)[0]: {str(k.arg): k.value for k in call.keywords} for call in declarations(path)}
    assert set(declared) - {"variant"} <= set(arguments())
    if "vehicle" in declared:
        offered = ast.literal_eval(declared["vehicle"]["choices"])
        assert all("ardupilot" in VEHICLES[name].pairings for name in offered)


def declarations(file: Path) -> list[ast.Call]:
    return calls(file, "DeclareLaunchArgument")


def test_planes_of_uthere_have_a_launch_file_that_includes_the_common_graph() -> None:
    path = LAUNCH / "uthere_fixedwing.launch.py"
    words = {n.value for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant)}
    assert {GRAPH.name, "vehicle", "flight_controller", "uthere"} <= words
    declared = {literals(call.args)[0]: {str(k.arg): k.value for k in call.keywords} for call in declarations(path)}
    assert set(declared) - {"pilot"} <= set(arguments())
    assert all("uthere" in VEHICLES[name].pairings for name in ast.literal_eval(declared["vehicle"]["choices"]))
    from rosflight_py_sim.cli import _parser

    assert _parser().parse_args(["hand-over", "--namespace", "a/b"]).namespace == ["a/b"]


def test_underwater_vehicles_have_a_launch_file_that_includes_the_common_graph_and_changes_its_defaults() -> None:
    file = LAUNCH / "auv_standalone.launch.py"
    assert calls(file, "IncludeLaunchDescription")
    declared = {
        literals(c.args)[0]: {str(k.arg): k.value for k in c.keywords} for c in calls(file, "DeclareLaunchArgument")
    }
    assert {"vehicle", "time_mode"} <= set(declared) <= set(arguments())
    swimming = [name for name, one in VEHICLES.items() if one.forces_and_moments == "auv_forces_and_moments"]
    assert ast.literal_eval(declared["vehicle"]["choices"]) == swimming


@pytest.mark.parametrize("vehicle", ALL.values(), ids=["-".join(names) for names in ALL])
def test_files_and_physics_of_each_vehicle_exist(vehicle: Vehicle) -> None:
    assert vehicle.parameter_file.is_file()
    assert vehicle.firmware_file.is_file()
    assert vehicle.forces_and_moments in NODE_CLASSES


def test_fleet_includes_the_common_graph_and_changes_defaults_of_arguments_that_it_has() -> None:
    file = LAUNCH / "fleet.launch.py"
    assert calls(file, "IncludeLaunchDescription")
    declared = {literals(call.args)[0] for call in calls(file, "DeclareLaunchArgument")}
    assert {"vehicle", "count"} <= declared <= set(arguments())


PLANS = [
    (vehicle, name)
    for vehicle in ALL.values()
    for name, controller in FLIGHT_CONTROLLERS.items()
    if name in vehicle.pairings or not controller.needs_file
]


def asked_autopilots(vehicle: Vehicle, controller: str) -> list[str]:
    """The vehicle's autopilot, where there is one that is obeyed."""
    chosen = FLIGHT_CONTROLLERS[controller]
    return chosen.asked_autopilots(vehicle, bool(vehicle.autopilot) and chosen.obeys_commands)


@pytest.mark.parametrize(("vehicle", "controller"), PLANS, ids=[f"{v.name}-{v.dynamics}-{c}" for v, c in PLANS])
def test_planned_graph_has_each_place_once_with_parameters_that_its_node_has(vehicle: Vehicle, controller: str) -> None:
    members = [Member(vehicle, namespace) for namespace in ("one", "two")]
    autopilots = asked_autopilots(vehicle, controller)
    planned = planned_nodes(members, FLIGHT_CONTROLLERS[controller], autopilots)
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
        # A node with a time mode must be told which.
        has_mode = "time_mode" in node_class(node.executable).PARAMETERS
        assert node.own({"time_mode": "lockstep"}) == ({"time_mode": "lockstep"} if has_mode else {})


# Nodes that only look on, and are started beside any graph.
VIEWERS = ["visualizer", "recorder", "web_viewer", "view_relay"]


def test_every_node_of_the_package_is_in_some_graph() -> None:
    planned = {
        node.executable
        for vehicle, controller in PLANS
        for node in planned_nodes(
            [Member(vehicle)],
            FLIGHT_CONTROLLERS[controller],
            [*asked_autopilots(vehicle, controller), *VIEWERS],
        )
    }
    assert planned | set(TIME_MANAGERS.values()) == set(NODE_CLASSES)


@pytest.mark.parametrize(("vehicle", "controller"), PLANS, ids=[f"{v.name}-{v.dynamics}-{c}" for v, c in PLANS])
def test_files_of_a_flight_controller_exist_and_set_what_there_is(vehicle: Vehicle, controller: str) -> None:
    planned = planned_nodes([Member(vehicle)], FLIGHT_CONTROLLERS[controller])
    files = FLIGHT_CONTROLLERS[controller].files_for(vehicle)
    assert bool(files) == FLIGHT_CONTROLLERS[controller].needs_file
    for file in files:
        assert_sections_suit(file, planned)


def assert_sections_suit(file: Path, planned: list[PlannedNode]) -> None:
    """Every section is a node's of the graph or all of theirs, and holds parameters there that take the values."""
    tables = {node.name: node_class(node.executable).PARAMETERS for node in planned}
    tables["/**"] = sum(tables.values(), ParameterTable())
    for section, content in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        table = tables[section.removeprefix("/**/")]
        for name, value in content["ros__parameters"].items():
            table[name].checked(value)


def test_overlay_for_elevons_suits_the_fixed_wing() -> None:
    planned = planned_nodes([Member(VEHICLES["fixedwing"])], FLIGHT_CONTROLLERS["ardupilot"])
    assert_sections_suit(share_directory() / "config" / "ardupilot" / "elevon.yaml", planned)


@pytest.mark.parametrize(
    "vehicle", [one for one in ALL.values() if "ardupilot" in one.pairings], ids=lambda one: one.name
)
def test_what_to_type_for_ardupilot_names_files_that_there_are_and_no_parameter_twice(vehicle: Vehicle) -> None:
    said = FLIGHT_CONTROLLERS["ardupilot"].instructions(vehicle)
    assert said.startswith("in another terminal: sim_vehicle.py -v Ardu")
    assert "--model JSON:127.0.0.1" in said
    files = [Path(word.partition("=")[2]) for word in said.split() if word.startswith("--add-param-file=")]
    assert files
    for file in files:
        assert_is_parameter_file_of_ardupilot(file)


def assert_is_parameter_file_of_ardupilot(file: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [line.split()[0] for line in lines]
    assert len(names) == len(set(names)) > 0
    for line in lines:
        name, value = line.split()
        # Sixteen characters is what ArduPilot's parameter protocol carries.
        assert re.fullmatch(r"[A-Z][A-Z0-9_]{2,15}", name)
        assert math.isfinite(float(value))


def test_every_parameter_file_for_ardupilot_is_one() -> None:
    files = sorted((share_directory() / "config" / "ardupilot").glob("*.parm"))
    assert {"copter.parm", "anaconda.parm", "aerosonde.parm", "elevon.parm", "sub.parm"} <= {
        file.name for file in files
    }
    for file in files:
        assert_is_parameter_file_of_ardupilot(file)


def test_flight_controller_that_a_vehicle_has_no_file_for_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match=r"'ardupilot' given for vehicle 'fixedwing'.*allowed: sil_board"):
        FLIGHT_CONTROLLERS["ardupilot"].files_for(FLOWN_BY_OTHERS["fixedwing", "jsbsim"])


def test_each_vehicle_is_flown_by_a_flight_controller_that_there_is() -> None:
    for vehicle in ALL.values():
        assert {vehicle.flight_controller, *vehicle.pairings} <= set(FLIGHT_CONTROLLERS)
        FLIGHT_CONTROLLERS[vehicle.flight_controller].files_for(vehicle)


def test_example_of_a_users_package_swaps_its_own_executable_in_by_arguments_that_there_are() -> None:
    package = share_directory() / "docs" / "examples" / "my_forces_and_moments"
    file = package / "launch" / "balloon.launch.py"
    assert (LAUNCH / "multirotor_standalone.launch.py").name in file.read_text(encoding="utf-8")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    # The node's own parameters are spelt as the launch arguments of the same meaning.
    pairs = [pair for n in ast.walk(tree) if isinstance(n, ast.Dict) for pair in zip(n.keys, n.values, strict=True)]
    given = {ast.literal_eval(key): value for key, value in pairs if key is not None}
    assert {"leave_out", "time_mode"} <= set(given) <= set(arguments())
    (node,) = calls(file, "Node")
    own = {str(k.arg): k.value for k in node.keywords}
    assert ast.literal_eval(own["name"]) == ast.literal_eval(given["leave_out"]) == "forces_and_moments"
    setup = (package / "setup.py").read_text(encoding="utf-8")
    assert f'"{ast.literal_eval(own["executable"])} = {ast.literal_eval(own["package"])}.balloon:main"' in setup


def test_options_given_to_the_composed_run_are_options_of_the_command() -> None:
    from rosflight_py_sim.cli import _parser

    (function,) = [
        n
        for n in ast.walk(ast.parse(GRAPH.read_text(encoding="utf-8")))
        if isinstance(n, ast.FunctionDef) and n.name == "_one_process"
    ]
    words = literals([n for n in ast.walk(function) if isinstance(n, ast.expr)])
    options = [word for word in words if word.startswith("--") and word != "--log-level"]
    assert {"--vehicle", "--launched", "--autopilot"} <= set(options)
    values = {"--vehicle": "multirotor", "--time-mode": "paced", "--real-time-multiplier": "1", "--seed": "1"}
    values |= {
        "--vehicle-file": __file__,
        "--firmware-file": __file__,
        "--namespace": "a",
        "--world": "pool",
        "--count": "2",
        "--spacing": "5",
        "--dynamics": STANDALONE,
        "--flight-controller": "sil_board",
        "--params-file": __file__,
    }
    given = [word for option in options for word in (option, *filter(None, [values.get(option)]))]
    parsed = vars(_parser().parse_args(["sim", *given]))
    assert {option[2:].removeprefix("no-").replace("-", "_") for option in options} <= set(parsed)


def test_each_argument_is_described_and_rosflights_are_there() -> None:
    declared = arguments()
    assert set(declared) >= ROSFLIGHT_ARGUMENTS | {"time_mode", "composed", "namespace", "log_level"}
    for name, keywords in declared.items():
        description = ast.literal_eval(keywords["description"])
        assert len(description) > 20, name
        assert description.endswith("."), name


@pytest.mark.parametrize("name", ["multirotor", "fixedwing"])
def test_services_that_prepare_the_firmware_are_services_of_the_board(name: str) -> None:
    board = "".join(path.read_text(encoding="utf-8") for path in Path(interfaces.__path__[0]).glob("rosflight_io_*.py"))
    called = [literals(call.args)[0] for call in calls(LAUNCH / f"{name}_init_firmware.launch.py", "_call")]
    assert called == ["param_load_from_file", "calibrate_imu", "param_write"]
    assert all(f'"{service}"' in board for service in called)


def test_time_modes_offered_are_those_that_there_are() -> None:
    assert ast.literal_eval(arguments()["time_mode"]["choices"]) == ["", *TIME_MODES]


def test_each_argument_stands_in_the_launch_page() -> None:
    page = (share_directory() / "docs" / "launch.md").read_text(encoding="utf-8")
    assert [name for name in arguments() if f"| `{name}` |" not in page and name != "vehicle"] == []


@pytest.mark.parametrize(
    ("time_mode", "use_sim_time", "lockstep", "expected"),
    [
        ("", "", False, "wall"),
        ("", "false", False, "wall"),
        ("", "true", False, "paced"),
        ("", "True", False, "paced"),
        ("", "", True, "lockstep"),
        ("", "true", True, "lockstep"),
        ("", "false", True, "wall"),
        ("lockstep", "", False, "lockstep"),
        ("lockstep", "true", False, "lockstep"),
        ("paced", "", True, "paced"),
        ("wall", "false", False, "wall"),
        ("wall", "", True, "wall"),
    ],
)
def test_time_mode_follows_from_the_arguments(time_mode: str, use_sim_time: str, lockstep: bool, expected: str) -> None:
    assert chosen_time_mode(time_mode, use_sim_time, lockstep=lockstep) == expected


@pytest.mark.parametrize(("time_mode", "use_sim_time"), [("lockstep", "false"), ("paced", "false"), ("wall", "true")])
def test_time_mode_that_contradicts_use_sim_time_is_refused(time_mode: str, use_sim_time: str) -> None:
    with pytest.raises(ParameterError, match=f"use_sim_time:={use_sim_time} and time_mode:={time_mode} contradict"):
        chosen_time_mode(time_mode, use_sim_time, lockstep=False)


def test_use_sim_time_is_true_or_false() -> None:
    with pytest.raises(ParameterError, match="'use_sim_time': 'maybe' given; allowed: true, false"):
        chosen_time_mode("", "maybe", lockstep=False)


# From here on by running them.

PATIENCE_S = 60.0


def launched(
    *given: str, file: str = "multirotor_standalone.launch.py", output: Any = subprocess.PIPE
) -> subprocess.Popen[str]:
    """A launch file in a process of its own, which Ctrl-C reaches whatever the shell of the tests did with it."""
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
    )


def wait_for_truth(process: subprocess.Popen[str], topic: str, seconds: float) -> None:
    """Return once the truth state has advanced by that much simulated time."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rosflight_msgs.msg import SimState

    from rosflight_py_sim.interfaces.qos import CHAIN
    from rosflight_py_sim.interfaces.vehicle_state import VehicleState

    context = rclpy.Context()
    rclpy.init(context=context)
    listener = Node("launch_listener", context=context)
    state = VehicleState()
    listener.create_subscription(SimState, topic, state.read, CHAIN, raw=True)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(listener)
    first, give_up = -1.0, time.monotonic() + PATIENCE_S
    try:
        while first < 0.0 or state.time_s < first + seconds:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < give_up, f"the truth state stands at {state.time_s} s"
            executor.spin_once(timeout_sec=0.2)
            if first < 0.0 <= state.time_s:
                first = state.time_s
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
        ("multirotor_standalone", ("composed:=true", "seed:=3"), "sim/truth_state"),
        ("multirotor_standalone", ("time_mode:=lockstep", "visualizer:=true"), "sim/truth_state"),
        ("multirotor_standalone", ("composed:=true", "visualizer:=true"), "sim/truth_state"),
        ("fleet", ("composed:=false",), "multirotor_2/sim/truth_state"),
        ("fleet", ("count:=3", "vehicle:=multirotor", "namespace:=swarm"), "swarm/multirotor_3/sim/truth_state"),
    ],
    ids=["wall", "paced", "lockstep", "composed", "drawn", "composed, drawn", "fleet", "composed fleet"],
)
def test_launched_graph_runs_and_ends_quietly_on_an_interrupt(file: str, given: tuple[str, ...], topic: str) -> None:
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
def test_launched_graph_says_what_to_type_for_ardupilot_and_waits_for_it(
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
            give_up = time.monotonic() + PATIENCE_S
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


@pytest.mark.usefixtures("ros_domain")
@WITH_LAUNCH
@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("time_mode:=lockstep", "use_sim_time:=false"), "contradict each other"),
        (("time_mode:=locked",), "time_mode"),
        (("dynamics_param_file:=/no/such.yaml",), "there is no file '/no/such.yaml'"),
        (("params_file:=/no/such.yaml",), "there is no file '/no/such.yaml'"),
        (("leave_out:=sensor",), "'sensor' given; allowed: rc, sensors"),
        (
            ("flight_controller:=ardupilot", "time_mode:=wall"),
            "'time_mode': 'wall' given; allowed: text, one of lockstep",
        ),
        (("count:=0",), "'count': 0 given; allowed: integer, from 1 to 100"),
        (("real_time_multiplier:=2",), "leave it out, or choose time_mode:=paced or lockstep"),
        (("use_sim_time:=true", "real_time_multiplier:=-1"), "'real_time_multiplier': -1 given; allowed"),
    ],
)
def test_bad_launch_argument_ends_the_launch_with_its_reason(given: tuple[str, ...], text: str) -> None:
    output, _ = launched(*given).communicate(timeout=60.0)
    assert text in output
