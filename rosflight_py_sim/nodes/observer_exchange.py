"""The bridge beside other nodes: front-ends observe vehicles that none of them commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rosflight_py_sim.interfaces.diagnostics import Diagnosis
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.stamps import NANOSECONDS


class ObserverExchange:
    """Gives the front-ends of vehicles without a commander the snapshot of each step."""

    def __init__(self, node: SimulationNode) -> None:
        """Keep the node; any time mode will do."""
        self._node = node

    def open(self, vehicles: Sequence[VehicleFrontEnds]) -> None:
        """Wait for the first step of the vehicles; their front-ends are open."""
        self._vehicles = [BridgedVehicle(self._node, one) for one in vehicles]

    def close(self) -> None:
        """Nothing to stop."""

    def diagnose(self) -> Iterator[Diagnosis]:
        """One entry per vehicle."""
        for vehicle in self._vehicles:
            yield Diagnosis(vehicle.name or "vehicle", "observed", values={"time": vehicle.answered_ns / NANOSECONDS})
