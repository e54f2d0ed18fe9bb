"""Contents of a vehicle file, as data classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.pulse_width import MOTOR, SERVO, Travel, command_of

CAMERA = "camera"
"""Executable of the cameras."""

NODE_KEYS = {
    "forces_and_moments": NodeKind.FORCES_AND_MOMENTS,
    "dynamics": NodeKind.DYNAMICS,
    "sensors": NodeKind.SENSORS,
    "transmitter": NodeKind.TRANSMITTER,
    "autopilot": NodeKind.AUTOPILOT,
    "time_manager": NodeKind.TIME_MANAGER,
}
"""Fields of a vehicle that name a node, which are also keys of its file, to the kind of the node."""

DEFAULT_SHAPE = "dart"
"""Shape of a vehicle whose file specifies none."""

SPACING = 20.0
"""Default distance between vehicles at the start of a fleet, m."""


@dataclass(frozen=True)
class Actuator:
    """An actuator on an output of the flight controller.

    Attributes:
        name: display name.
        output: number of the output, from 0.
        is_motor: whether it is a motor; otherwise a servo.
    """

    name: str
    output: int
    is_motor: bool

    def command(self, pulse_us: float) -> float:
        """Command for a pulse width: 0 to 1 for a motor, -1 to 1 for a servo."""
        return command_of(pulse_us, self.travel)

    @property
    def travel(self) -> Travel:
        """Pulse widths of its commands."""
        return MOTOR if self.is_motor else SERVO


@dataclass(frozen=True)
class Pairing:
    """Configuration for a vehicle and a flight controller other than its default.

    Attributes:
        file: parameters of all nodes, which override the vehicle's own.
        command: command to type in another terminal; empty for none.
        instance: option appended to the command for each vehicle of a fleet, if each needs its own program; `{index}`
            is replaced by the vehicle's number among those of this flight controller, from 0. Empty: one program serves
            all.
    """

    file: Path
    command: str = ""
    instance: str = ""


@dataclass(frozen=True)
class ClientMission:
    """A mission flown by a client program, over the protocol of the vehicle's flight controller.

    Attributes:
        program: Python file; it prints one line for each step of the mission.
        parts: number of steps.
        task: registered name of the task, which evaluates the mission.
        arguments: further arguments of the program.
        settings: parameters for the nodes.
        limits: limits of acceptance that differ from those of the task's judge.
    """

    program: Path
    parts: int
    task: str
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    limits: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Vehicle:
    """A vehicle.

    Attributes:
        name: stem of its file, and prefix of a fleet's namespaces.
        file: the vehicle file.
        description: one line.
        forces_and_moments: executable of its forces-and-moments node.
        dynamics: executable of its dynamics node.
        sensors: executable of its sensors node.
        transmitter: executable of its transmitter.
        parameter_file: parameters of all nodes.
        firmware_file: the flight controller's parameters.
        actuators: actuators on the flight controller's outputs.
        appearance: shape, one of the APPEARANCES of a physics model.
        autopilot: executable of its autopilot; empty for none.
        waypoint_file: waypoints of its autopilot; None if the autopilot needs no list.
        flight_controller: default flight controller, from `registry.flight_controller_names`.
        autopilot_flight_controller: flight controller with which `rosflight_py_sim fly` flies the autopilot's mission;
            empty: the default one.
        pairings: configuration for other flight controllers, by their names.
        extra_nodes: executables of additional nodes.
        spacing: distance between vehicles at the start of a fleet, m; eight must fit into its world.
        mission: mission of `rosflight_py_sim fly`; None for the autopilot's.
        weather_file: parameters of the mission's wind or current.
        time_manager: executable of the time manager of its simulation; empty: that of the time mode.
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
    sensors: str = "standalone_sensors"
    transmitter: str = "rc"
    appearance: str = DEFAULT_SHAPE
    autopilot: str = ""
    waypoint_file: Path | None = None
    flight_controller: str = "sil_board"
    autopilot_flight_controller: str = ""
    pairings: Mapping[str, Pairing] = field(default_factory=dict)
    extra_nodes: tuple[str, ...] = ()
    spacing: float = SPACING
    mission: ClientMission | None = None
    time_manager: str = ""

    @property
    def settings(self) -> dict[str, Value]:
        """Node parameters that follow from the vehicle file; parameter files override them."""
        kinds = ["none"] * (1 + max((one.output for one in self.actuators), default=-1))
        for one in self.actuators:
            kinds[one.output] = "motor" if one.is_motor else "servo"
        settings: dict[str, Value] = {
            "firmware_param_file": str(self.firmware_file),
            "appearance": self.appearance,
            "output_kinds": kinds,
        }
        return settings | ({"waypoint_file": str(self.waypoint_file)} if self.waypoint_file else {})

    def with_nodes(self, names: Mapping[str, str]) -> Vehicle:
        """Copy with other nodes, by NODE_KEYS; an empty name changes nothing."""
        return replace(self, **{key: name for key, name in names.items() if name})  # type: ignore[arg-type]

    def carrying(self, node: str, wanted: bool | None) -> Vehicle:
        """Copy with or without a node; `wanted` None: unchanged."""
        if wanted is None:
            return self
        others = tuple(one for one in self.extra_nodes if one != node)
        return replace(self, extra_nodes=(*others, node) if wanted else others)
