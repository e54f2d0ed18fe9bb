"""Task of the dive: pass a gate and surface in a ring, guided by cameras."""

from __future__ import annotations

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.dive.judge import DiveJudge
from rosflight_py_sim.vehicles import CAMERA


class DiveTask(ClientTask):
    """A dive by a client of the AUV protocol."""

    JUDGE = DiveJudge

    def __init__(self, member: Member) -> None:
        """Check that the vehicle has a camera.

        Raises:
            ParameterError: the vehicle has no camera.
        """
        super().__init__(member)
        if CAMERA not in member.vehicle.extra_nodes:
            raise ParameterError(f"vehicle '{member.vehicle.name}' given without camera, which its mission needs")

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address and ports of the AUV protocol's server."""
        bridge = graph.values_of("bridge", self.member.namespace)
        ports = [str(bridge[f"auv_zeromq.{name}_port"]) for name in ("image", "thruster", "telemetry")]
        number = str(self.numbered_value(graph, "auv_zeromq.id"))
        return ["--id", number, "--ports", *ports, *self.address(graph, "auv_zeromq")]
