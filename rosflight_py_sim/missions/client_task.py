"""Task of a client program: its judge, and what the program needs in the graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.vehicles import Vehicle


class ClientTask(ABC):
    """A kind of task for a client program.

    Class attributes:
        JUDGE: class of the judge, created as `JUDGE(vehicle, values)`.

    Attributes:
        vehicle: the vehicle that performs it.
    """

    JUDGE: ClassVar[type[ClientJudge]]

    def __init__(self, vehicle: Vehicle) -> None:
        """Check that the vehicle can perform the task.

        Raises:
            ParameterError: the vehicle lacks a node that the program depends on.
        """
        self.vehicle = vehicle

    def join(self, graph: ComposedGraph, namespace: str) -> None:  # noqa: B027
        """Create further nodes in the graph.

        Raises:
            ParameterError: the task cannot be performed in the graph.
        """

    @abstractmethod
    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Arguments for the program: how to reach the vehicle."""

    @property
    def activity(self) -> str:
        """Activity before the program's first step."""
        return "starting (compiles the first time)"

    @property
    def hindrance(self) -> str:
        """Reason why the program cannot succeed; empty if there is none."""
        return ""
