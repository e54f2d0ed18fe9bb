"""Mission flown by the vehicle's autopilot, and the pilot that starts it."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import Float64

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge, autopilot_class
from rosflight_py_sim.missions.flight import AUTOPILOT, Flight
from rosflight_py_sim.parts.pilot_script import AutopilotScript
from rosflight_py_sim.step.topics import AUTOPILOT_PROGRESS


class AutopilotFlight(Flight):
    """Takes off, and flies the mission of the vehicle's autopilot until it ends."""

    judge: AutopilotJudge

    def __init__(self, member: Member) -> None:
        """Fly the mission of the vehicle's autopilot, which is one of the nodes."""
        super().__init__(member, AUTOPILOT, AutopilotJudge)
        self._flown = 0.0
        self._pilot: AutopilotScript

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create judge and pilot."""
        super().join(graph, namespace)
        self.node.subscribe(AUTOPILOT_PROGRESS, self._on_progress)
        pilot: Any = node_of(autopilot_class(self.member.vehicle).PILOT)
        values = {name: graph.values_of(name, self.member.namespace) for name in ("dynamics", "autopilot")}
        self._pilot = graph.join(pilot, **values, namespace=namespace)

    def given_limits(self, graph: ComposedGraph) -> Values:
        """Limits of acceptance, which are parameters of the autopilot."""
        values = graph.values_of("autopilot", self.member.namespace)
        return {limit.name: values[limit.name] for limit in AutopilotJudge.limits_for(self.member.vehicle)}

    @property
    def activity(self) -> str:
        """Activity of the pilot or the autopilot."""
        return self._pilot.activity

    @property
    def progress(self) -> float:
        """Completed share of the mission."""
        return 1.0 if self._pilot.done else self._flown

    @property
    def end(self) -> str | None:
        """None until the pilot has ended; then the reason of its failure, empty for none."""
        if self._pilot.failure is not None:
            return str(self._pilot.failure)
        # The last row is added shortly after the pilot receives the end of the mission.
        return "" if self._pilot.done and self.judge.log.is_completed else None

    def _on_progress(self, message: Float64) -> None:
        self._flown = message.data
