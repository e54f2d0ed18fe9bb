"""The node graph that all vehicles share; a vehicle's launch file includes it with the vehicle's name.

Arguments left empty are not passed on, so that the parameter files, and then the nodes' own defaults, speak.
"""

import difflib
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, EmitEvent, LogInfo, OpaqueFunction
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch_ros.actions import Node

from rosflight_py_sim.fleet import Member, fleet
from rosflight_py_sim.flight_controllers import FLIGHT_CONTROLLERS, FlightController, chosen_flight_controller
from rosflight_py_sim.graph_plan import PlannedNode, planned_nodes
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.rviz import config_file, require_rviz
from rosflight_py_sim.time_modes import TIME_MANAGERS, boolean, chosen_time_mode
from rosflight_py_sim.vehicles import CAMERA, DYNAMICS, STANDALONE, VEHICLES, Vehicle, vehicle

ARGUMENTS = [
    DeclareLaunchArgument("vehicle", choices=list(VEHICLES), description="Which vehicle to simulate."),
    DeclareLaunchArgument(
        "dynamics",
        default_value=STANDALONE,
        choices=list(DYNAMICS),
        description="Who moves the vehicle: the nodes of this package (standalone), or an aircraft of JSBSim.",
    ),
    DeclareLaunchArgument(
        "flight_controller",
        default_value="",
        choices=["", *FLIGHT_CONTROLLERS],
        description="What answers the sensors with servo outputs. Empty: the vehicle's own, which is sil_board (the "
        "ROSflight firmware) for those that fly.",
    ),
    DeclareLaunchArgument(
        "time_mode",
        default_value="",
        choices=["", "wall", "paced", "lockstep"],
        description="Who advances time: wall (timers on system time), paced (/clock at a fixed rate) or lockstep (each "
        "step when the one before is complete; repeatable). Empty: as use_sim_time says.",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="",
        description="Without time_mode: false chooses wall, true chooses paced. Empty: wall, or whatever "
        "time_mode needs. Composed, and with a flight controller that is waited for, lockstep stands for both.",
    ),
    DeclareLaunchArgument(
        "real_time_multiplier",
        default_value="",
        description="Simulated seconds per second, in paced and lockstep; 0 in lockstep: as fast as the machine "
        "allows. Empty: as the parameter file says, or 1.",
    ),
    DeclareLaunchArgument(
        "seed",
        default_value="",
        description="Seed of all random numbers; in lockstep the same seed gives the same flight. Empty: as the "
        "parameter file says, or 0.",
    ),
    DeclareLaunchArgument(
        "dynamics_param_file",
        default_value="",
        description="Parameters of all nodes, in the place of the vehicle's own file in share/rosflight_py_sim/config; "
        "ROSflight's files work too.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="Parameters of all nodes over those of the vehicle's own file: files, with commas.",
    ),
    DeclareLaunchArgument(
        "firmware_param_file",
        default_value="",
        description="Parameters that the flight controller starts with (ROSflight's YAML list), in the place of the "
        "vehicle's own file in share/rosflight_py_sim/config.",
    ),
    DeclareLaunchArgument("use_vimfly", default_value="false", description="Whether the keyboard moves the sticks."),
    DeclareLaunchArgument(
        "autopilot", default_value="false", description="Whether to add the autopilot, which flies a mission on call."
    ),
    DeclareLaunchArgument(
        "world",
        default_value="",
        description="Pool, water and obstacles around the vehicle: a name in share/rosflight_py_sim/config/worlds "
        "(pool, open_water), or a file of your own. Empty: as the parameter file says, or dry land.",
    ),
    DeclareLaunchArgument(
        "camera",
        default_value="",
        choices=["", "true", "false"],
        description="Whether the vehicle has cameras. Empty: as it is, which is only under water.",
    ),
    DeclareLaunchArgument(
        "visualizer",
        default_value="false",
        description="Whether to publish frames on tf and markers, for an RViz that is started elsewhere.",
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", description="Whether to start RViz, and the visualizer with it."
    ),
    DeclareLaunchArgument(
        "record",
        default_value="",
        description="Whether to record every topic: true, or the name of a new MCAP file; true: "
        "flights/VEHICLE-DATE.mcap.",
    ),
    DeclareLaunchArgument(
        "view",
        default_value="false",
        description="Whether to show the simulation on a web page, at http://127.0.0.1:8642 unless its parameters say "
        "otherwise.",
    ),
    DeclareLaunchArgument(
        "composed", default_value="false", description="Whether all nodes run in one process; by default in lockstep."
    ),
    DeclareLaunchArgument(
        "leave_out",
        default_value="",
        description="Names of nodes not to start, with commas, because you start your own in their place.",
    ),
    DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of all nodes; /clock stays outside of it."
    ),
    DeclareLaunchArgument(
        "count",
        default_value="",
        description="Number of vehicles, in the namespaces NAME_1, NAME_2 and so on. Empty: one, without a namespace.",
    ),
    DeclareLaunchArgument(
        "spacing",
        default_value="",
        description="With count: distance from one vehicle's start to the next one's, along east, in metres. Empty: as "
        "the vehicle has it.",
    ),
    DeclareLaunchArgument(
        "log_level",
        default_value="info",
        choices=["debug", "info", "warn", "error", "fatal"],
        description="What the nodes log: this level and worse.",
    ),
]

# A configuration closer than this to an argument's name is taken for a slip of the pen.
_NEAR = 0.85


def generate_launch_description() -> LaunchDescription:
    """Arguments, and the nodes that they ask for."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_graph)])


def _graph(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = {argument.name: context.launch_configurations[argument.name] for argument in ARGUMENTS}
    _warn_of_misspelt(context)
    composed = boolean("composed", given["composed"])
    chosen = vehicle(given["vehicle"], given["dynamics"])
    controller = chosen_flight_controller(given["flight_controller"] or chosen.flight_controller)
    by_steps = composed or controller.needs_lockstep
    time_mode = chosen_time_mode(given["time_mode"], given["use_sim_time"], lockstep=by_steps)
    if time_mode == "wall" and given["real_time_multiplier"]:
        raise ParameterError(
            f"launch argument 'real_time_multiplier': '{given['real_time_multiplier']}' given; with time_mode wall "
            "time passes as on the system's clock: leave it out, or choose time_mode:=paced or lockstep"
        )
    for name in ("dynamics_param_file", "params_file", "firmware_param_file"):
        for file in _words(given[name]):
            if not Path(file).is_file():
                raise ParameterError(f"launch argument '{name}': there is no file '{file}'")
    if given["camera"]:
        chosen = chosen.carrying(CAMERA, boolean("camera", given["camera"]))
    members = _members(given, chosen)
    nodes = [_one_process(given, time_mode)] if composed else _processes(given, time_mode, members, controller)
    return [*nodes, *_rviz(given, time_mode, members[0])]


def _rviz(given: dict[str, str], time_mode: str, member: Member) -> list[Node]:
    if not boolean("rviz", given["rviz"]):
        return []
    require_rviz()
    config = config_file(given["namespace"], member.namespace, has_cameras=CAMERA in member.vehicle.companions)
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
    if not given["count"]:
        return [Member(chosen, settings=_numbers(given, "seed"))]
    numbers = {name: value for part in ("count", "spacing", "seed") for name, value in _numbers(given, part).items()}
    return fleet(chosen, **{"seed": 0, **numbers})


def _processes(
    given: dict[str, str], time_mode: str, members: list[Member], controller: FlightController
) -> list[LaunchDescriptionEntity]:
    chosen = members[0].vehicle
    files = [given["dynamics_param_file"] or str(chosen.parameter_file), *map(str, controller.files_for(chosen))]
    files += _words(given["params_file"])
    by_keyboard = boolean("use_vimfly", given["use_vimfly"])
    shared = {
        **controller.settings,
        "time_mode": time_mode,
        "use_vimfly": by_keyboard,
        "firmware_param_file": given["firmware_param_file"] or str(chosen.firmware_file),
        "vehicles": [member.namespace for member in members],
        **({"ardupilot.rc": True} if by_keyboard else {}),
        **_numbers(given, "real_time_multiplier"),
        **({"world": given["world"]} if given["world"] else {}),
    }

    def node(planned: PlannedNode) -> Node:
        own = planned.own({**shared, **planned.member.settings})
        return Node(
            package="rosflight_py_sim",
            executable=planned.executable,
            # With its full name given, the parameters are stronger than every section of the files.
            name=planned.name,
            namespace="/".join(filter(None, (given["namespace"], planned.namespace))) or "/",
            parameters=[*files, {"use_sim_time": time_mode != "wall", **own}],
            ros_arguments=["--log-level", given["log_level"]],
            output="screen",
            emulate_tty=True,
            on_exit=_end_if_refused,
        )

    autopilots = controller.asked_autopilots(chosen, boolean("autopilot", given["autopilot"]))
    planned = planned_nodes(members, controller, autopilots)
    if _is_drawn(given):
        planned.append(PlannedNode("visualizer", "visualizer", "", members[0]))
    if boolean("view", given["view"]):
        planned.append(PlannedNode("web_viewer", "web_viewer", "", members[0]))
    if time_mode in TIME_MANAGERS:
        planned.append(PlannedNode("time_manager", TIME_MANAGERS[time_mode], "", members[0]))
    recording = _recording(given)
    if recording is not None:
        shared |= {"record.file": recording, "record.vehicle": chosen.name}
        planned.append(PlannedNode("recorder", "recorder", "", members[0]))
    left_out = set(_words(given["leave_out"]))
    names = [one.full_name for one in planned]
    unknown = ", ".join(sorted(left_out - {*names, *map(_bare, names)}))
    if unknown:
        raise ParameterError(f"launch argument 'leave_out': '{unknown}' given; allowed: {', '.join(names)}")
    instructions = controller.instructions(chosen)
    said = [LogInfo(msg=instructions)] if instructions else []
    return said + [node(one) for one in planned if not {one.full_name, one.name} & left_out]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


def _recording(given: dict[str, str]) -> str | None:
    """Name of the file to record to; empty: a new one; None: no recording."""
    if given["record"].lower() in ("", "false"):
        return None
    return "" if given["record"].lower() == "true" else given["record"]


def _one_process(given: dict[str, str], time_mode: str) -> Node:
    if given["leave_out"]:
        raise ParameterError(
            f"launch arguments composed:=true and leave_out:={given['leave_out']} exclude each other: all nodes run in "
            "one process"
        )
    options = {
        "--vehicle": given["vehicle"],
        "--dynamics": given["dynamics"],
        "--flight-controller": given["flight_controller"],
        "--time-mode": time_mode,
        "--real-time-multiplier": given["real_time_multiplier"],
        "--seed": given["seed"],
        "--world": given["world"],
        "--vehicle-file": given["dynamics_param_file"],
        "--firmware-file": given["firmware_param_file"],
        "--namespace": given["namespace"],
        "--count": given["count"],
        "--spacing": given["spacing"],
    }
    arguments = [word for option, value in options.items() if value for word in (option, value)]
    for file in _words(given["params_file"]):
        arguments += ["--params-file", file]
    if boolean("autopilot", given["autopilot"]):
        arguments.append("--autopilot")
    recording = _recording(given)
    if recording is not None:
        arguments += ["--record", recording] if recording else ["--record"]
    if given["camera"]:
        arguments.append("--camera" if boolean("camera", given["camera"]) else "--no-camera")
    if boolean("use_vimfly", given["use_vimfly"]):
        arguments.append("--keyboard")
    if _is_drawn(given):
        arguments.append("--visualizer")
    if boolean("view", given["view"]):
        arguments.append("--view")
    return Node(
        package="rosflight_py_sim",
        executable="rosflight_py_sim",
        arguments=["sim", "--launched", *arguments],
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
        emulate_tty=True,
        on_exit=_end_if_refused,
    )


def _numbers(given: dict[str, str], name: str) -> dict[str, Any]:
    """The argument as a parameter, if it was given; what is no number is for the node to refuse."""
    return {name: yaml.safe_load(given[name])} if given[name] else {}


def _end_if_refused(event: ProcessExited, context: LaunchContext) -> EmitEvent | None:
    """End the launch when a node refuses its parameters; after a kill the others wait for it to come back."""
    if event.returncode <= 0 or context.is_shutdown:
        return None
    return EmitEvent(event=Shutdown(reason=f"{event.process_name} ended with {event.returncode}"))


def _warn_of_misspelt(context: LaunchContext) -> None:
    names = [argument.name for argument in ARGUMENTS]
    for configuration in context.launch_configurations:
        near = difflib.get_close_matches(configuration, names, n=1, cutoff=_NEAR)
        if near and configuration not in names:
            get_logger("rosflight_py_sim").warning(
                f"there is no launch argument '{configuration}'; did you mean '{near[0]}'?"
            )
