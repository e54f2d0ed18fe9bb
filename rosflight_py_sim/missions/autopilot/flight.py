"""A mission flown by the vehicle's autopilot, and the pilot that starts it."""

from __future__ import annotations

from std_msgs.msg import Float64

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.interfaces.step_topics import AUTOPILOT_PROGRESS
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge, autopilot_class
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.vehicles import Vehicle


class AutopilotFlight(Flight):
    """Takes off, and flies the mission of the vehicle's autopilot until it ends."""

    judge: AutopilotJudge

    def __init__(self, vehicle: Vehicle) -> None:
        """Add the autopilot to the nodes."""
        super().__init__(vehicle, AutopilotJudge)
        self.executables = (vehicle.autopilot,)
        self._flown = 0.0

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create judge and pilot."""
        super().join(graph, namespace)
        self.node.subscribe(AUTOPILOT_PROGRESS, self._on_progress)
        self._pilot = graph.join(MissionPilot, lands=autopilot_class(self.vehicle).LANDS, namespace=namespace)

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
