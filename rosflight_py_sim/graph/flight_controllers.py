"""The flight controllers: each is nodes that stand between sensors and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.parameters import ParameterError, Value
from rosflight_py_sim.registry import flight_controller_names, registered, registered_class, registered_object
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles


@dataclass(frozen=True)
class FlightController:
    """What answers the sensors with servo outputs.

    Attributes:
        name: as users type it.
        executables: of its nodes.
        text: what it is, in a few words.
        settings: parameters of the nodes that go with it, as weak as a parameter file.
        needs_file: whether it can fly only vehicles that have a parameter file for it.
        obeys_commands: whether it flies as whoever publishes `command` says, such as an autopilot.
        needs_lockstep: whether the simulation has to wait for it.
    """

    name: str
    executables: tuple[str, ...]
    text: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    needs_file: bool = False
    obeys_commands: bool = False
    needs_lockstep: bool = False

    def flies(self, vehicle: Vehicle) -> bool:
        """Whether it can fly the vehicle: it needs no parameter file, or the vehicle has one for it."""
        return not self.needs_file or self.name in vehicle.pairings

    def files_for(self, vehicle: Vehicle) -> list[Path]:
        """Parameter files of all nodes that the vehicle needs to be flown by it; stronger than the vehicle's own.

        Raises:
            ParameterError: it needs one, and the vehicle has none.
        """
        if self.name in vehicle.pairings:
            return [vehicle.pairings[self.name].file]
        if self.needs_file:
            able = [name for name, one in FLIGHT_CONTROLLERS.items() if one.flies(vehicle)]
            raise ParameterError(
                f"flight controller '{self.name}' given for vehicle '{vehicle.name}', which has no parameter file for "
                f"it; allowed: {', '.join(able)}"
            )
        return []

    def asked_autopilots(self, vehicle: Vehicle, wanted: bool) -> list[str]:
        """Executables of the autopilots to start: the vehicle's own where it is wanted.

        Raises:
            ParameterError: it is wanted, and the vehicle has none, or would not obey it.
        """
        if not wanted:
            return []
        if not vehicle.autopilot:
            others = ", ".join(names_of_vehicles(lambda one: bool(one.autopilot)))
            raise ParameterError(
                f"autopilot asked for with vehicle '{vehicle.name}', which has none; allowed: {others}"
            )
        if not self.obeys_commands:
            others = ", ".join(name for name, one in FLIGHT_CONTROLLERS.items() if one.obeys_commands)
            raise ParameterError(
                f"autopilot asked for with flight controller '{self.name}', which is steered by others; allowed: "
                f"{others}"
            )
        return [vehicle.autopilot]

    def instructions(self, members: Sequence[Member]) -> list[str]:
        """Lines to print on what else to start so that the vehicles fly; empty if nothing.

        In a fleet there is a line for each vehicle if each needs a program of its own. `members` are of one kind.
        """
        pairing = members[0].vehicle.pairings.get(self.name)
        if pairing is None or not pairing.command:
            return []
        command = pairing.command
        if not members[0].namespace or not pairing.instance:
            return [f"in another terminal: {command}"]
        return [
            f"{member.namespace}, in another terminal: {command} {pairing.instance.format(index=index)}"
            for index, member in enumerate(members)
        ]


SIL_BOARD = FlightController("sil_board", ("sil_board",), "the ROSflight firmware", obeys_commands=True)
ARDUPILOT = FlightController(
    "ardupilot",
    ("bridge",),
    "ArduPilot, by its JSON interface",
    {"front_end": "ardupilot"},
    needs_file=True,
    needs_lockstep=True,
)
AUV_AUTOPILOT = FlightController(
    "auv_autopilot", ("auv_autopilot",), "holds an underwater vehicle's depth and heading, by services"
)
AUV_ZEROMQ = FlightController(
    "auv_zeromq",
    ("bridge",),
    "clients of the AUV protocol over ZeroMQ",
    {"front_end": "auv_zeromq"},
    needs_file=True,
    needs_lockstep=True,
)
UTHERE = FlightController(
    "uthere",
    ("sil_board", "bridge"),
    "the ROSflight firmware, commanded by clients of uThere Ground Control's text protocol",
    {"front_end": "uthere"},
    needs_file=True,
)


class _FlightControllers(Mapping[str, FlightController]):
    """The registered ones, and one for each front-end without an entry of its own, by the front-end's name."""

    def __iter__(self) -> Iterator[str]:
        return iter(flight_controller_names())

    def __len__(self) -> int:
        return len(flight_controller_names())

    def __getitem__(self, name: str) -> FlightController:
        if name in registered("flight_controllers"):
            return registered_object("flight_controllers", name, FlightController)
        if name not in registered("front_ends"):
            raise KeyError(name)
        # numpy, which the command line would otherwise not need.
        from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface, OffboardFrontEnd

        front_end = registered_class("front_ends", name, FrontEndInterface)
        offboard = issubclass(front_end, OffboardFrontEnd)
        return FlightController(
            name,
            ("sil_board", "bridge") if offboard else ("bridge",),
            (front_end.__doc__ or "no description").strip().splitlines()[0],
            {"front_end": name},
            needs_lockstep=not offboard,
        )


FLIGHT_CONTROLLERS = _FlightControllers()
"""By name."""


def chosen_flight_controller(name: str) -> FlightController:
    """The flight controller of that name.

    Raises:
        ParameterError: there is none.
    """
    try:
        return FLIGHT_CONTROLLERS[name]
    except KeyError:
        raise ParameterError(f"flight controller '{name}' given; allowed: {', '.join(FLIGHT_CONTROLLERS)}") from None
