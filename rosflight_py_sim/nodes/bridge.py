"""Bridge to clients of other simulators' protocols, which fly, command or observe the vehicles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, cast

from rosflight_py_sim.bridge.front_end_interface import (
    OBSERVED_ONLY,
    ActuatorFrontEnd,
    FrontEndInterface,
    OffboardFrontEnd,
)
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.actuator_exchange import ActuatorExchange
from rosflight_py_sim.nodes.bridged_vehicle import VehicleFrontEnds
from rosflight_py_sim.nodes.observer_exchange import ObserverExchange
from rosflight_py_sim.nodes.offboard_exchange import OffboardExchange
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Value, Values
from rosflight_py_sim.parts.autopilot import COMMAND_FREQUENCY
from rosflight_py_sim.registry import own_names, registered, registered_class
from rosflight_py_sim.shared_parameters import START_DATE, TIME_MODE
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.topic_statistics import Period

# Longest interval between two reads of the sockets, even while the simulation is paused or slow: too short to be
# noticed.
_SERVE_S = 0.02


class Exchange(Protocol):
    """Exchange of messages between the graph and the front-ends that command vehicles in one way."""

    def __init__(self, node: SimulationNode) -> None:
        """Store the node.

        Raises:
            ParameterError: the exchange does not work in the node's time mode.
        """

    def open(self, vehicles: Sequence[VehicleFrontEnds]) -> None:
        """Wait for the first step of the vehicles."""

    def close(self) -> None:
        """Stop the exchange; may be called again, and without `open`."""

    def diagnose(self) -> Iterable[Diagnosis]:
        """One entry per vehicle."""


_EXCHANGES: dict[type, type[Exchange]] = {
    ActuatorFrontEnd: ActuatorExchange,
    OffboardFrontEnd: OffboardExchange,
    type(None): ObserverExchange,
}
"""Base class of a vehicle's commander to its exchange."""

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
)


def _with_front_ends() -> tuple[ParameterTable, ParameterTable, dict[str, str]]:
    """Parameters of the bridge and of each vehicle, and the reason for each front-end that cannot be used."""
    table, of_vehicle, reasons = _TABLE, ParameterTable(), {}
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


class Bridge(SimulationNode):
    """Connects clients, by the protocols of one or several front-ends, to all vehicles.

    Attributes:
        front_ends: the front-ends by name, in the order of the parameter.
    """

    DEFAULT_NAME: ClassVar[str] = "bridge"
    PARAMETERS: ClassVar[ParameterTable] = _PARAMETERS
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = _VEHICLE_PARAMETERS

    # Class attributes, because a node that fails during construction is also destroyed.
    front_ends: dict[str, FrontEndInterface] = {}  # noqa: RUF012
    _exchanges: Sequence[Exchange] = ()

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
        by_exchange: dict[type[Exchange], list[VehicleFrontEnds]] = {}
        for index, (namespace, commander) in enumerate(zip(namespaces, commanders, strict=True)):
            vehicle = VehicleFrontEnds(
                index,
                namespace,
                front_ends.get(commander),
                [one for name, one in front_ends.items() if name != commander],
            )
            kind = next(one for base, one in _EXCHANGES.items() if isinstance(vehicle.commander, base))
            by_exchange.setdefault(kind, []).append(vehicle)
        self._exchanges = [exchange(self) for exchange in by_exchange]
        self.front_ends = front_ends
        for front_end in front_ends.values():
            front_end.open()
            self.get_logger().info(front_end.announcement())
        for exchange, vehicles in zip(self._exchanges, by_exchange.values(), strict=True):
            exchange.open(vehicles)
        self.create_system_timer(_SERVE_S, self._serve)
        self.follow_stamps()

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
        for exchange in self._exchanges:
            exchange.close()
        for front_end in self.front_ends.values():
            front_end.close()
        self.front_ends = {}
        super().destroy_node()

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        for name, front_end in self.front_ends.items():
            counters = dict.fromkeys(front_end.COUNTERS, 0) | dict(front_end.counters)
            yield Diagnosis(name, _role(front_end), values=counters)
        for exchange in self._exchanges:
            yield from exchange.diagnose()

    def _serve(self) -> None:
        for front_end in self.front_ends.values():
            front_end.serve()


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
