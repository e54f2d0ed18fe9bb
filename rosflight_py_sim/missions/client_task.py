"""Task of a client program: its judge, the nodes that it needs, and the program's arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import number_of_vehicle
from rosflight_py_sim.ground.parameters import number
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.missions.client_judge import ClientJudge


class ClientTask(ABC):
    """Kind of task for a client program.

    Class attributes:
        JUDGE: class of the judge, created as `JUDGE(vehicle, values)`.

    Attributes:
        member: vehicle that performs the task, in its simulation.
    """

    JUDGE: ClassVar[type[ClientJudge]]

    def __init__(self, member: Member) -> None:
        """Check that the vehicle can perform the task.

        Raises:
            ParameterError: the vehicle lacks a node that the program depends on.
        """
        self.member = member

    def join(self, graph: ComposedGraph, namespace: str) -> None:  # noqa: B027
        """Create the task's additional nodes in the graph, in the vehicle's namespace.

        Raises:
            ParameterError: the task cannot be performed in the graph.
        """

    @abstractmethod
    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Arguments for the program, such as the ports of the vehicle."""

    def address(self, graph: ComposedGraph, front_end: str) -> list[str]:
        """Option with the address of a front-end's server, unless the program's default address reaches it."""
        address = str(graph.values_of("bridge", self.member.namespace)[f"{front_end}.address"])
        # A server on all addresses is also reachable at the default address.
        return [] if address == "0.0.0.0" else ["--address", address]

    def numbered_value(self, graph: ComposedGraph, name: str, apart: int = 1) -> int:
        """Value, for this vehicle, of a front-end parameter that increases from vehicle to vehicle, such as a port.

        Args:
            graph: the simulation.
            name: name of the parameter.
            apart: difference between successive vehicles.
        """
        values, namespace = graph.values_of("bridge"), self.member.namespace
        place = number_of_vehicle(graph.vehicles, [one.namespace for one in graph.vehicles].index(namespace))
        counted = {**values, name: number(values, name) + apart * place}
        return int(number(values_of_vehicle(counted, namespace), name))

    def needs_program(self) -> bool:
        """Whether to start the program now; called at short intervals of the flight until the start."""
        return True

    @property
    def activity(self) -> str:
        """Activity before the program's first step."""
        return "starting (compiles the first time)"

    @property
    def hindrance(self) -> str:
        """Reason why the program cannot succeed; empty if there is none."""
        return ""
