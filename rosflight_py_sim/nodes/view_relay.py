"""Relay for viewers in other processes: the newest truth states, wind, pulse widths and wrenches at a display rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rosflight_py_sim.interfaces.polled_subscription import PolledSubscription
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.step.viewed_topics import VIEWED, viewed


class ViewRelay(SimulationNode):
    """Publishes the newest truth states, wind, pulse widths and wrenches on view/..., at a display's rate.

    A subscription in another process wakes that process for each message, which costs a graph in one process a quarter
    of its speed. This node, in the graph's process, costs one percent.
    """

    DEFAULT_NAME: ClassVar[str] = "view_relay"
    ONLY_OBSERVES: ClassVar[bool] = True
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        VEHICLES,
        Parameter("view_rate", 30.0, "Messages per second of system time", "Hz", 1.0, 100.0, read_only=True),
    )

    def __init__(self, **arguments: Any) -> None:
        """Subscribe and start relaying."""
        self._lines: list[tuple[PolledSubscription[Any], Callable[[Any], None]]] = []
        super().__init__(**arguments)
        for vehicle in vehicle_namespaces(self.values["vehicles"]):
            for topic in VIEWED:
                self._lines.append((self.poll(topic, vehicle), self.publisher(viewed(topic, relayed=True), vehicle)))
        self.create_system_timer(1.0 / number(self.values, "view_rate"), self._relay)

    def destroy_node(self) -> None:
        """Also close the subscriptions."""
        for polled, _ in self._lines:
            polled.close()
        self._lines = []
        super().destroy_node()

    def _relay(self) -> None:
        for polled, send in self._lines:
            message = polled.take()
            if message is not None:
                send(message)
