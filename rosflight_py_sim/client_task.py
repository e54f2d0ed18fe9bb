"""What a client program has to do with a vehicle, as the simulation sees it: recorded, judged and shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from rich.console import Console

from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.mission_recorder import MissionRecorder
from rosflight_py_sim.recording.client_log import ClientLog, Mark
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import Vehicle


class ClientRecorder(MissionRecorder):
    """Writes down what the program does with the vehicle.

    Attributes:
        log: rows, and what the program says.
    """

    def __init__(self, vehicle: Vehicle, log: ClientLog, **arguments: Any) -> None:
        """Listen."""
        self.log = log
        super().__init__(vehicle, **arguments)

    @property
    def is_on(self) -> bool:
        """Whether the program has said something."""
        return bool(self.log.marks)

    def hear(self, text: str) -> None:
        """Take down what the program says, now."""
        self.log.marks.append(Mark(self.get_clock().now().nanoseconds / NANOSECONDS, text))


class ClientTask(ABC):
    """One kind of task.

    Attributes:
        vehicle: who has it.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        """Look whether the vehicle can do it.

        Raises:
            ParameterError: it has been left without what the program steers by.
        """
        self.vehicle = vehicle

    @abstractmethod
    def join(self, graph: ComposedGraph, namespace: str) -> ClientRecorder:
        """Create whoever records and helps, in the graph; the recorder.

        Raises:
            ParameterError: the task cannot be done in it.
        """

    @abstractmethod
    def arguments(self, graph: ComposedGraph) -> list[str]:
        """What the program is started with, so that it finds the vehicle."""

    @property
    def doing(self) -> str:
        """What goes on before the program has said something."""
        return "starting (compiles the first time)"

    @property
    def hindrance(self) -> str:
        """Why the program can never do it; empty: nothing is in its way."""
        return ""

    def listen(self, line: str) -> None:  # noqa: B027
        """Hear a line of the program that does not tell what it does."""

    @abstractmethod
    def report(self, console: Console, picture: Path) -> bool:
        """Print a table and draw a picture; whether the task was done, by the truth, whatever the program thinks."""
