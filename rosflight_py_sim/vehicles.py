"""The vehicles that come with the package: each is files in config/ and the executable of its physics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rosflight_py_sim.parameters import ParameterError, Value
from rosflight_py_sim.pulse_width import MOTOR, SERVO, command_of
from rosflight_py_sim.resources import share_directory


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


def _motor(name: str, output: int) -> Actuator:
    return Actuator(name, output, is_motor=True)


def _servo(name: str, output: int) -> Actuator:
    return Actuator(name, output, is_motor=False)


@dataclass(frozen=True)
class Pairing:
    """How a vehicle is flown by a flight controller that is not its own.

    Attributes:
        file: in config/, parameters of all nodes, over the vehicle's own.
        command: command to type in another terminal; `{config}` stands for the folder.
        instance: option to append to the command for each vehicle of a fleet, which then has a program of its own;
            `{index}` stands for the vehicle's number, from 0. Empty: one command serves all.
    """

    file: str
    command: str = ""
    instance: str = ""


SPACING = 20.0
"""Distance from one vehicle to the next at the start of a fleet where nothing is in the way, m."""


@dataclass(frozen=True)
class ClientMission:
    """A mission that a client program steers, over the protocol of the vehicle's flight controller.

    Attributes:
        program: file in docs/examples; it prints what it does, one line for each part of the mission.
        parts: how many parts there are.
        task: what the program has to do, and is judged by: a name of `missions.TASKS`.
        arguments: further ones of the program.
        settings: parameters of the nodes.
    """

    program: str
    parts: int
    task: str
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Vehicle:
    """One vehicle.

    Attributes:
        name: as users type it.
        forces_and_moments: executable of its forces and moments.
        parameters: file in config/ with the parameters of all nodes.
        firmware: file in config/ with the flight controller's parameters.
        autopilot: executable of its autopilot; empty: it has none.
        actuators: what the outputs of the flight controller move.
        dynamics: executable of its dynamics.
        flight_controller: who flies it unless another is asked for: a name of `FLIGHT_CONTROLLERS`.
        pairings: name of a flight controller to what it takes that this one flies the vehicle.
        companions: executables that it carries besides those that every vehicle has.
        spacing: distance from one to the next at the start of a fleet, m; all of eight must fit into its world.
        mission: what `rosflight_py_sim fly` does with it; None: what the autopilot flies.
        weather: file in config/, the wind or the current in which it does.
    """

    name: str
    forces_and_moments: str
    parameters: str
    firmware: str
    autopilot: str
    actuators: tuple[Actuator, ...]
    dynamics: str = "standalone_dynamics"
    flight_controller: str = "sil_board"
    pairings: Mapping[str, Pairing] = field(default_factory=dict)
    companions: tuple[str, ...] = ()
    spacing: float = SPACING
    mission: ClientMission | None = None
    weather: str = "wind.yaml"

    @property
    def parameter_file(self) -> Path:
        """Parameter file of the nodes."""
        return share_directory() / "config" / self.parameters

    @property
    def firmware_file(self) -> Path:
        """Parameter file of the flight controller."""
        return share_directory() / "config" / self.firmware

    def carrying(self, companion: str, wanted: bool | None) -> Vehicle:
        """The vehicle with or without a companion; None: as it is."""
        if wanted is None:
            return self
        others = tuple(one for one in self.companions if one != companion)
        return replace(self, companions=(*others, companion) if wanted else others)


CAMERA = "camera"
"""The companion that takes pictures."""

MOTORS = tuple(_motor(f"motor {index + 1}", index) for index in range(4))
V_TAIL = (_servo("aileron", 0), _servo("left tail", 1), _servo("right tail", 2), _motor("motor", 4))
THRUSTERS = tuple(
    _servo(f"{name} thruster", output) for output, name in enumerate(("left", "right", "side", "vertical"))
)
VECTORED_THRUSTERS = tuple(_servo(f"thruster {output + 1}", output) for output in range(6))
STANDARD = (_servo("aileron", 0), _servo("elevator", 1), _servo("rudder", 2), _motor("motor", 4))


def _ardupilot(file: str, program: str, frame: str, parameters: str, *options: str) -> dict[str, Pairing]:
    words = [f"sim_vehicle.py -v {program} -f {frame} --model JSON:127.0.0.1", *options]
    words.append(f"--add-param-file={{config}}/ardupilot/{parameters}.parm")
    return {"ardupilot": Pairing(f"ardupilot/{file}.yaml", " ".join(words), "-I {index}")}


def _uthere(file: str) -> dict[str, Pairing]:
    return {"uthere": Pairing(f"uthere/{file}.yaml", "rosflight_py_sim hand-over; rosflight_py_sim uthere-terminal")}


def _fixedwing(name: str, parameters: str, uthere: str = "fixedwing") -> Vehicle:
    files = (parameters, "fixedwing_firmware.yaml")
    return Vehicle(
        name,
        "fixedwing_forces_and_moments",
        *files,
        "fixedwing_autopilot",
        V_TAIL,
        pairings=_ardupilot("fixedwing", "ArduPlane", "plane", parameters.removesuffix(".yaml")) | _uthere(uthere),
    )


def _underwater(
    name: str,
    thrusters: tuple[Actuator, ...],
    *,
    spacing: float,
    pairings: Mapping[str, Pairing] | None = None,
    mission: ClientMission | None = None,
) -> Vehicle:
    files = (f"{name}.yaml", f"{name}_firmware.yaml")
    return Vehicle(
        name,
        "auv_forces_and_moments",
        *files,
        "",
        thrusters,
        flight_controller="zeromq",
        pairings={"zeromq": Pairing(f"zeromq/{name}.yaml"), **(pairings or {})},
        companions=(CAMERA,),
        spacing=spacing,
        mission=mission,
        weather="current.yaml",
    )


VEHICLES = {
    vehicle.name: vehicle
    for vehicle in [
        Vehicle(
            "multirotor",
            "multirotor_forces_and_moments",
            "multirotor.yaml",
            "multirotor_firmware.yaml",
            "autopilot",
            MOTORS,
            pairings=_ardupilot("multirotor", "ArduCopter", "X", "copter") | _uthere("multirotor"),
        ),
        _fixedwing("fixedwing", "anaconda.yaml"),
        _fixedwing("anaconda", "anaconda.yaml"),
        _fixedwing("aerosonde", "aerosonde.yaml", "aerosonde"),
        replace(
            _fixedwing("uthere", "anaconda.yaml"),
            autopilot="",
            flight_controller="uthere",
            # A ceiling that the mission can leave without a long climb, and patience with a program on a busy machine.
            mission=ClientMission(
                "uthere_skywriting.py",
                8,
                "skywriting",
                settings={"uthere.cage_altitude_maximum": 120.0, "uthere.ap_target_from_packet_timeout": 10.0},
            ),
        ),
        # As many steps and pictures as the mission needs, so that it is quick: two steps to a telemetry message.
        _underwater(
            "auv",
            THRUSTERS,
            spacing=1.0,
            mission=ClientMission(
                "auv_mission.py",
                6,
                "dive",
                settings={"auv.wait_for_clients": True, "step_size": 1.0 / 120.0, "frame_rate": 15.0},
            ),
        ),
        _underwater(
            "bluerov2",
            VECTORED_THRUSTERS,
            spacing=3.0,
            # From a home above the sea ArduSub's pressure sensor does not feel the depth.
            pairings=_ardupilot("bluerov2", "ArduSub", "vectored", "sub", "-l 40.2463724,-111.6474138,0,0"),
        ),
    ]
}
"""By name; "fixedwing" is the one that ROSflight flies by that name."""

FLOWN_BY_OTHERS = {
    ("fixedwing", "jsbsim"): Vehicle(
        "fixedwing",
        "fixedwing_forces_and_moments",
        "jsbsim.yaml",
        "jsbsim_firmware.yaml",
        "fixedwing_autopilot",
        STANDARD,
        "jsbsim_dynamics",
    ),
}
"""Vehicle and dynamics to what takes the vehicle's place then."""

STANDALONE = "standalone"
DYNAMICS = (STANDALONE, *sorted({dynamics for _, dynamics in FLOWN_BY_OTHERS}))
"""Names of the dynamics, as users type them."""


ALL_VEHICLES = {(name, STANDALONE): one for name, one in VEHICLES.items()} | FLOWN_BY_OTHERS
"""Vehicle by the names of vehicle and dynamics."""


def vehicle(name: str, dynamics: str = STANDALONE) -> Vehicle:
    """The vehicle of that name, moved by the dynamics of that name.

    Raises:
        ParameterError: there is none.
    """
    try:
        return ALL_VEHICLES[name, dynamics]
    except KeyError:
        given = name if dynamics == STANDALONE else f"{name} by {dynamics}"
        others = [f"{one} by {other}" for one, other in FLOWN_BY_OTHERS]
        raise ParameterError(f"vehicle '{given}' given; allowed: {', '.join([*VEHICLES, *others])}") from None
