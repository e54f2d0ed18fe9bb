"""Bridge to clients of other simulators' protocols, which fly, command or observe the vehicles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from rosflight_py_sim.bridge.actuated_vehicle import ActuatedVehicle
from rosflight_py_sim.bridge.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.bridge.command_wait import CommandWait
from rosflight_py_sim.bridge.front_end_interface import (
    OBSERVED_ONLY,
    ActuatorFrontEnd,
    FrontEndInterface,
    OffboardFrontEnd,
)
from rosflight_py_sim.bridge.offboard_vehicle import OffboardVehicle
from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, Values
from rosflight_py_sim.ground.registry import own_names, registered, registered_class
from rosflight_py_sim.ground.shared_parameters import SEED, START_DATE, TIME_MODE
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.parts.autopilot import COMMAND_FREQUENCY
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.topic_statistics import Period

# Longest interval between two reads of the sockets, even while the simulation is paused or slow: too short to be
# noticed.
_SERVE_S = 0.02

# The wait for a peer is reported after one to two of these intervals without a reply.
_CHECK_S = 1.0


_VEHICLES: dict[type, type[BridgedVehicle]] = {
    ActuatorFrontEnd: ActuatedVehicle,
    OffboardFrontEnd: OffboardVehicle,
    type(None): BridgedVehicle,
}
"""Base class of a vehicle's commander to the part that exchanges messages with it."""

_TABLE = ParameterTable(
    TIME_MODE.overridden("in lockstep, each step waits for the external flight controller", default="lockstep"),
    START_DATE,
    VEHICLES,
    Parameter(
        "front_ends",
        ["ardupilot"],
        "Protocols of the bridge; a front-end that does not command a vehicle observes it",
        choices=tuple(registered("front_ends")),
        read_only=True,
    ),
    Parameter(
        "commanders",
        [],
        f"Front-end that commands each vehicle, in the order of vehicles; {OBSERVED_ONLY}: another node does; "
        "empty: the first of front_ends commands all vehicles",
        element=str,
        choices=(OBSERVED_ONLY, *registered("front_ends")),
        read_only=True,
    ),
    COMMAND_FREQUENCY,
    FAILURES,
    SEED,
)


def _with_front_ends() -> tuple[ParameterTable, ParameterTable, dict[str, str]]:
    """Parameters of the bridge and of each vehicle, and the reason for each front-end that cannot be used."""
    table, of_vehicle, reasons = _TABLE, ParameterTable(FAILURES, SEED), {}
    # This package's front-ends come first, so that others do not affect them.
    for name in dict.fromkeys([*own_names("front_ends"), *registered("front_ends")]):
        try:
            one = _loaded(name)
            table, of_vehicle = table + one.PARAMETERS, of_vehicle + one.VEHICLE_PARAMETERS
        except ParameterError as error:
            reasons[name] = str(error)
        except ValueError as error:
            reasons[name] = f"front-end '{name}' given, which cannot be used beside the others: {error}"
    return table, of_vehicle, reasons


def _loaded(name: str) -> type[FrontEndInterface]:
    return cast("type[FrontEndInterface]", registered_class("front_ends", name, FrontEndInterface))


_PARAMETERS, _VEHICLE_PARAMETERS, _REASONS = _with_front_ends()


class Bridge(PartNode):
    """Connects clients, by the protocols of one or several front-ends, to all vehicles.

    Attributes:
        front_ends: the front-ends by name, in the order of the parameter.
    """

    DEFAULT_NAME: ClassVar[str] = "bridge"
    PARAMETERS: ClassVar[ParameterTable] = _PARAMETERS
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = _VEHICLE_PARAMETERS
    HOSTS: ClassVar[tuple[type[Part], ...]] = tuple(_VEHICLES.values())

    # Class attributes, because a node that fails during construction is also destroyed.
    front_ends: dict[str, FrontEndInterface] = {}  # noqa: RUF012
    _vehicles: Sequence[BridgedVehicle] = ()
    _wait: CommandWait | None = None

    def __init__(self, **arguments: Any) -> None:
        """Open the front-ends' sockets and wait for the first step."""
        super().__init__(**arguments)
        namespaces = vehicle_namespaces(self.values["vehicles"])
        chosen = _front_end_names(self.values)
        commanders = _commander_names(self.values, chosen, len(namespaces))
        front_ends = {
            name: _front_end_class(name)(self.values, self.get_logger(), namespaces, _observed(name, commanders))
            for name in chosen
        }
        self._vehicles = [
            self._vehicle(index, namespace, commander, front_ends)
            for index, (namespace, commander) in enumerate(zip(namespaces, commanders, strict=True))
        ]
        self.front_ends = front_ends
        for front_end in front_ends.values():
            front_end.open()
            self.get_logger().info(front_end.announcement())
        for vehicle in self._vehicles:
            self.host(vehicle, vehicle.name)
        actuated = [vehicle for vehicle in self._vehicles if isinstance(vehicle, ActuatedVehicle)]
        if actuated:
            self._wait = CommandWait(actuated, self._call_later)
            self.create_system_timer(_CHECK_S, self._wait.check)
        self.create_system_timer(_SERVE_S, self._serve)
        self.follow_stamps()

    def _vehicle(
        self, index: int, name: str, commander: str, front_ends: Mapping[str, FrontEndInterface]
    ) -> BridgedVehicle:
        namespace = absolute_name(self.get_namespace(), name).rstrip("/")
        observers = [one for other, one in front_ends.items() if other != commander]
        own = VehicleFrontEnds(index, name, namespace, front_ends.get(commander), observers)
        kind = next(one for base, one in _VEHICLES.items() if isinstance(own.commander, base))
        return kind(values_of_vehicle(self.values, name), own, self.get_logger())

    def _call_later(self, act: Callable[[], None]) -> None:
        """Call a function in the executor's thread; a task, as the EventsExecutor does not support guard conditions."""
        executor = self.executor
        if executor is not None:
            executor.create_task(act)

    def configure(self, values: dict[str, Value]) -> None:
        """Pass changes to the front-ends."""
        try:
            for front_end in self.front_ends.values():
                front_end.configure(values)
        except Exception:
            for front_end in self.front_ends.values():
                front_end.configure(self.values)
            raise

    @property
    def unrepeatable_inputs(self) -> list[str]:
        """Clients of the front-ends that command a vehicle."""
        return [
            f"clients of the front-end '{name}' ({self.get_fully_qualified_name()})"
            for name, one in self.front_ends.items()
            if len(one.observed) < len(one.vehicles)
        ]

    def destroy_node(self) -> None:
        """Also close the sockets."""
        if self._wait is not None:
            self._wait.close()
        for front_end in self.front_ends.values():
            front_end.close()
        self.front_ends = {}
        super().destroy_node()

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        for name, front_end in self.front_ends.items():
            counters = dict.fromkeys(front_end.COUNTERS, 0) | dict(front_end.counters)
            yield Diagnosis(name, _role(front_end), values=counters)
        for vehicle in self._vehicles:
            yield from vehicle.diagnose(period)

    def _serve(self) -> None:
        for front_end in self.front_ends.values():
            front_end.serve()
        if self._wait is not None:
            self._wait.exchange()


def _front_end_class(name: str) -> type[FrontEndInterface]:
    if name in _REASONS:
        raise ParameterError(_REASONS[name])
    return _loaded(name)


def _observed(front_end: str, commanders: Sequence[str]) -> dict[int, str]:
    """Vehicles that a front-end does not command, with the name of each one's commander."""
    return {
        index: "its flight controller" if commander == OBSERVED_ONLY else commander
        for index, commander in enumerate(commanders)
        if commander != front_end
    }


def _role(front_end: FrontEndInterface) -> str:
    observed = len(front_end.observed)
    commanded = len(front_end.vehicles) - observed
    return ", ".join(
        f"{count} vehicle{'s' if count > 1 else ''} {text}"
        for count, text in ((commanded, "commanded"), (observed, "observed"))
        if count
    )


def _front_end_names(values: Values) -> list[str]:
    names = cast("list[str]", values["front_ends"])
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"parameter 'front_ends': {names} given; allowed: at least one, each once")
    return names


def _commander_names(values: Values, chosen: Sequence[str], vehicles: int) -> list[str]:
    """Front-end that commands each vehicle."""
    given = cast("list[str]", values["commanders"])
    if len(given) not in (0, vehicles):
        raise ParameterError(
            f"parameter 'commanders': {given} given; allowed: one for each of {vehicles} vehicles, or an empty list"
        )
    names = given or [chosen[0]] * vehicles
    unknown = sorted(set(names) - {*chosen, OBSERVED_ONLY})
    if unknown:
        raise ParameterError(
            f"parameter 'commanders': '{unknown[0]}' given, which front_ends does not list; allowed: "
            f"{', '.join((OBSERVED_ONLY, *chosen))}"
        )
    return names
