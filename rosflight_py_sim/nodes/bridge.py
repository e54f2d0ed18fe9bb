"""The bridge: programs that speak another simulator's protocol fly the vehicles, or command who flies them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.auv_front_end import AuvFrontEnd
from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface
from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.interfaces.autopilot_interface import COMMAND_FREQUENCY
from rosflight_py_sim.interfaces.diagnostics import Diagnosis
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.interfaces.traffic import Period
from rosflight_py_sim.nodes.actuator_exchange import ActuatorExchange
from rosflight_py_sim.nodes.offboard_exchange import OffboardExchange
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value


class Exchange(Protocol):
    """What goes on between the graph and a front-end."""

    def open(self) -> None:
        """Open the front-end, and wait for the first step."""

    def close(self) -> None:
        """Close the front-end; may be called again, and without `open`."""

    def diagnose(self) -> Iterable[Diagnosis]:
        """An entry of each vehicle."""


class Protocolled(NamedTuple):
    """A front-end, and how it takes part."""

    front_end: type[FrontEndInterface]
    exchange: Callable[[SimulationNode, Any], Exchange]


FRONT_ENDS = {
    "ardupilot": Protocolled(ArduPilotFrontEnd, ActuatorExchange),
    "auv": Protocolled(AuvFrontEnd, ActuatorExchange),
    "uthere": Protocolled(UthereFrontEnd, OffboardExchange),
}
"""By the value of the parameter front_end."""


class Bridge(SimulationNode):
    """Lets programs behind sockets fly all vehicles, by the protocol of one front-end."""

    DEFAULT_NAME: ClassVar[str] = "bridge"
    PARAMETERS: ClassVar[ParameterTable] = sum(
        (one.front_end.PARAMETERS for one in FRONT_ENDS.values()),
        start=ParameterTable(
            TIME_MODE.overridden("the steps of lockstep wait for a flight controller outside", default="lockstep"),
            VEHICLES,
            Parameter(
                "front_end", "ardupilot", "Protocol that the bridge speaks", choices=tuple(FRONT_ENDS), read_only=True
            ),
            COMMAND_FREQUENCY,
        ),
    )

    # Here because a node that refuses its parameters is destroyed, too.
    _exchange: Exchange | None = None

    def __init__(self, **arguments: Any) -> None:
        """Open the front-end's sockets and wait for the first step."""
        super().__init__(**arguments)
        chosen = FRONT_ENDS[str(self.values["front_end"])]
        names = vehicle_namespaces(self.values["vehicles"])
        self.front_end = chosen.front_end(self.values, self.get_logger(), names)
        self._exchange = chosen.exchange(self, self.front_end)
        self._exchange.open()
        self.follow_stamps()

    def configure(self, values: dict[str, Value]) -> None:
        """Hand changes over to the front-end."""
        if self._exchange is not None:
            self.front_end.configure(values)

    def destroy_node(self) -> None:
        """Close the sockets, too."""
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
