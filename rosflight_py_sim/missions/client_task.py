"""What a client program has to do with a vehicle, as the simulation sees it: recorded, judged and shown."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from rich.console import Console
from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.interfaces.step_topics import StepTopic
from rosflight_py_sim.missions.client_log import ClientLog, Mark
from rosflight_py_sim.missions.mission_recorder import MissionRecorder
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.vehicles import Vehicle

MISSION_LOG = StepTopic[String]("mission/log", String)
"""Lines that the client program of a mission prints."""

# A program prints what it does as "  12.3 s  dive".
_STEP = re.compile(r"\s*[\d.]+ s\s+(.*)")


class ClientRecorder(MissionRecorder):
    """Logs what the program does with the vehicle.

    Attributes:
        log: rows, and the steps of the mission that the program prints.
        line_count: number of lines received on MISSION_LOG.
    """

    def __init__(self, vehicle: Vehicle, log: ClientLog, **arguments: Any) -> None:
        """Listen."""
        self.log = log
        self.line_count = 0
        super().__init__(vehicle, **arguments)
        self._publish_line = self.publisher(MISSION_LOG)
        self.subscribe(MISSION_LOG, self._on_line)

    def publish_line(self, line: str) -> None:
        """Publish a line of the program on MISSION_LOG."""
        self._publish_line(String(data=line))

    @property
    def is_on(self) -> bool:
        """Whether the program has begun a step."""
        return bool(self.log.marks)

    def begin(self, step: str) -> None:
        """Log that the program begins a step, now."""
        self.log.marks.append(Mark(self.get_clock().now().nanoseconds / NANOSECONDS, step))

    def take(self, line: str) -> None:
        """Take a line of the program that begins no step."""

    def _on_line(self, message: String) -> None:
        self.line_count += 1
        step = _STEP.fullmatch(message.data)
        if step:
            self.begin(step[1])
        else:
            self.take(message.data)


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

    @abstractmethod
    def report(self, console: Console, picture: Path) -> bool:
        """Print a table and draw a picture; whether the task was done, by the truth, whatever the program thinks."""
