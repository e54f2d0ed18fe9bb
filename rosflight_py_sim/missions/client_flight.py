"""Mission flown by a client program over the protocol of the vehicle's flight controller."""

from __future__ import annotations

from std_msgs.msg import String

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.ground.parameters import ParameterError, Values
from rosflight_py_sim.missions.client_judge import ClientJudge
from rosflight_py_sim.missions.client_program import ClientProgram
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.step.mission_topics import MISSION_LOG
from rosflight_py_sim.vehicles import ClientMission

DONE = "done"
"""Step that a program prints when its mission is completed; it ends the mission even if the program continues."""

# Number of the program's last lines to show after a failure.
_LAST_LINES = 10


class ClientFlight(Flight):
    """Mission whose program runs in parallel with the simulation; publishes the program's output."""

    judge: ClientJudge

    def __init__(self, mission: ClientMission, task: ClientTask) -> None:
        """Store the mission's settings.

        Raises:
            ParameterError: a limit of acceptance in the vehicle file does not exist, or is not allowed.
        """
        super().__init__(task.member, mission.task, task.JUDGE)
        vehicle = task.member.vehicle
        try:
            task.JUDGE.limits_for(vehicle).checked(mission.limits)
        except ParameterError as error:
            raise ParameterError(f"{vehicle.file}: mission: limits: {error}") from error
        self._flown = mission
        self._task = task
        self._client: ClientProgram | None = None
        self._arguments: list[str] = []
        self._lines: list[str] = []

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the nodes that the task needs; the program starts when the task requires it."""
        self._task.join(graph, namespace)
        super().join(graph, namespace)
        self._publish_line = self.node.publisher(MISSION_LOG)
        self._arguments = [*self._task.arguments(graph), *self._flown.arguments]

    def given_limits(self, graph: ComposedGraph) -> Values:
        """Limits of acceptance in the vehicle file."""
        return self._flown.limits

    @property
    def activity(self) -> str:
        """Last step that the program printed."""
        marks = self.judge.log.marks
        return marks[-1].text if marks else self._task.activity

    @property
    def progress(self) -> float:
        """Share of the program's expected steps."""
        return min(len(self.judge.log.marks) / (self._flown.parts + 1), 0.99)

    @property
    def end(self) -> str | None:
        """None while the program runs and can succeed; then the reason for its failure, empty on success."""
        if self._client is None:
            if self._task.needs_program():
                self._client = ClientProgram(self._flown.program, self._arguments)
            return "" if self.judge.is_done else None
        code = self._client.code
        for line in self._client.lines():
            self._lines.append(line)
            self._publish_line(String(data=line))
        if self._task.hindrance:
            return f"{self.activity}: {self._task.hindrance}"
        if code:
            ended = f"{self.activity}: {self._flown.program.name} exited with code {code}"
            return "\n".join([ended, *self._lines[-_LAST_LINES:]])
        marks = self.judge.log.marks
        done = code == 0 or self.judge.is_done or (marks and marks[-1].text == DONE)
        return "" if done else None

    def close(self) -> None:
        """End the program."""
        if self._client is not None:
            self._client.close()
