"""Flight controllers: nodes that compute servo outputs from sensor data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rosflight_py_sim.bridge.numbering import numbers_of_vehicles
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.node_kinds import present_name
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.registry import (
    flight_controller_names,
    is_place,
    registered,
    registered_class,
    registered_node,
    registered_object,
)
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles

if TYPE_CHECKING:
    from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface

_BRIDGE = "bridge"


@dataclass(frozen=True)
class FlightController:
    """A flight controller.

    Attributes:
        name: value of the option that selects it.
        executables: its nodes.
        text: description in a few words.
        front_end: the bridge's front-end that commands the vehicles; empty if it has none.
        settings: parameters of its nodes, which parameter files override.
        keyboard_settings: parameters of its nodes while the keyboard moves the sticks.
        needs_file: whether a vehicle needs a parameter file for it.
        needs_lockstep: whether the simulation must wait for it.
        requests_step_sizes: whether it requests the length of each step.
        pages: title and page of docs/ for each further explanation.
    """

    name: str
    executables: tuple[str, ...]
    text: str
    front_end: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    keyboard_settings: Mapping[str, Value] = field(default_factory=dict)
    needs_file: bool = False
    needs_lockstep: bool = False
    requests_step_sizes: bool = False
    pages: tuple[tuple[str, str], ...] = ()

    def flies(self, vehicle: Vehicle) -> bool:
        """Whether it can fly the vehicle: it needs no parameter file, or the vehicle has one."""
        return not self.needs_file or self.name in vehicle.pairings

    def follows(self, autopilot: str) -> bool:
        """Whether one of its nodes receives a topic of an autopilot, unless a front-end commands the vehicle.

        Raises:
            ParameterError: one of the nodes cannot be loaded.
        """
        # Imported here because it loads numpy, which the command line does not need otherwise.
        from rosflight_py_sim.step.ports import Input, Output, ports_of

        sent = {port.topic.name for port in ports_of(registered_node(autopilot)) if isinstance(port, Output)}
        received = [port for one in self.executables for port in ports_of(registered_node(one))]
        return not self.front_end and any(isinstance(one, Input) and one.topic.name in sent for one in received)

    @property
    def receives_sticks(self) -> bool:
        """Whether one of its nodes receives the transmitter's frames; the bridge may forward them.

        Raises:
            ParameterError: one of the nodes cannot be loaded.
        """
        from rosflight_py_sim.step.ports import Input, ports_of
        from rosflight_py_sim.step.topics import RC

        own = [registered_node(one) for one in self.executables if one != _BRIDGE]
        return bool(self.keyboard_settings) or any(
            isinstance(port, Input) and port.topic is RC for node in own for port in ports_of(node)
        )

    def files_for(self, vehicle: Vehicle) -> list[Path]:
        """Parameter files of all nodes for this flight controller and vehicle; they override the vehicle's own.

        Raises:
            ParameterError: it needs a file, and the vehicle has none.
        """
        if self.name in vehicle.pairings:
            return [vehicle.pairings[self.name].file]
        if self.needs_file:
            able = [name for name, one in usable_flight_controllers().items() if one.flies(vehicle)]
            raise ParameterError(
                f"flight controller '{self.name}' given for vehicle '{vehicle.name}', which has no parameter file for "
                f"it; allowed: {', '.join(able)}"
            )
        return []

    def requested_autopilots(self, vehicle: Vehicle, wanted: bool) -> list[str]:
        """Executables of the autopilots to start: the vehicle's own if one is requested.

        Raises:
            ParameterError: the vehicle has no autopilot, or the flight controller does not follow it.
        """
        if not wanted:
            return []
        if not vehicle.autopilot:
            others = ", ".join(names_of_vehicles(lambda one: bool(one.autopilot)))
            raise ParameterError(f"autopilot requested for vehicle '{vehicle.name}', which has none; allowed: {others}")
        if not self.follows(vehicle.autopilot):
            raise ParameterError(
                f"autopilot requested with flight controller '{self.name}', which does not follow the autopilot "
                f"'{vehicle.autopilot}' of vehicle '{vehicle.name}'; allowed: {', '.join(following(vehicle)) or 'none'}"
            )
        return [vehicle.autopilot]


SIL_BOARD = FlightController(
    "sil_board",
    ("sil_board",),
    "the ROSflight firmware",
    pages=(("Firmware", "firmware.md"),),
)
ARDUPILOT = FlightController(
    "ardupilot",
    (_BRIDGE,),
    "ArduPilot through its JSON interface",
    front_end="ardupilot",
    keyboard_settings={"ardupilot.rc": True},
    needs_file=True,
    needs_lockstep=True,
    requests_step_sizes=True,
    pages=(("ArduPilot", "ardupilot.md"),),
)
PX4 = FlightController(
    "px4",
    (_BRIDGE,),
    "PX4 through its simulator interface",
    front_end="px4",
    keyboard_settings={"px4.rc": True},
    needs_file=True,
    needs_lockstep=True,
    pages=(("PX4", "px4.md"),),
)
AUV_CONTROLLER = FlightController(
    "auv_controller",
    ("auv_controller",),
    "depth and heading hold for underwater vehicles, set by services",
    pages=(("auv_controller", "auv.md"),),
)
POLICY_CONTROLLER = FlightController(
    "policy_controller",
    ("policy_controller",),
    "a policy that drives the actuators directly",
    pages=(("Learning", "learning.md"),),
)
AUV_ZEROMQ = FlightController(
    "auv_zeromq",
    (_BRIDGE,),
    "clients of the AUV protocol over ZeroMQ",
    front_end="auv_zeromq",
    needs_file=True,
    needs_lockstep=True,
    pages=(("AUV protocol", "auv_zeromq.md"),),
)
UTHERE = FlightController(
    "uthere",
    ("sil_board", _BRIDGE),
    "the ROSflight firmware, commanded by clients of uThere Ground Control's text protocol",
    front_end="uthere",
    needs_file=True,
    pages=(("uThere", "uthere.md"),),
)


class _FlightControllers(Mapping[str, FlightController]):
    """The registered flight controllers, and one for each front-end or node without an entry, by its name."""

    def __iter__(self) -> Iterator[str]:
        return iter(flight_controller_names())

    def __len__(self) -> int:
        return len(flight_controller_names())

    def __getitem__(self, name: str) -> FlightController:
        if name in registered("flight_controllers"):
            return registered_object("flight_controllers", name, FlightController)
        if name not in registered("front_ends"):
            if name not in flight_controller_names() and not is_place(name):
                raise KeyError(name)
            return FlightController(name, (name,), _first_line(registered_node(name)))
        front_end = front_end_class(name)
        # Imported here because it loads numpy, which the command line does not need otherwise.
        from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, OffboardFrontEnd

        offboard = issubclass(front_end, OffboardFrontEnd)
        return FlightController(
            name,
            ("sil_board", _BRIDGE) if offboard else (_BRIDGE,),
            _first_line(front_end),
            front_end=name,
            needs_lockstep=not offboard,
            requests_step_sizes=issubclass(front_end, ActuatorFrontEnd) and front_end.requests_step_sizes(),
        )


def _first_line(described: type) -> str:
    return ((described.__doc__ or "").strip() or "no description").splitlines()[0]


FLIGHT_CONTROLLERS = _FlightControllers()
"""Flight controllers by name."""


def usable_flight_controllers() -> dict[str, FlightController]:
    """Flight controllers by name, without those of packages that cannot be loaded: only their use is an error."""
    found = {}
    for name in FLIGHT_CONTROLLERS:
        with contextlib.suppress(ParameterError):
            found[name] = FLIGHT_CONTROLLERS[name]
    return found


def following(vehicle: Vehicle) -> list[str]:
    """Names of the usable flight controllers that can fly the vehicle and follow its autopilot."""
    found = []
    for name, one in usable_flight_controllers().items():
        with contextlib.suppress(ParameterError):
            if one.flies(vehicle) and one.follows(vehicle.autopilot):
                found.append(name)
    return found


def chosen_flight_controller(name: str) -> FlightController:
    """The flight controller with this name.

    Raises:
        ParameterError: there is none, or it or its front-end cannot be used.
    """
    name = present_name(name)
    try:
        chosen = FLIGHT_CONTROLLERS[name]
    except KeyError:
        raise ParameterError(f"flight controller '{name}' given; allowed: {', '.join(FLIGHT_CONTROLLERS)}") from None
    if chosen.front_end:
        front_end_class(chosen.front_end)
    return chosen


def front_end_class(name: str) -> type[FrontEndInterface]:
    """The front-end with this name.

    Raises:
        ParameterError: there is none, or it cannot be used.
    """
    # Imported here because it loads numpy, which the command line does not need otherwise.
    from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface

    return cast("type[FrontEndInterface]", registered_class("front_ends", name, FrontEndInterface))


def flight_controller_of(member: Member) -> FlightController:
    """The flight controller of a vehicle.

    Raises:
        ParameterError: there is none with the given name.
    """
    return chosen_flight_controller(member.flight_controller or member.vehicle.flight_controller)


def step_size_settings(members: Sequence[Member]) -> dict[str, Value]:
    """Parameter of the lockstep time manager: vehicles whose flight controllers request the length of each step."""
    names = [member.namespace for member in members if flight_controller_of(member).requests_step_sizes]
    return {"step_size_requests": names} if names else {}


def keyboard_settings(members: Sequence[Member]) -> dict[str, Value]:
    """Parameters of the vehicles' nodes while the keyboard moves the sticks."""
    return {name: value for one in members for name, value in flight_controller_of(one).keyboard_settings.items()}


def number_of_vehicle(members: Sequence[Member], index: int) -> int:
    """Number of a vehicle in the protocol of the front-end that commands it, from 0 (see `numbers_of_vehicles`)."""
    front_ends = [flight_controller_of(member).front_end for member in members]
    observed = {k for k, front_end in enumerate(front_ends) if front_end != front_ends[index]}
    return numbers_of_vehicles(len(members), observed)[index]


def instructions(members: Sequence[Member]) -> list[str]:
    """Lines to print on programs that you have to start before the vehicles fly; empty if none.

    There is one line per vehicle that needs its own program.
    """
    lines: list[str] = []
    for index, member in enumerate(members):
        pairing = member.vehicle.pairings.get(flight_controller_of(member).name)
        if pairing is None or not pairing.command:
            continue
        if member.namespace and pairing.instance:
            instance = pairing.instance.format(index=number_of_vehicle(members, index))
            line = f"{member.namespace}, in another terminal: {pairing.command} {instance}"
        else:
            line = f"in another terminal: {pairing.command}"
        lines.append(line)
    return list(dict.fromkeys(lines))
