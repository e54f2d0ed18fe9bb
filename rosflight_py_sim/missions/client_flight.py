"""A mission flown by a client program over the protocol of the vehicle's flight controller."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.missions.client_program import ClientProgram
from rosflight_py_sim.missions.client_task import ClientRecorder, ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.vehicles import ClientMission

# Number of the program's last lines to show after a failure.
_LAST_LINES = 10


class ClientFlight(Flight):
    """Runs a mission's program beside the simulation, and records its output.

    The task evaluates the result from the true state, whatever the program reports.
    """

    def __init__(self, mission: ClientMission, task: ClientTask) -> None:
        """Store the mission's settings."""
        super().__init__(task.vehicle)
        self._mission = mission
        self._task = task
        self.settings |= mission.settings
        self._client: ClientProgram | None = None
        self._recorder: ClientRecorder
        self._lines: list[str] = []
        self._code: int | None = None

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the nodes that the task needs, and start the program."""
        self._recorder = self._task.join(graph, namespace)
        self._client = ClientProgram(self._mission.program, [*self._task.arguments(graph), *self._mission.arguments])

    @property
    def doing(self) -> str:
        """Last step that the program printed."""
        marks = self._recorder.log.marks
        return marks[-1].text if marks else self._task.doing

    @property
    def progress(self) -> float:
        """Share of the program's expected steps."""
        finished = len(self._recorder.log.marks) / (self._mission.parts + 1)
        return 1.0 if self._code == 0 else min(finished, 0.99)

    @property
    def over(self) -> bool:
        """Whether the program has ended, or cannot continue."""
        assert self._client is not None
        self._code = self._client.code
        for line in self._client.lines():
            self._lines.append(line)
            self._recorder.publish_line(line)
        all_logged = self._recorder.line_count == len(self._lines)
        return (self._code is not None and all_logged) or bool(self._task.hindrance)

    @property
    def failure(self) -> str:
        """Last step and reason, if there is nothing to report; else empty."""
        if len(self._recorder.log) >= 2:
            return ""
        if self._task.hindrance:
            return f"{self.doing}: {self._task.hindrance}"
        return "\n".join([f"{self.doing}: {self._mission.program.name} ended with {self._code}", *self._last_lines])

    @property
    def _last_lines(self) -> list[str]:
        return self._lines[-_LAST_LINES:]

    def report(self, console: Console, picture: Path) -> bool:
        """Let the task evaluate and show the mission."""
        if self._task.hindrance:
            console.print(
                f"[red]failed[/red] while {self.doing}: {self._task.hindrance}", highlight=False, soft_wrap=True
            )
        elif self._code:
            lines = "\n".join(self._last_lines)
            console.print(f"[red]{self._mission.program.name} failed[/red]:\n{lines}", highlight=False, soft_wrap=True)
        return self._task.report(console, picture)

    def close(self) -> None:
        """End the program."""
        if self._client is not None:
            self._client.close()
