"""Task of a client program: recording, evaluation by the true state, and report."""

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
"""Topic of the lines that a mission's client program prints."""

# Programs print each step as "  12.3 s  dive".
_STEP = re.compile(r"\s*[\d.]+ s\s+(.*)")


class ClientRecorder(MissionRecorder):
    """Logs a mission flown by a client program.

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
        """Log that the program begins a step now."""
        self.log.marks.append(Mark(self.get_clock().now().nanoseconds / NANOSECONDS, step))

    def take(self, line: str) -> None:
        """Process a line of the program that does not begin a step."""

    def _on_line(self, message: String) -> None:
        self.line_count += 1
        step = _STEP.fullmatch(message.data)
        if step:
            self.begin(step[1])
        else:
            self.take(message.data)


class ClientTask(ABC):
    """A kind of task for a client program.

    Attributes:
        vehicle: the vehicle that performs it.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        """Check that the vehicle can perform the task.

        Raises:
            ParameterError: the vehicle lacks a node that the program depends on.
        """
        self.vehicle = vehicle

    @abstractmethod
    def join(self, graph: ComposedGraph, namespace: str) -> ClientRecorder:
        """Create the recorder and further nodes in the graph; return the recorder.

        Raises:
            ParameterError: the task cannot be performed in the graph.
        """

    @abstractmethod
    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Arguments with which the program finds the vehicle."""

    @property
    def doing(self) -> str:
        """Activity before the program's first step."""
        return "starting (compiles the first time)"

    @property
    def hindrance(self) -> str:
        """Why the program can never succeed; empty if nothing prevents it."""
        return ""

    @abstractmethod
    def report(self, console: Console, picture: Path) -> bool:
        """Print a table and draw a picture; return whether the task succeeded, according to the true state."""
