"""Observer exchange of the bridge: front-ends observe vehicles that no front-end commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.diagnosis import Diagnosis


class ObserverExchange:
    """Passes the snapshot of each step to the front-ends of vehicles without a commander."""

    def __init__(self, node: SimulationNode) -> None:
        """Store the node; all time modes are supported."""
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
