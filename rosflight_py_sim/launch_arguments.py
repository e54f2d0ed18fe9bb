"""The arguments of the launch files: one table, from which each file takes those that have an effect in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rosflight_py_sim.flight_controllers import FLIGHT_CONTROLLERS, FlightController, chosen_flight_controller
from rosflight_py_sim.node_names import NAMES, SHORT
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.time_modes import TIME_MODES, boolean, chosen_time_mode
from rosflight_py_sim.vehicles import ALL_VEHICLES, DYNAMICS, STANDALONE, VEHICLES, Vehicle, vehicle


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of a launch file.

    Attributes:
        name: as users type it.
        text: what it does; shown by `ros2 launch --show-args`.
        default: value if none is given; None: a value is required.
        choices: the allowed values; empty: any text.
        without: name of another argument; this one has an effect only if that one is empty.
    """

    name: str
    text: str
    default: str | None = ""
    choices: tuple[str, ...] = ()
    without: str = ""

    @property
    def fixed(self) -> str | None:
        """The only possible value; None if there is a choice."""
        return self.choices[0] if len(self.choices) == 1 else None


ARGUMENTS = {
    one.name: one
    for one in [
        LaunchArgument("vehicle", "Which vehicle to simulate.", None, tuple(VEHICLES)),
        LaunchArgument(
            "dynamics",
            "What moves the vehicle: the nodes of this package (standalone), or an aircraft of JSBSim.",
            STANDALONE,
            DYNAMICS,
        ),
        LaunchArgument(
            "flight_controller",
            "What computes servo outputs from the sensors. Empty: the vehicle's own, which for aircraft is sil_board "
            "(the ROSflight firmware).",
            choices=("", *FLIGHT_CONTROLLERS),
        ),
        LaunchArgument(
            "time_mode",
            "What advances time: wall (timers on system time), paced (/clock at a fixed rate), gated (/clock when "
            "truth state and IMU of every vehicle have arrived; for graphs with ROSflight's C++ nodes) or lockstep "
            "(/clock when the previous step is complete; repeatable). Empty: chosen by use_sim_time.",
            choices=("", *TIME_MODES),
        ),
        LaunchArgument(
            "use_sim_time",
            "Without time_mode: false chooses wall, true chooses paced. Empty: wall, or as time_mode requires. With "
            "composed:=true, or a flight controller that needs lockstep, true and empty choose lockstep.",
            without="time_mode",
        ),
        LaunchArgument(
            "real_time_multiplier",
            "Simulated seconds per second, in paced, gated and lockstep; 0 in gated and lockstep: as fast as the "
            "machine allows. Empty: the parameter file's value, or 1.",
        ),
        LaunchArgument(
            "seed",
            "Seed of all random numbers; in lockstep the same seed gives the same flight. Empty: the parameter file's "
            "value, or 0.",
        ),
        LaunchArgument(
            "dynamics_param_file",
            "Parameters of all nodes, in place of the vehicle's own file in share/rosflight_py_sim/config; "
            "ROSflight's files work too.",
        ),
        LaunchArgument(
            "params_file", "Parameters of all nodes that override the vehicle's own file: files, separated by commas."
        ),
        LaunchArgument(
            "firmware_param_file",
            "Parameters that the flight controller starts with (ROSflight's YAML list), in place of the vehicle's own "
            "file in share/rosflight_py_sim/config.",
        ),
        LaunchArgument("use_vimfly", "Whether the keyboard moves the sticks.", "false"),
        LaunchArgument("autopilot", "Whether to add the autopilot, which flies a mission on request.", "false"),
        LaunchArgument(
            "world",
            "Pool, water and obstacles around the vehicle: a name in share/rosflight_py_sim/config/worlds (pool, "
            "open_water), or a file of your own. Empty: the parameter file's world, or dry land.",
        ),
        LaunchArgument(
            "camera",
            "Whether the vehicle has cameras. Empty: the vehicle's default; only underwater vehicles have cameras.",
            choices=("", "true", "false"),
        ),
        LaunchArgument(
            "visualizer",
            "Whether to publish frames on tf and markers, for an RViz that you start elsewhere.",
            "false",
        ),
        LaunchArgument("rviz", "Whether to start RViz, and the visualizer with it.", "false"),
        LaunchArgument(
            "record",
            "Whether to record every topic: true (to flights/VEHICLE-DATE.mcap), or the name of a new MCAP file.",
        ),
        LaunchArgument(
            "view",
            "Whether to show the simulation on a web page, by default at http://127.0.0.1:8642.",
            "false",
        ),
        LaunchArgument("composed", "Whether all nodes run in one process, by default in lockstep.", "false"),
        LaunchArgument(
            "names",
            "Node names: short (dynamics, sensors and so on) or rosflight (as in ROSflight's launch files: "
            "standalone_dynamics, standalone_sensors and so on).",
            SHORT,
            NAMES,
        ),
        LaunchArgument(
            "respawn",
            "Whether to restart nodes that a signal has ended (kill -9, a crash), after one second. A node that exits "
            "with code 1, as one that refuses its parameters, still ends the launch.",
            "false",
        ),
        LaunchArgument(
            "leave_out",
            "Names of nodes not to start, separated by commas, because you start your own in their place.",
        ),
        LaunchArgument("namespace", "Namespace of all nodes; /clock stays outside of it."),
        LaunchArgument(
            "count",
            "Number of vehicles, in the namespaces NAME_1, NAME_2 and so on. Empty: one vehicle without a namespace.",
        ),
        LaunchArgument(
            "spacing",
            "With count: distance between the starting points of neighbouring vehicles, along east, in metres. Empty: "
            "the vehicle's default.",
        ),
        LaunchArgument(
            "log_level",
            "Lowest severity that the nodes log.",
            "info",
            ("debug", "info", "warn", "error", "fatal"),
        ),
    ]
}
"""All arguments by name; `arguments_of_file` selects those of one launch file."""


def arguments_of_file(
    only: Mapping[str, Sequence[str]], defaults: Mapping[str, str], own: Sequence[LaunchArgument] = ()
) -> dict[str, LaunchArgument]:
    """The arguments of one launch file: ARGUMENTS, including those with a single possible value, and its own.

    Args:
        only: name of an argument to the values that the file allows. They also restrict other arguments: without a
            vehicle that JSBSim flies, `dynamics` can only be standalone.
        defaults: name of an argument to its default in the file.
        own: arguments that only this file has.
    """
    narrowed = {**{name: tuple(values) for name, values in only.items()}, **_consequences(only)}
    arguments = {one.name: one for one in own}
    for name, one in ARGUMENTS.items():
        choices = narrowed.get(name, one.choices)
        default = choices[0] if len(choices) == 1 else defaults.get(name, one.default)
        arguments[name] = replace(one, choices=choices, default=default)
    return arguments


def is_listed(argument: LaunchArgument, arguments: Mapping[str, LaunchArgument]) -> bool:
    """Whether the argument gives users a choice that has an effect."""
    return argument.fixed is None and not (argument.without and arguments[argument.without].default)


def check_fixed(arguments: Mapping[str, LaunchArgument], given: Mapping[str, str]) -> None:
    """Refuse other values of arguments that have a single possible value.

    Raises:
        ParameterError: another value is given.
    """
    for one in arguments.values():
        value = given.get(one.name, "")
        if one.fixed is not None and value and value.lower() != one.fixed:
            allowed = one.fixed or "nothing, it has no effect here"
            raise ParameterError(f"launch argument '{one.name}': '{value}' given; this launch file allows: {allowed}")


def time_mode_of(given: Mapping[str, str]) -> str:
    """Time mode of the graph, from the values of the arguments by name.

    Raises:
        ParameterError: a value is not allowed, or values contradict each other.
    """
    flown_by = given["flight_controller"] or vehicle(given["vehicle"], given["dynamics"]).flight_controller
    by_steps = boolean("composed", given["composed"]) or chosen_flight_controller(flown_by).needs_lockstep
    return chosen_time_mode(given["time_mode"], given["use_sim_time"], lockstep=by_steps)


def _consequences(only: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Remaining values of arguments that `only` restricts indirectly."""
    flown = list(_flown(only))
    dynamics, controllers = {by for by, _, _ in flown}, {controller.name for _, _, controller in flown}
    remaining: dict[str, tuple[str, ...]] = {"dynamics": tuple(name for name in DYNAMICS if name in dynamics)}
    if "flight_controller" not in only:
        remaining["flight_controller"] = ("", *(name for name in FLIGHT_CONTROLLERS if name in controllers))
    if not any(one.autopilot and controller.obeys_commands for _, one, controller in flown):
        remaining["autopilot"] = ("false",)
    if all(controller.needs_lockstep for _, _, controller in flown):
        remaining["time_mode"] = ("lockstep",)
    if not any("sil_board" in controller.executables for _, _, controller in flown):
        remaining["firmware_param_file"] = ("",)
    return remaining


def _flown(only: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Vehicle, FlightController]]:
    """Name of the dynamics, vehicle and flight controller, for each valid combination."""
    for (name, dynamics), one in ALL_VEHICLES.items():
        if name in only.get("vehicle", VEHICLES) and dynamics in only.get("dynamics", DYNAMICS):
            for controller in only.get("flight_controller", FLIGHT_CONTROLLERS):
                if FLIGHT_CONTROLLERS[controller].flies(one):
                    yield dynamics, one, FLIGHT_CONTROLLERS[controller]
