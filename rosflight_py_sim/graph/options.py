"""The options of a simulation: one table, which launch files, command line and the page docs/launch.md read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS
from rosflight_py_sim.interfaces.time_modes import TIME_MODES
from rosflight_py_sim.nodes.node_names import NAMES, SHORT
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, STANDALONE, known_dynamics, known_vehicles

LAUNCH, SIM, FLY, TRIM = "launch", "sim", "fly", "trim"
"""Where an option can be given: as argument of a launch file, or to a command."""

SIMULATIONS = (LAUNCH, SIM, FLY)
"""Where a simulation is started."""


class Kind(Enum):
    """Type of an option's value, in words for the page."""

    TEXT = "text"
    BOOLEAN = "`true` or `false`"
    INTEGER = "integer"
    NUMBER = "number"
    FILE = "file"
    FILES = "files, separated by commas"
    RECORDING = "`true`, or the name of a new file"


@dataclass(frozen=True)
class Option:
    """One option of a simulation.

    Attributes:
        name: as a launch argument.
        text: what it does, for help texts and the page; without a full stop at its end.
        details: what the page says besides; whole sentences.
        kind: type of the value.
        default: value in launch files if none is given; None: a value is required.
        choices: the allowed values; empty: all of the type.
        unset: what an empty value means; for options whose default is empty.
        at: where it can be given.
        flag: option of the commands, where its name is not that of the launch argument.
        metavar: word for the value in the commands' help; with it, the simulation checks the value, not the parser.
        command_default: default of the commands, where it is not that of launch files.
        without: name of another option; this one has an effect only if that one is empty.
        pages: words and pages of docs/ that explain more, in turn.
    """

    name: str
    text: str
    kind: Kind = Kind.TEXT
    default: str | None = ""
    choices: tuple[str, ...] = ()
    details: str = ""
    unset: str = ""
    at: tuple[str, ...] = SIMULATIONS
    flag: str = ""
    metavar: str = ""
    command_default: str = ""
    without: str = ""
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def fixed(self) -> str | None:
        """The only possible value; None if there is a choice."""
        return self.choices[0] if len(self.choices) == 1 else None

    @property
    def command_flag(self) -> str:
        """The option as the commands take it: '--time-mode'."""
        return self.flag or "--" + self.name.replace("_", "-")


@cache
def all_options() -> dict[str, Option]:
    """All options by name.

    Raises:
        ParameterError: a registered vehicle, dynamics or flight controller cannot be used.
    """
    options = [
        Option(
            "vehicle",
            f"Vehicle to simulate: {', '.join(known_vehicles())}, or a vehicle file of your own",
            default=None,
            at=(*SIMULATIONS, TRIM),
            metavar="NAME",
            command_default=DEFAULT_VEHICLE,
        ),
        Option(
            "dynamics",
            "What moves the vehicle: the nodes of this package (standalone), or an aircraft of JSBSim (jsbsim)",
            default=STANDALONE,
            choices=tuple(known_dynamics()),
            pages=(("JSBSim", "jsbsim.md"),),
        ),
        Option(
            "flight_controller",
            "What computes servo outputs from the sensors: "
            + "; ".join(f"{one.name}, {one.text}" for one in FLIGHT_CONTROLLERS.values()),
            choices=("", *FLIGHT_CONTROLLERS),
            details=f"{' and '.join(one.name for one in FLIGHT_CONTROLLERS.values() if one.needs_lockstep)} need "
            "lockstep, and choose it.",
            unset="the vehicle's own",
            at=(LAUNCH, SIM),
            pages=(
                ("Firmware", "firmware.md"),
                ("ArduPilot", "ardupilot.md"),
                ("AUV protocol", "auv_zeromq.md"),
                ("auv_autopilot", "auv.md"),
                ("uThere", "uthere.md"),
            ),
        ),
        Option(
            "time_mode",
            "What advances time: system time (wall), /clock at a fixed rate (paced), or /clock when the nodes have "
            "answered (gated, lockstep)",
            details="gated is for graphs with ROSflight's C++ nodes; lockstep is repeatable.",
            choices=("", *TIME_MODES),
            unset="chosen by use_sim_time",
            at=(LAUNCH, SIM),
            command_default="lockstep",
            pages=(("Time modes", "#time-modes"),),
        ),
        Option(
            "use_sim_time",
            "Without time_mode: false chooses wall, true chooses paced",
            kind=Kind.BOOLEAN,
            details="With composed:=true, and with flight controllers that need lockstep, true chooses lockstep.",
            unset="wall, or lockstep where true would choose it",
            at=(LAUNCH,),
            without="time_mode",
        ),
        Option(
            "real_time_multiplier",
            "Simulated seconds per second of system time; 0: as fast as the machine allows",
            kind=Kind.NUMBER,
            details="Not in wall; 0 only in gated and lockstep.",
            unset="the parameter file's value, or 1; for fly, the mission's own",
            metavar="X",
        ),
        Option(
            "seed",
            "Seed of all random numbers",
            kind=Kind.INTEGER,
            details="In lockstep the same seed gives the same flight.",
            unset="the parameter file's value, or 0",
            metavar="N",
        ),
        Option(
            "dynamics_param_file",
            "Parameters of all nodes, in place of the vehicle's own file in config/",
            kind=Kind.FILE,
            details="ROSflight's files work too.",
            unset="the vehicle's own",
            flag="--vehicle-file",
            metavar="FILE",
        ),
        Option(
            "params_file",
            "Parameters of all nodes that override the vehicle's own, in ROS 2's YAML format",
            kind=Kind.FILES,
            details="On the command line, give the option again for a further file.",
            unset="none",
            at=(*SIMULATIONS, TRIM),
            metavar="FILE",
        ),
        Option(
            "firmware_param_file",
            "Parameters that the flight controller starts with, in place of the vehicle's own file in config/",
            kind=Kind.FILE,
            details="The file is a YAML list in ROSflight's format.",
            unset="the vehicle's own",
            flag="--firmware-file",
            metavar="FILE",
        ),
        Option(
            "use_vimfly",
            "Whether the keyboard moves the sticks, in a window or in this terminal",
            kind=Kind.BOOLEAN,
            default="false",
            at=(LAUNCH, SIM),
            flag="--keyboard",
            pages=(("The keyboard", "rc.md#the-keyboard"),),
        ),
        Option(
            "autopilot",
            "Whether to add the vehicle's autopilot, which flies its mission once autopilot/start is called",
            kind=Kind.BOOLEAN,
            default="false",
            at=(LAUNCH, SIM),
            pages=(("Autopilot", "autopilot.md"),),
        ),
        Option(
            "world",
            "Pool, water and obstacles: a name in config/worlds/ (pool, open_water), or a file of your own",
            unset="the parameter file's world, or dry land",
            metavar="NAME",
            pages=(("The world", "world.md"),),
        ),
        Option(
            "camera",
            "Whether the vehicle has cameras",
            kind=Kind.BOOLEAN,
            choices=("", "true", "false"),
            unset="only underwater vehicles have them",
            pages=(("Cameras", "camera.md"),),
        ),
        Option(
            "view",
            "Whether to show the simulation on a web page, by default at http://127.0.0.1:8642",
            kind=Kind.BOOLEAN,
            default="false",
            pages=(("In a browser", "viewer.md"),),
        ),
        Option(
            "visualizer",
            "Whether to publish frames on tf and markers, for an RViz that you start elsewhere",
            kind=Kind.BOOLEAN,
            default="false",
            pages=(("RViz", "rviz.md"),),
        ),
        Option(
            "rviz",
            "Whether to start RViz, and the visualizer with it",
            kind=Kind.BOOLEAN,
            default="false",
            at=(LAUNCH,),
            pages=(("RViz", "rviz.md"),),
        ),
        Option(
            "record",
            "Whether to record every topic as MCAP, to the file named or to flights/VEHICLE-DATE.mcap",
            kind=Kind.RECORDING,
            unset="no recording",
            metavar="FILE",
            pages=(("Recording", "recording.md"),),
        ),
        Option(
            "names",
            "Node names: short (dynamics, sensors and so on), or those of ROSflight's launch files (rosflight)",
            default=SHORT,
            choices=NAMES,
            at=(LAUNCH, SIM),
            pages=(("Node names", "#node-names"),),
        ),
        Option(
            "composed",
            "Whether all nodes run in one process, by default in lockstep",
            kind=Kind.BOOLEAN,
            default="false",
            at=(LAUNCH,),
            pages=(("How messages travel", "nodes.md#how-messages-travel"),),
        ),
        Option(
            "respawn",
            "Whether to restart nodes that a signal has ended (kill -9, a crash)",
            kind=Kind.BOOLEAN,
            details="Launch waits one second before. Not with composed.",
            default="false",
            at=(LAUNCH,),
            pages=(("Starting a node again", "#starting-a-node-again"),),
        ),
        Option(
            "leave_out",
            "Names of nodes not to start, separated by commas, because you start your own in their place",
            unset="none",
            at=(LAUNCH,),
            pages=(("Swapping a node", "#swapping-a-node"),),
        ),
        Option(
            "count",
            "Number of vehicles, in the namespaces NAME_1, NAME_2 and so on",
            kind=Kind.INTEGER,
            details="Each has the next seed.",
            unset="one vehicle without a namespace",
            at=(LAUNCH, SIM),
            metavar="N",
            pages=(("Several vehicles", "fleet.md"),),
        ),
        Option(
            "spacing",
            "With count: distance from one vehicle's start to the next, along east, m",
            kind=Kind.NUMBER,
            unset="the vehicle's own",
            at=(LAUNCH, SIM),
            metavar="M",
        ),
        Option(
            "namespace",
            "Namespace of all nodes, topics and services; /clock stays outside of it",
            unset="none",
            at=(*SIMULATIONS, TRIM),
            metavar="NS",
        ),
        Option(
            "log_level",
            "Lowest severity that the nodes log",
            default="info",
            choices=("debug", "info", "warn", "error", "fatal"),
            at=(LAUNCH,),
        ),
        Option(
            "duration",
            "Simulated seconds after which the simulation ends",
            kind=Kind.NUMBER,
            unset="no end",
            at=(SIM,),
            metavar="S",
        ),
        Option(
            "calm",
            "Whether to fly without wind and current",
            kind=Kind.BOOLEAN,
            details="Without it, config/wind.yaml or config/current.yaml applies.",
            default="false",
            at=(FLY,),
        ),
        Option("output", "Folder for pictures", default="flights", at=(FLY,), metavar="DIR"),
    ]
    return {one.name: one for one in options}


def options_at(place: str) -> Iterator[Option]:
    """The options that can be given at LAUNCH, or to SIM, FLY or TRIM."""
    return (one for one in all_options().values() if place in one.at)


def parts_of(value: str) -> list[str]:
    """Files or names in a value that separates them by commas."""
    return [part.strip() for part in value.split(",") if part.strip()]


def recording_of(value: str) -> str | None:
    """Name of the file to record to, from a value of Kind.RECORDING; empty: a new one; None: no recording."""
    if value.lower() in ("", "false"):
        return None
    return "" if value.lower() == "true" else value
