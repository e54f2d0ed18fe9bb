"""Task of the skywriting: letters flown as waypoints through uThere's protocol, and an excursion out of the cage."""

from __future__ import annotations

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.skywriting.judge import SkywritingJudge
from rosflight_py_sim.nodes.pilot import Pilot


class SkywritingTask(ClientTask):
    """Skywriting by a client of uThere's protocol, after a pilot has enabled offboard control."""

    JUDGE = SkywritingJudge

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Create the pilot."""
        if flight_controller_of(self.member).front_end != "uthere":
            raise ParameterError(f"vehicle '{self.member.vehicle.name}' is not flown by uThere Ground Control")
        dynamics = graph.values_of("dynamics", self.member.namespace)
        self._pilot = graph.join(Pilot, dynamics=dynamics, namespace=namespace)

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address of Ground Control, and the option to print waypoints."""
        bridge = graph.values_of("bridge", self.member.namespace)
        ports = [str(bridge[f"uthere.udp_port_{way}"]) for way in ("in", "out")]
        plane = str(self.numbered_value(graph, "uthere.plane_id"))
        return ["--echo", "--plane", plane, "--ports", *ports, *self.address(graph, "uthere")]

    @property
    def activity(self) -> str:
        """Activity of the pilot."""
        return self._pilot.activity

    @property
    def hindrance(self) -> str:
        """Reason of the pilot's failure."""
        return "" if self._pilot.failure is None else str(self._pilot.failure)
