"""Launch description shared by all launch files of the package.

Empty arguments are not passed on, so parameter files, and then the nodes' own defaults, take effect.
"""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.logging import get_logger
from launch_ros.actions import Node

from rosflight_py_sim.bounded_yaml import load_yaml
from rosflight_py_sim.confined_files import is_file
from rosflight_py_sim.graph.command_options import arguments_of
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.graph.flight_controllers import (
    chosen_flight_controller,
    instructions,
    keyboard_settings,
    step_size_settings,
)
from rosflight_py_sim.graph.launch_arguments import (
    all_arguments,
    arguments_of_file,
    check_none_in_scenario,
    is_listed,
    scenario_arguments,
    time_mode_of,
)
from rosflight_py_sim.graph.launching import TIME_MODE, end_launch_after_error
from rosflight_py_sim.graph.options import SIM, Option, parts_of, recording_of
from rosflight_py_sim.graph.other_simulation import OtherSimulation
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.plan import PlannedNode, planned_nodes
from rosflight_py_sim.graph.rviz import config_file, require_rviz
from rosflight_py_sim.graph.scenario import Scenario, load_scenario
from rosflight_py_sim.graph.time_modes import boolean, check_pace, time_manager_of
from rosflight_py_sim.node_kinds import NODE_CLASSES
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parameters import ParameterError, Value
from rosflight_py_sim.process_environment import stay_on_this_machine
from rosflight_py_sim.vehicles import CAMERA, Vehicle, vehicle

# A configuration name with at least this similarity to an argument's name is treated as a misspelling.
_NEAR = 0.85

# Launch must process the exit of a node that rejected its parameters before it would restart it.
_RESPAWN_DELAY_S = 1.0


def graph(given: dict[str, str]) -> list[LaunchDescriptionEntity]:
    """The nodes to start, from argument values by name.

    Raises:
        ParameterError: a value is not allowed, or values contradict each other.
    """
    chosen = vehicle(given["vehicle"], given["dynamics"])
    time_mode = time_mode_of(given)
    check_pace(time_mode, given["real_time_multiplier"])
    for name in ("dynamics_param_file", "params_file", "firmware_param_file"):
        _check_files(given, name)
    if given["camera"]:
        chosen = chosen.carrying(CAMERA, boolean("camera", given["camera"]))
    if given["dynamics_param_file"]:
        chosen = replace(chosen, parameter_file=Path(given["dynamics_param_file"]))
    scenario = Scenario(
        _members(given, chosen),
        time_mode,
        parts_of(given["observers"]),
        parts_of(given["params_file"]),
        {name: given[name] for name in ("firmware_param_file", "world", "earth") if given[name]},
        time_manager=given["time_manager"],
    )
    return _started(given | {"time_mode": time_mode}, scenario)


def scenario_graph(given: dict[str, str]) -> list[LaunchDescriptionEntity]:
    """The nodes of a scenario file to start, from values of `scenario_arguments` by name.

    Raises:
        ParameterError: the scenario is invalid, a value is not allowed, or values contradict each other.
    """
    scenario = load_scenario(given["file"])
    check_pace(scenario.time_mode, given["real_time_multiplier"])
    _check_files(given, "params_file")
    scenario = replace(scenario, files=[*scenario.files, *parts_of(given["params_file"])])
    return _started(given | {"scenario": given["file"]}, scenario)


def _check_files(given: dict[str, str], name: str) -> None:
    for file in parts_of(given[name]):
        if not is_file(Path(file)):
            raise ParameterError(f"launch argument '{name}': there is no file '{file}'")


def _started(given: dict[str, str], scenario: Scenario) -> list[LaunchDescriptionEntity]:
    # As the commands do: no traffic leaves the machine unless the environment asks for it.
    stay_on_this_machine()
    composed = boolean("composed", given["composed"])
    nodes = [_one_process(given)] if composed else _processes(given, scenario)
    return [*nodes, *_rviz(given, scenario.time_mode, scenario.members[0])]


def launch_description(
    *,
    defaults: Mapping[str, str] | None = None,
    own: Sequence[Option] = (),
    entities: Callable[[dict[str, str]], list[LaunchDescriptionEntity]] = graph,
) -> LaunchDescription:
    """Launch description of a launch file: its arguments, and the nodes that they start.

    Args:
        defaults: name of an argument to its default in this file.
        own: arguments that only this file has.
        entities: function from the values of all arguments to what to start.
    """
    arguments = arguments_of_file(defaults or {}, own)

    def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        _warn_of_misspelt(context, list(arguments))
        configurations = context.launch_configurations
        given = {name: configurations.get(name, "") for name in arguments}
        configurations[TIME_MODE] = time_mode_of(given)
        return entities(given)

    listed = [declaration(one) for one in arguments.values() if is_listed(one, arguments)]
    return LaunchDescription([*listed, OpaqueFunction(function=start)])


def scenario_description() -> LaunchDescription:
    """Launch description of the launch file for scenario files."""
    arguments = scenario_arguments()

    def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        _warn_of_misspelt(context, list(all_arguments() | arguments))
        configurations = context.launch_configurations
        check_none_in_scenario(configurations)
        given = {name: configurations.get(name, "") for name in arguments}
        configurations[TIME_MODE] = load_scenario(given["file"]).time_mode
        return scenario_graph(given)

    return LaunchDescription([*map(declaration, arguments.values()), OpaqueFunction(function=start)])


def declaration(one: Option) -> DeclareLaunchArgument:
    """Declaration of an option as a launch argument."""
    unset = f" Empty: {one.unset}." if one.unset else ""
    return DeclareLaunchArgument(
        one.name, default_value=one.default, description=f"{one.sentence}{unset}", choices=list(one.choices) or None
    )


def _warn_of_misspelt(context: LaunchContext, names: Sequence[str]) -> None:
    for configuration in context.launch_configurations:
        near = difflib.get_close_matches(configuration, names, n=1, cutoff=_NEAR)
        if near and configuration not in names:
            get_logger("rosflight_py_sim").warning(
                f"there is no launch argument '{configuration}'; did you mean '{near[0]}'?"
            )


def _rviz(given: dict[str, str], time_mode: str, member: Member) -> list[Node]:
    if not boolean("rviz", given["rviz"]):
        return []
    require_rviz()
    config = config_file(given["namespace"], member.namespace, has_cameras=CAMERA in member.vehicle.extra_nodes)
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", str(config)],
            parameters=[{"use_sim_time": time_mode != "wall"}],
            ros_arguments=["--log-level", given["log_level"]],
        )
    ]


def _is_drawn(given: dict[str, str]) -> bool:
    return boolean("visualizer", given["visualizer"]) or boolean("rviz", given["rviz"])


def _members(given: dict[str, str], chosen: Vehicle) -> list[Member]:
    if given["count"]:
        numbers = {
            name: value for part in ("count", "spacing", "seed") for name, value in _numbers(given, part).items()
        }
        members = fleet(chosen, **{"seed": 0, **numbers})
    else:
        members = [Member(chosen, settings=_numbers(given, "seed"))]
    controller = chosen_flight_controller(given["flight_controller"] or chosen.flight_controller)
    autopilots = controller.requested_autopilots(chosen, boolean("autopilot", given["autopilot"]))
    return [replace(one, flight_controller=controller.name, executables=tuple(autopilots)) for one in members]


def _processes(given: dict[str, str], scenario: Scenario) -> list[LaunchDescriptionEntity]:
    members, time_mode = scenario.members, scenario.time_mode
    by_keyboard = boolean("use_vimfly", given["use_vimfly"])
    respawn = boolean("respawn", given["respawn"])
    shared = {
        "time_mode": time_mode,
        "use_vimfly": by_keyboard,
        "vehicles": [member.namespace for member in members],
        **step_size_settings(members),
        **(keyboard_settings(members) if by_keyboard else {}),
        **_numbers(given, "real_time_multiplier"),
        **scenario.settings,
    }

    shared_executables = ["visualizer"] if _is_drawn(given) else []
    if boolean("view", given["view"]):
        shared_executables.append("web_viewer")
    if manager := time_manager_of(time_mode, scenario.time_manager):
        shared_executables.append(manager)
    recording = recording_of(given["record"])
    if recording is not None:
        shared["record.file"] = recording
        shared_executables.append("recorder")
    observers = scenario.observers
    sources = parameter_sources(members, observers=observers, files=scenario.files, weakest={}, settings=shared)

    def node(planned: PlannedNode) -> Node:
        *weaker, strongest = sources.of(planned.member)
        assert not isinstance(strongest, Path)
        cls = node_class(planned.executable)
        if different := sources.of_vehicles(cls, planned.member, namespace=given["namespace"]):
            weaker.insert(0, _parameter_file(cls.DEFAULT_NAME, different))
        return Node(
            package="rosflight_py_sim",
            **_program(planned.executable),
            # The section with the full name overrides every section of the files.
            name=planned.name,
            namespace="/".join(filter(None, (given["namespace"], planned.namespace))) or "/",
            parameters=[
                *filter(None, (str(one) if isinstance(one, Path) else planned.own(one) for one in weaker)),
                {"use_sim_time": time_mode != "wall", **planned.own(strongest)},
            ],
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
            emulate_tty=True,
            on_exit=end_launch_after_error,
            # A restarted recorder would refuse to overwrite its own file.
            respawn=respawn and planned.executable != "recorder",
            respawn_delay=_RESPAWN_DELAY_S,
        )

    planned = planned_nodes(members, shared_executables, observers=observers, names=given["names"])
    left_out = set(parts_of(given["leave_out"]))
    unknown = ", ".join(sorted(left_out.difference(*(one.accepted_names for one in planned))))
    if unknown:
        names = ", ".join(one.full_name for one in planned)
        raise ParameterError(f"launch argument 'leave_out': '{unknown}' given; allowed: {names}")
    with OtherSimulation(allowed=boolean("share_domain", given["share_domain"])) as other:
        other.refuse(members, time_mode, observers=observers, namespace=given["namespace"], left_out=left_out)
    lines = [LogInfo(msg=line) for line in instructions(members)]
    return lines + [node(one) for one in planned if not one.accepted_names & left_out]


def _parameter_file(node_name: str, values: Mapping[str, Value]) -> Path:
    """A new parameter file; values that launch_ros writes may change their type."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False, encoding="utf-8") as file:
        yaml.safe_dump({f"/**/{node_name}": {"ros__parameters": dict(values)}}, file)
    return Path(file.name)


def _one_process(given: dict[str, str]) -> Node:
    for name, excluded in (("leave_out", bool(given["leave_out"])), ("respawn", boolean("respawn", given["respawn"]))):
        if excluded:
            raise ParameterError(
                f"launch arguments composed:=true and {name}:={given[name]} exclude each other: all nodes run in one "
                "process"
            )
    arguments = arguments_of(given | {"visualizer": str(_is_drawn(given))}, SIM)
    return Node(
        package="rosflight_py_sim",
        executable="rosflight_py_sim",
        arguments=["sim", "--launched", *arguments],
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
        emulate_tty=True,
        on_exit=end_launch_after_error,
    )


def _numbers(given: dict[str, str], name: str) -> dict[str, Any]:
    """The argument as a parameter, if given; the node rejects a value that is not a number."""
    return {name: load_yaml(given[name])} if given[name] else {}


def _program(executable: str) -> dict[str, Any]:
    """Arguments of launch_ros.actions.Node that run a registered node; another package's has no executable here."""
    if executable in NODE_CLASSES:
        return {"executable": executable}
    return {"executable": "run_node", "arguments": [executable]}
