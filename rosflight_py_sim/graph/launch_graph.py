"""Launch description shared by all launch files of the package.

Empty arguments are not passed on, so parameter files, and then the nodes' own defaults, take effect.
"""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.logging import get_logger
from launch_ros.actions import Node

from rosflight_py_sim.graph.failing_links import check_link_failures
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import (
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
)
from rosflight_py_sim.graph.launching import TIME_MODE, end_launch_after_error, end_launch_on_request
from rosflight_py_sim.graph.meetings import ENCOUNTERS, encounter_settings
from rosflight_py_sim.graph.options import Option
from rosflight_py_sim.graph.other_simulation import OtherSimulation
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.graph.plan import PlannedNode, planned_nodes
from rosflight_py_sim.graph.rviz import config_file, require_rviz
from rosflight_py_sim.graph.scenario import Scenario, load_scenario
from rosflight_py_sim.graph.section_names import check_section_names
from rosflight_py_sim.graph.simulation_file import write_simulation
from rosflight_py_sim.graph.simulation_options import SimulationOptions
from rosflight_py_sim.graph.time_modes import check_pace, time_manager_of
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.vehicles import CAMERA

# A configuration name with at least this similarity to an argument's name is treated as a misspelling.
_NEAR = 0.85

# Launch must process the exit of a node that rejected its parameters before it would restart it.
_RESPAWN_DELAY_S = 1.0


def graph(options: SimulationOptions) -> list[LaunchDescriptionEntity]:
    """The nodes to start.

    Raises:
        ParameterError: a value is not allowed, or values contradict each other.
    """
    return _started(options, options.simulated())


def scenario_graph(options: SimulationOptions) -> list[LaunchDescriptionEntity]:
    """The nodes of a scenario file to start.

    Raises:
        ParameterError: the scenario is invalid, a value is not allowed, or values contradict each other.
    """
    return _started(options, options.added_to(load_scenario(options.scenario)))


def _started(options: SimulationOptions, scenario: Scenario) -> list[LaunchDescriptionEntity]:
    # As the commands do: no traffic leaves the machine unless the environment asks for it.
    stay_on_this_machine()
    check_pace(scenario.time_mode, options.real_time_multiplier)
    nodes = [_one_process(options, scenario)] if options.composed else _processes(options, scenario)
    return [*nodes, *_rviz(options, scenario.time_mode, scenario.members[0])]


def launch_description(
    *,
    defaults: Mapping[str, str] | None = None,
    own: Sequence[Option] = (),
    entities: Callable[[SimulationOptions, Mapping[str, Any]], list[LaunchDescriptionEntity]] | None = None,
) -> LaunchDescription:
    """Launch description of a launch file: its arguments, and the nodes that they start.

    Args:
        defaults: name of an argument to its default in this file.
        own: arguments that only this file has.
        entities: function from the options and the values of the file's own arguments to what to start; None: `graph`
            with the options.
    """
    arguments = arguments_of_file(defaults or {}, own)

    def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        _warn_of_misspelt(context, list(arguments))
        configurations = context.launch_configurations
        options = SimulationOptions.of_launch({name: configurations.get(name, "") for name in arguments})
        configurations[TIME_MODE] = options.chosen_time_mode
        if entities is None:
            return graph(options)
        return entities(options, {one.name: one.parsed(configurations[one.name]) for one in own})

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
        options = SimulationOptions.of_launch(given | {"scenario": given["file"]})
        configurations[TIME_MODE] = load_scenario(options.scenario).time_mode
        return scenario_graph(options)

    return LaunchDescription([*map(declaration, arguments.values()), OpaqueFunction(function=start)])


def declaration(one: Option) -> DeclareLaunchArgument:
    """Declaration of an option as a launch argument."""
    unset = f" Empty: {one.unset}." if one.unset else ""
    return DeclareLaunchArgument(
        one.name,
        default_value=one.default,
        description=f"{one.sentence}{unset}",
        choices=[*one.choices, *one.further_names] or None,
    )


def _warn_of_misspelt(context: LaunchContext, names: Sequence[str]) -> None:
    for configuration in context.launch_configurations:
        near = difflib.get_close_matches(configuration, names, n=1, cutoff=_NEAR)
        if near and configuration not in names:
            get_logger("rosflight_py_sim").warning(
                f"there is no launch argument '{configuration}'; did you mean '{near[0]}'?"
            )


def _rviz(options: SimulationOptions, time_mode: str, member: Member) -> list[Node]:
    if not options.rviz:
        return []
    require_rviz()
    config = config_file(options.namespace, member.namespace, has_cameras=CAMERA in member.vehicle.extra_nodes)
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", str(config)],
            parameters=[{"use_sim_time": time_mode != "wall"}],
            ros_arguments=["--log-level", options.log_level],
        )
    ]


def _processes(options: SimulationOptions, scenario: Scenario) -> list[LaunchDescriptionEntity]:
    members, time_mode, observers = scenario.members, scenario.time_mode, scenario.observers
    shared = {
        "time_mode": time_mode,
        "use_vimfly": options.use_vimfly,
        "vehicles": [member.namespace for member in members],
        **step_size_settings(members),
        **(keyboard_settings(members) if options.use_vimfly else {}),
        **scenario.settings,
    }

    shared_executables = [*options.viewers, *options.services]
    if manager := time_manager_of(time_mode, scenario.time_manager):
        shared_executables.append(manager)
    if options.record is not None:
        shared["record.file"] = options.record
        shared_executables.append("recorder")
    sources_of = partial(parameter_sources, members, observers=observers, files=scenario.files, weakest={})
    sources = sources_of(settings=shared)
    if meetings := encounter_settings(members, sources, namespace=options.namespace):
        shared_executables.append(ENCOUNTERS)
        sources = sources_of(settings={**shared, **meetings})

    def node(planned: PlannedNode) -> Node:
        *weaker, strongest = sources.of(planned.member)
        assert isinstance(strongest, Mapping)
        cls = node_class(planned.executable)
        if different := sources.of_vehicles(cls, planned.member, namespace=options.namespace):
            weaker.insert(0, _parameter_file(cls.DEFAULT_NAME, different))
        return Node(
            package="rosflight_py_sim",
            **_program(planned.executable),
            # The section with the full name overrides every section of the files.
            name=planned.name,
            namespace=absolute_name(options.namespace, planned.namespace)[1:] or "/",
            parameters=[
                *filter(None, (planned.own(one) if isinstance(one, Mapping) else str(one) for one in weaker)),
                {"use_sim_time": time_mode != "wall", **planned.own(strongest)},
            ],
            ros_arguments=["--log-level", options.log_level],
            output="screen",
            emulate_tty=True,
            on_exit=end_launch_on_request if planned.executable in options.services else end_launch_after_error,
            # A restarted recorder would refuse to overwrite its own file.
            respawn=options.respawn and planned.executable != "recorder",
            respawn_delay=_RESPAWN_DELAY_S,
        )

    planned = planned_nodes(members, shared_executables, observers=observers, names=options.names)
    check_section_names(map(str, scenario.files), planned)
    check_link_failures(members, sources, namespace=options.namespace)
    left_out = set(options.leave_out)
    unknown = ", ".join(sorted(left_out.difference(*(one.accepted_names for one in planned))))
    if unknown:
        names = ", ".join(one.full_name for one in planned)
        raise ParameterError(f"launch argument 'leave_out': '{unknown}' given; allowed: {names}")
    with OtherSimulation(allowed=options.share_domain) as other:
        other.refuse(members, time_mode, observers=observers, namespace=options.namespace, left_out=left_out)
    lines = [LogInfo(msg=line) for line in instructions(members)]
    return lines + [node(one) for one in planned if not one.accepted_names & left_out]


def _parameter_file(node_name: str, values: Mapping[str, Value]) -> Path:
    """A new parameter file; values that launch_ros writes may change their type."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False, encoding="utf-8") as file:
        yaml.safe_dump({f"/**/{node_name}": {"ros__parameters": dict(values)}}, file)
    return Path(file.name)


def _one_process(options: SimulationOptions, scenario: Scenario) -> Node:
    given = {"leave_out": ",".join(options.leave_out), "respawn": "true" if options.respawn else ""}
    for name, value in given.items():
        if value:
            raise ParameterError(
                f"launch arguments composed:=true and {name}:={value} exclude each other: all nodes run in one process"
            )
    return Node(
        package="rosflight_py_sim",
        executable="rosflight_py_sim",
        arguments=["sim", "--launched", str(write_simulation(options, scenario))],
        ros_arguments=["--log-level", options.log_level],
        output="screen",
        emulate_tty=True,
        on_exit=end_launch_after_error,
    )


def _program(executable: str) -> dict[str, Any]:
    """Arguments of launch_ros.actions.Node that run a registered node; another package's has no executable here."""
    if executable in NODE_CLASSES:
        return {"executable": executable}
    return {"executable": "run_node", "arguments": [executable]}
