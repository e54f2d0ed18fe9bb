"""A mission that a client program steers over the protocol of the vehicle's flight controller, as a user's would."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.missions.client_program import ClientProgram
from rosflight_py_sim.missions.client_task import ClientRecorder, ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.vehicles import ClientMission

# So many of its last lines are shown when it gives up.
_LAST_LINES = 10


class ClientFlight(Flight):
    """Runs the program of a mission beside the simulation, and listens to what it says.

    Whether the mission was a success is judged by the task, not by what the program thinks.
    """

    def __init__(self, mission: ClientMission, task: ClientTask) -> None:
        """Take the mission's settings."""
        super().__init__(task.vehicle)
        self._mission = mission
        self._task = task
        self.settings |= mission.settings
        self._client: ClientProgram | None = None
        self._recorder: ClientRecorder
        self._said: list[str] = []
        self._code: int | None = None

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create whom the task needs, and start the program."""
        self._recorder = self._task.join(graph, namespace)
        self._client = ClientProgram(self._mission.program, [*self._task.arguments(graph), *self._mission.arguments])

    @property
    def doing(self) -> str:
        """What the program said last."""
        marks = self._recorder.log.marks
        return marks[-1].text if marks else self._task.doing

    @property
    def progress(self) -> float:
        """Share of what the program has to say."""
        heard = len(self._recorder.log.marks) / (self._mission.parts + 1)
        return 1.0 if self._code == 0 else min(heard, 0.99)

    @property
    def over(self) -> bool:
        """Whether the program has ended, or cannot go on."""
        assert self._client is not None
        self._code = self._client.code
        for line in self._client.lines():
            self._said.append(line)
            self._recorder.publish_line(line)
        all_logged = self._recorder.line_count == len(self._said)
        return (self._code is not None and all_logged) or bool(self._task.hindrance)

    @property
    def failure(self) -> str:
        """What the program said last, where it did not get so far that there is something to show."""
        if len(self._recorder.log) >= 2:
            return ""
        if self._task.hindrance:
            return f"{self.doing}: {self._task.hindrance}"
        return "\n".join([f"{self.doing}: {self._mission.program.name} ended with {self._code}", *self._last_words])

    @property
    def _last_words(self) -> list[str]:
        return self._said[-_LAST_LINES:]

    def report(self, console: Console, picture: Path) -> bool:
        """Have the task judged and shown."""
        if self._task.hindrance:
            console.print(
                f"[red]given up[/red] while {self.doing}: {self._task.hindrance}", highlight=False, soft_wrap=True
            )
        elif self._code:
            said = "\n".join(self._last_words)
            console.print(f"[red]{self._mission.program.name} gave up[/red]:\n{said}", highlight=False, soft_wrap=True)
        return self._task.report(console, picture)

    def close(self) -> None:
        """End the program."""
        if self._client is not None:
            self._client.close()
