"""What a vehicle file says, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rosflight_py_sim.parameters import Value
from rosflight_py_sim.pulse_width import MOTOR, SERVO, command_of

CAMERA = "camera"
"""Executable of the cameras."""

SHAPES = ("dart", "multirotor", "inverted_v_tail", "high_wing", "open_frame", "plated_frame")
"""Shapes that the viewers draw."""

DEFAULT_SHAPE = "dart"
"""Shape of a vehicle whose file names none."""

SPACING = 20.0
"""Distance from one vehicle to the next at the start of a fleet where nothing is in the way, m."""


@dataclass(frozen=True)
class Actuator:
    """What an output of the flight controller moves.

    Attributes:
        name: in words.
        output: number of the output, from 0.
        is_motor: whether it turns a motor; else a servo.
    """

    name: str
    output: int
    is_motor: bool

    def command(self, pulse_us: float) -> float:
        """What a pulse width asks for: 0 to 1 of a motor, -1 to 1 of a servo."""
        return command_of(pulse_us, MOTOR if self.is_motor else SERVO)


@dataclass(frozen=True)
class Pairing:
    """How a vehicle is flown by a flight controller that is not its own.

    Attributes:
        file: parameters of all nodes, over the vehicle's own.
        command: command to type in another terminal; empty: none.
        instance: option to append to the command for each vehicle of a fleet, which then has a program of its own;
            `{index}` stands for the vehicle's number, from 0. Empty: one command serves all.
    """

    file: Path
    command: str = ""
    instance: str = ""


@dataclass(frozen=True)
class ClientMission:
    """A mission that a client program steers, over the protocol of the vehicle's flight controller.

    Attributes:
        program: Python file; it prints what it does, one line for each part of the mission.
        parts: how many parts there are.
        task: what the program has to do, and is judged by: a mission that a package has registered.
        arguments: further ones of the program.
        settings: parameters of the nodes.
    """

    program: Path
    parts: int
    task: str
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Vehicle:
    """One vehicle.

    Attributes:
        name: stem of its file; also begins the namespaces of a fleet.
        file: the vehicle file.
        description: what it is, in one line.
        forces_and_moments: executable of its forces and moments.
        dynamics: executable of its dynamics.
        parameter_file: parameters of all nodes.
        firmware_file: the flight controller's parameters.
        actuators: what the outputs of the flight controller move.
        appearance: its shape, one of SHAPES.
        autopilot: executable of its autopilot; empty: it has none.
        waypoint_file: what its autopilot flies; None: the autopilot needs no list of waypoints.
        flight_controller: default flight controller, one of `registry.flight_controller_names`.
        pairings: name of a flight controller to what that one needs to fly the vehicle.
        extra_nodes: executables that it carries besides those that every vehicle has.
        spacing: distance from one to the next at the start of a fleet, m; all of eight must fit into its world.
        mission: what `rosflight_py_sim fly` does with it; None: what the autopilot flies.
        weather_file: parameters of the wind or the current in which it does.
    """

    name: str
    file: Path
    description: str
    forces_and_moments: str
    dynamics: str
    parameter_file: Path
    firmware_file: Path
    actuators: tuple[Actuator, ...]
    weather_file: Path
    appearance: str = "dart"
    autopilot: str = ""
    waypoint_file: Path | None = None
    flight_controller: str = "sil_board"
    pairings: Mapping[str, Pairing] = field(default_factory=dict)
    extra_nodes: tuple[str, ...] = ()
    spacing: float = SPACING
    mission: ClientMission | None = None

    @property
    def settings(self) -> dict[str, Value]:
        """Parameters of the nodes that follow from the vehicle file; those of parameter files are stronger."""
        settings: dict[str, Value] = {"firmware_param_file": str(self.firmware_file), "appearance": self.appearance}
        return settings | ({"waypoint_file": str(self.waypoint_file)} if self.waypoint_file else {})

    def carrying(self, node: str, wanted: bool | None) -> Vehicle:
        """The vehicle with or without a node; None: as it is."""
        if wanted is None:
            return self
        others = tuple(one for one in self.extra_nodes if one != node)
        return replace(self, extra_nodes=(*others, node) if wanted else others)
