"""Options of a simulation, in one table for launch files, command line and docs/launch.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from rosflight_py_sim.graph.flight_controllers import FLIGHT_CONTROLLERS, usable_flight_controllers
from rosflight_py_sim.graph.rosflight_io import INSIDE, PROGRAMS
from rosflight_py_sim.ground.confined_files import is_file
from rosflight_py_sim.ground.node_kinds import RENAMED, NodeKind, present_name
from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.ground.registry import node_names, registered
from rosflight_py_sim.ground.shared_parameters import EARTHS, TIME_MODES
from rosflight_py_sim.nodes.node_names import NAMES, SHORT
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE, NODE_KEYS, STANDALONE, known_dynamics
from rosflight_py_sim.vehicles.catalogue import SHORT_NAMES

N = TypeVar("N", int, float)

LAUNCH, SIM, FLY, TRIM, REFLY = "launch", "sim", "fly", "trim", "refly"
"""Places where an option can be given: launch files and commands."""

SIMULATIONS = (LAUNCH, SIM, FLY)
"""Places that start a simulation."""


DURATION = Parameter("duration", 1.0, "Simulated duration", "s", minimum=0.0, maximum=1e9, above_minimum=True)

NAMED_NODES = tuple(key for key in NODE_KEYS if key not in ("dynamics", "autopilot"))
"""Options that name a node in place of the vehicle's own. `dynamics` may select another vehicle file."""


class Kind(Enum):
    """Type of an option's value, as the documentation shows it."""

    TEXT = "text"
    BOOLEAN = "`true` or `false`"
    NODE = "`true`, `false`, or the name of a node"
    INTEGER = "integer"
    NUMBER = "number"
    FILE = "file"
    FILES = "files, separated by commas"
    NAMES = "names, separated by commas"
    RECORDING = "`true`, or the name of a new file"


@dataclass(frozen=True)
class Option:
    """One option of a simulation.

    Attributes:
        name: as a launch argument.
        text: effect, for help texts and the page; in lower case and without a full stop, as argparse's own texts.
        details: further sentences for the page.
        kind: type of the value.
        range: allowed numbers, of an option that sets no parameter; None: the parameter's table checks the value.
        default: default value in launch files; None: a value is required.
        choices: allowed values; empty: all values of the type.
        unset: meaning of an empty value, for options whose default is empty.
        fly_unset: the same for FLY, if it differs.
        at: places where the option can be given.
        flag: option of the commands, if its name differs from the launch argument's.
        metavar: placeholder for the value in the commands' help; if given, argparse does not check the value.
        command_default: default of the commands, if it differs from that of launch files.
        without: name of another option that must be empty for this one to have an effect.
        in_scenario: whether a scenario file replaces the option, which is then rejected.
        pages: title and page of docs/ for each further explanation.
    """

    name: str
    text: str
    kind: Kind = Kind.TEXT
    default: str | None = ""
    choices: tuple[str, ...] = ()
    details: str = ""
    unset: str = ""
    fly_unset: str = ""
    at: tuple[str, ...] = SIMULATIONS
    flag: str = ""
    metavar: str = ""
    command_default: str = ""
    without: str = ""
    in_scenario: bool = False
    range: Parameter | None = None
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """The text as a sentence, as launch and the page show it."""
        return f"{self.text[:1].upper()}{self.text[1:]}."

    def parsed(self, text: str) -> Any:
        """Value of a launch argument's text, which is not empty: of the type that argparse gives on a command line.

        Raises:
            ParameterError: the text is not a value of the option.
        """
        try:
            return self.chosen(text) if self.kind is Kind.TEXT else _PARSERS[self.kind](text)
        except ValueError as error:
            allowed = str(error) if self.kind in (Kind.FILE, Kind.FILES) else f"'{text}' given; allowed: {error}"
            raise ParameterError(f"launch argument '{self.name}': {allowed}") from None

    def chosen(self, text: str) -> str:
        """The choice that a text names: also by the executable of dynamics, or by the former name of a node."""
        return SHORT_NAMES.get(text, present_name(text)) if self.choices else text

    @property
    def further_names(self) -> list[str]:
        """Names in addition to the choices that `chosen` accepts."""
        return [name for name, choice in {**SHORT_NAMES, **RENAMED}.items() if choice in self.choices]

    @property
    def command_flag(self) -> str:
        """The option on the command line: '--time-mode'."""
        return self.flag or "--" + self.name.replace("_", "-")


_switch = partial(Option, kind=Kind.BOOLEAN, default="false")


@cache
def all_options() -> dict[str, Option]:
    """All options by name."""
    controllers = usable_flight_controllers().values()
    options = [
        Option(
            "vehicle",
            "vehicle to simulate: a name listed by `rosflight_py_sim vehicles`, or your own vehicle file",
            default=None,
            at=(*SIMULATIONS, TRIM),
            metavar="NAME",
            command_default=DEFAULT_VEHICLE,
            in_scenario=True,
            pages=(("The vehicle file", "add_a_vehicle.md#the-vehicle-file"),),
        ),
        Option(
            "dynamics",
            "physics of the vehicle: the nodes of this package (standalone), a JSBSim aircraft (jsbsim), or the "
            "dynamics node of another package",
            default=STANDALONE,
            choices=tuple(known_dynamics()),
            pages=(("JSBSim", "jsbsim.md"), ("Nodes by name", "add_a_vehicle.md#nodes-by-name")),
            in_scenario=True,
        ),
        *(
            Option(
                place,
                f"executable of the {place} node, of this or another package",
                choices=("", *node_names(kind)),
                unset="the vehicle's own",
                in_scenario=True,
                pages=(("Nodes by name", "add_a_vehicle.md#nodes-by-name"),),
            )
            for place, kind in NODE_KEYS.items()
            if place in NAMED_NODES and place != "time_manager"
        ),
        Option(
            "flight_controller",
            "flight controller, which computes servo outputs from the sensors: "
            + "; ".join(f"{one.name} ({one.text})" for one in controllers),
            choices=("", *FLIGHT_CONTROLLERS),
            details="These require lockstep, and select it: "
            + ", ".join(one.name for one in controllers if one.needs_lockstep)
            + ".",
            unset="the vehicle's own",
            pages=tuple(page for one in controllers for page in one.pages),
            in_scenario=True,
        ),
        Option(
            "rosflight_io",
            "program with the topics and services of rosflight_io: sil_board itself (inside), or by MAVLink the node "
            "rosflight_io (ours) or a program that you start (none)",
            default=INSIDE,
            choices=PROGRAMS,
            at=(LAUNCH, SIM),
            pages=(("The MAVLink link", "mavlink.md#rosflight_io"),),
            in_scenario=True,
        ),
        Option(
            "observers",
            f"protocols through which programs observe the vehicle, in addition to its flight controller: "
            f"{', '.join(registered('front_ends'))}; separated by commas",
            kind=Kind.NAMES,
            unset="none",
            at=(LAUNCH, SIM),
            metavar="NAMES",
            pages=(("Bridge", "bridge.md#several-front-ends"),),
            in_scenario=True,
        ),
        Option(
            "time_mode",
            "source of time: system time (wall), /clock at a fixed rate (paced), or /clock when the nodes have "
            "completed the step (gated, lockstep)",
            details="gated is for graphs with ROSflight's C++ nodes; lockstep is repeatable.",
            choices=("", *TIME_MODES),
            unset="selected by use_sim_time",
            at=(LAUNCH, SIM),
            command_default="lockstep",
            pages=(("Time modes", "#time-modes"),),
            in_scenario=True,
        ),
        Option(
            "time_manager",
            "executable of the time manager, of this or another package",
            choices=("", *node_names(NodeKind.TIME_MANAGER)),
            unset="the vehicle's own, or that of the time mode",
            pages=(("A time manager of your own", "add_a_node.md#a-time-manager-of-your-own"),),
            in_scenario=True,
        ),
        Option(
            "use_sim_time",
            "if time_mode is empty: false selects wall, true selects paced",
            kind=Kind.BOOLEAN,
            details="With composed:=true, and with flight controllers that require lockstep, true selects lockstep.",
            unset="wall; lockstep with composed:=true or a flight controller that requires it",
            at=(LAUNCH,),
            without="time_mode",
            in_scenario=True,
        ),
        Option(
            "real_time_multiplier",
            "simulated seconds per second of system time; 0: as fast as the machine allows",
            kind=Kind.NUMBER,
            details="Not available in wall; 0 only in gated and lockstep.",
            unset="the parameter file's value, or 1",
            fly_unset="0, or 2 with --view",
            metavar="X",
        ),
        Option(
            "seed",
            "seed of all random numbers",
            kind=Kind.INTEGER,
            details="In lockstep the same seed gives the same flight.",
            unset="the parameter file's value, or 0",
            metavar="N",
            in_scenario=True,
        ),
        Option(
            "dynamics_param_file",
            "parameters of all nodes, instead of the vehicle's own file in config/",
            kind=Kind.FILE,
            details="ROSflight's files work too.",
            unset="the vehicle's own",
            flag="--parameter-file",
            metavar="FILE",
            in_scenario=True,
        ),
        Option(
            "params_file",
            "parameters of all nodes, in ROS 2's YAML format; they override the vehicle's own",
            kind=Kind.FILES,
            details="On the command line, repeat the option for further files.",
            unset="none",
            at=(*SIMULATIONS, TRIM),
            metavar="FILE",
        ),
        Option(
            "firmware_param_file",
            "initial parameters of the flight controller, instead of the vehicle's own file in config/",
            kind=Kind.FILE,
            details="The file is a YAML list in ROSflight's format.",
            unset="the vehicle's own",
            flag="--firmware-file",
            metavar="FILE",
            in_scenario=True,
        ),
        _switch(
            "use_vimfly",
            "move the sticks with the keyboard, in a window or in this terminal",
            at=(LAUNCH, SIM),
            flag="--keyboard",
            pages=(("The keyboard", "rc.md#the-keyboard"),),
        ),
        Option(
            "autopilot",
            "start the vehicle's autopilot, or the named one in its place "
            f"({', '.join(node_names(NodeKind.AUTOPILOT))}); its mission begins with a call of autopilot/start",
            kind=Kind.NODE,
            default="false",
            details="fly always starts the autopilot.",
            metavar="NAME",
            pages=(("Autopilot", "autopilot.md"),),
            in_scenario=True,
        ),
        Option(
            "world",
            "pool, water and obstacles: a name in config/worlds/, or your own file",
            unset="the parameter file's world, or dry land",
            metavar="NAME",
            pages=(("The world", "world.md"),),
            in_scenario=True,
        ),
        Option(
            "earth",
            "model of the earth: constant gravity (flat), the rotating ellipsoid of WGS 84 (wgs84), or a sphere",
            choices=("", *EARTHS),
            unset="the parameter file's earth, or flat",
            pages=(("The earth", "physics.md#the-earth"),),
            in_scenario=True,
        ),
        Option(
            "camera",
            "add cameras to the vehicle",
            kind=Kind.BOOLEAN,
            choices=("", "true", "false"),
            unset="the vehicle's own",
            pages=(("Cameras", "camera.md"),),
            in_scenario=True,
        ),
        _switch(
            "view",
            "show the simulation in a browser (http://127.0.0.1:8642)",
            pages=(("In a browser", "viewer.md"),),
        ),
        _switch(
            "visualizer",
            "publish tf frames and markers for an RViz that you start yourself",
            pages=(("RViz", "rviz.md"),),
        ),
        _switch(
            "simulation_interfaces",
            "offer the standard services of simulators (package simulation_interfaces)",
            at=(LAUNCH, SIM),
            pages=(("Standard services", "simulation_interfaces.md"),),
        ),
        _switch(
            "rviz",
            "start RViz and the visualizer",
            at=(LAUNCH,),
            pages=(("RViz", "rviz.md"),),
        ),
        Option(
            "record",
            "record every topic to an MCAP file: the given file, or flights/VEHICLE-DATE.mcap",
            kind=Kind.RECORDING,
            unset="no recording",
            metavar="FILE",
            pages=(("Recording", "recording.md"),),
        ),
        Option(
            "names",
            "node names: short (dynamics, sensors and so on), or as in ROSflight's launch files (rosflight)",
            default=SHORT,
            choices=NAMES,
            at=(LAUNCH, SIM),
            pages=(("Node names", "#node-names"),),
        ),
        _switch(
            "composed",
            "run all nodes in one process, by default in lockstep",
            at=(LAUNCH,),
            pages=(("How messages travel", "messages.md"),),
        ),
        _switch(
            "respawn",
            "restart nodes that a signal has ended (kill -9, a crash)",
            details="Launch waits one second before the restart. Not with composed.",
            at=(LAUNCH,),
            pages=(("Starting a node again", "#starting-a-node-again"),),
        ),
        Option(
            "leave_out",
            "names of nodes not to start, separated by commas, to run your own instead",
            kind=Kind.NAMES,
            unset="none",
            at=(LAUNCH,),
            pages=(("Swapping a node", "#swapping-a-node"),),
        ),
        Option(
            "count",
            "number of vehicles, in the namespaces NAME_1, NAME_2 and so on",
            kind=Kind.INTEGER,
            details="Each vehicle's seed is one higher than the previous vehicle's.",
            unset="one vehicle without a namespace",
            at=(LAUNCH, SIM),
            metavar="N",
            pages=(("Several vehicles", "fleet.md"),),
            in_scenario=True,
        ),
        Option(
            "spacing",
            "distance along east between the starts of successive vehicles, m; only with count",
            kind=Kind.NUMBER,
            unset="the vehicle's own",
            at=(LAUNCH, SIM),
            metavar="M",
            in_scenario=True,
        ),
        Option(
            "scenario",
            "scenario file, or its name in config/scenarios/: different vehicles in one simulation",
            details="It replaces the options on vehicles, world, seed and time mode. In launch, the argument `file` of "
            "`scenario.launch.py` takes its place.",
            unset="none",
            at=(SIM, FLY),
            metavar="FILE",
            pages=(("Scenarios", "scenarios.md"),),
        ),
        Option(
            "namespace",
            "namespace of all nodes, topics and services except /clock",
            unset="none",
            at=(*SIMULATIONS, TRIM),
            metavar="NS",
        ),
        _switch(
            "share_domain",
            "start even if the ROS domain already has a simulation in this namespace",
            details="Two simulations that publish the same topics corrupt each other.",
            at=(*SIMULATIONS, REFLY),
            pages=(("Two simulations", "#two-simulations"),),
        ),
        Option(
            "log_level",
            "lowest severity that nodes log",
            default="info",
            choices=("debug", "info", "warn", "error", "fatal"),
            at=(LAUNCH,),
        ),
        Option(
            "duration",
            "simulated duration, s",
            kind=Kind.NUMBER,
            range=DURATION,
            unset="no limit",
            at=(SIM,),
            metavar="S",
        ),
        _switch(
            "calm",
            "fly without wind or current",
            details="Without it, the vehicle file's `weather` applies.",
            at=(FLY,),
            in_scenario=True,
        ),
        Option("output", "Folder for plots", default="flights", at=(FLY,), metavar="DIR"),
        Option(
            "gif",
            "animated GIF of the flight; an existing file is replaced",
            unset="none",
            at=(FLY,),
            metavar="FILE",
            pages=(("Film", "recording.md#film"),),
        ),
    ]
    return {one.name: one for one in options}


def options_at(place: str) -> Iterator[Option]:
    """The options for LAUNCH, SIM, FLY, TRIM or REFLY."""
    return (one for one in all_options().values() if place in one.at)


def parts_of(value: str) -> list[str]:
    """Files or names in a comma-separated value."""
    return [part.strip() for part in value.split(",") if part.strip()]


def _recording(text: str) -> str | None:
    """Name of the recording's file; empty for a new name, None for no recording."""
    return {"true": "", "false": None}.get(text.lower(), text)


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError("true, false")
    return _BOOLEANS[text.lower()]


def switch_or_name(text: str) -> bool | str:
    """Value of Kind.NODE."""
    return _BOOLEANS.get(text.lower(), text)


def _number(kind: type[N], text: str, allowed: str) -> N:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(allowed) from None


def _existing(text: str) -> Path:
    path = Path(text)
    if not is_file(path):
        raise ValueError(f"there is no file '{text}'")
    return path


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_PARSERS: dict[Kind, Callable[[str], Any]] = {
    Kind.TEXT: str,
    Kind.BOOLEAN: _boolean,
    Kind.NODE: switch_or_name,
    Kind.INTEGER: lambda text: _number(int, text, "an integer"),
    Kind.NUMBER: lambda text: _number(float, text, "a number"),
    Kind.FILE: _existing,
    Kind.FILES: lambda text: tuple(str(_existing(part)) for part in parts_of(text)),
    Kind.NAMES: lambda text: tuple(parts_of(text)),
    Kind.RECORDING: _recording,
}
"""Function from the text of a value of each type to the value; it raises ValueError with the values allowed."""
