"""The bridge: clients of another simulator's protocol fly the vehicles, or command their flight controllers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Protocol

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, FrontEndInterface, OffboardFrontEnd
from rosflight_py_sim.interfaces.autopilot_interface import COMMAND_FREQUENCY
from rosflight_py_sim.interfaces.diagnostics import Diagnosis
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.interfaces.topic_statistics import Period
from rosflight_py_sim.nodes.actuator_exchange import ActuatorExchange
from rosflight_py_sim.nodes.offboard_exchange import OffboardExchange
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value
from rosflight_py_sim.registry import registered, registered_class


class Exchange(Protocol):
    """Exchange of messages between the graph and a front-end."""

    def open(self) -> None:
        """Open the front-end, and wait for the first step."""

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""

    def diagnose(self) -> Iterable[Diagnosis]:
        """One entry per vehicle."""


_EXCHANGES: dict[type, Callable[[SimulationNode, Any], Exchange]] = {
    ActuatorFrontEnd: ActuatorExchange,
    OffboardFrontEnd: OffboardExchange,
}
"""Base class of a front-end to its exchange."""

FRONT_ENDS: dict[str, type[FrontEndInterface]] = {
    name: registered_class("front_ends", name, FrontEndInterface) for name in registered("front_ends")
}
"""Front-end classes by the value of the parameter front_end."""


class Bridge(SimulationNode):
    """Connects clients, by the protocol of one front-end, to all vehicles."""

    DEFAULT_NAME: ClassVar[str] = "bridge"
    PARAMETERS: ClassVar[ParameterTable] = sum(
        (one.PARAMETERS for one in FRONT_ENDS.values()),
        start=ParameterTable(
            TIME_MODE.overridden("in lockstep, each step waits for the external flight controller", default="lockstep"),
            VEHICLES,
            Parameter("front_end", "ardupilot", "Protocol of the bridge", choices=tuple(FRONT_ENDS), read_only=True),
            COMMAND_FREQUENCY,
        ),
    )

    # A class attribute, because a node that fails during construction is destroyed, too.
    _exchange: Exchange | None = None

    def __init__(self, **arguments: Any) -> None:
        """Open the front-end's sockets and wait for the first step."""
        super().__init__(**arguments)
        chosen = FRONT_ENDS[str(self.values["front_end"])]
        names = vehicle_namespaces(self.values["vehicles"])
        self.front_end = chosen(self.values, self.get_logger(), names)
        exchange = next(one for base, one in _EXCHANGES.items() if issubclass(chosen, base))
        self._exchange = exchange(self, self.front_end)
        self._exchange.open()
        self.follow_stamps()

    def configure(self, values: dict[str, Value]) -> None:
        """Pass changes to the front-end."""
        if self._exchange is not None:
            self.front_end.configure(values)

    def destroy_node(self) -> None:
        """Also close the sockets."""
        if self._exchange is not None:
            self._exchange.close()
        super().destroy_node()

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        counters = dict.fromkeys(self.front_end.COUNTERS, 0) | dict(self.front_end.counters)
        yield Diagnosis("", str(self.values["front_end"]), values=counters)
        assert self._exchange is not None
        yield from self._exchange.diagnose()


def main() -> None:
    """Run the node."""
    run(Bridge)


if __name__ == "__main__":
    main()
