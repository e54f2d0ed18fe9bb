"""Mission flown by a client program over the protocol of the vehicle's flight controller."""

from __future__ import annotations

from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.client_program import ClientProgram
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.missions.mission_topics import MISSION_LOG
from rosflight_py_sim.vehicles import ClientMission

# Number of the program's last lines to show after a failure.
_LAST_LINES = 10


class ClientFlight(Flight):
    """Runs a mission's program in parallel with the simulation, and publishes its output."""

    judge: ClientJudge

    def __init__(self, mission: ClientMission, task: ClientTask) -> None:
        """Store the mission's settings."""
        super().__init__(task.vehicle, task.JUDGE)
        self._mission = mission
        self._task = task
        self.settings |= mission.settings
        self._client: ClientProgram | None = None
        self._lines: list[str] = []
        self._code: int | None = None

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the nodes that the task needs, and start the program."""
        self._task.join(graph, namespace)
        super().join(graph, namespace)
        self._publish_line = self.node.publisher(MISSION_LOG)
        self._client = ClientProgram(self._mission.program, [*self._task.arguments(graph), *self._mission.arguments])

    @property
    def activity(self) -> str:
        """Last step that the program printed."""
        marks = self.judge.log.marks
        return marks[-1].text if marks else self._task.activity

    @property
    def progress(self) -> float:
        """Share of the program's expected steps."""
        finished = len(self.judge.log.marks) / (self._mission.parts + 1)
        return 1.0 if self._code == 0 else min(finished, 0.99)

    @property
    def end(self) -> str | None:
        """None while the program runs and can succeed; then the reason of its failure, empty for none."""
        assert self._client is not None
        self._code = self._client.code
        for line in self._client.lines():
            self._lines.append(line)
            self._publish_line(String(data=line))
        if self._task.hindrance:
            return f"{self.activity}: {self._task.hindrance}"
        if self._code:
            ended = f"{self.activity}: {self._mission.program.name} ended with {self._code}"
            return "\n".join([ended, *self._lines[-_LAST_LINES:]])
        return None if self._code is None else ""

    def close(self) -> None:
        """End the program."""
        if self._client is not None:
            self._client.close()
