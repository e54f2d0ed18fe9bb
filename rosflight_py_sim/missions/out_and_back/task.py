"""Task of the flight out and back by ArduPilot, or by a stand-in if ArduPilot does not connect."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from rosflight_py_sim.bridge.ardupilot_front_end import PORTS_APART, ArduPilotFrontEnd
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.out_and_back.judge import OutAndBackJudge
from rosflight_py_sim.nodes.bridge import Bridge

WAIT_S = 3.0
"""System time without a frame, while the bridge listens, after which the stand-in starts, s.

ArduPilot resends frames once a second.
"""


class OutAndBackTask(ClientTask):
    """A flight by an ArduPilot that the user has started, or by the mission's program in its place."""

    JUDGE = OutAndBackJudge

    def __init__(self, member: Member) -> None:
        """Check that ArduPilot flies the vehicle.

        Raises:
            ParameterError: another flight controller flies it.
        """
        super().__init__(member)
        controller = flight_controller_of(member)
        if controller.front_end != "ardupilot":
            raise ParameterError(
                f"mission out_and_back given for flight controller '{controller.name}'; allowed: ardupilot"
            )
        self._is_contacted: Callable[[], bool] = lambda: False
        self._end_s = math.inf

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Find the front-end of the bridge, which listens already."""
        bridge = graph.node_of("bridge", self.member.namespace)
        assert isinstance(bridge, Bridge)
        front_end = bridge.front_ends["ardupilot"]
        assert isinstance(front_end, ArduPilotFrontEnd)
        self._is_contacted = partial(front_end.is_contacted, front_end.vehicles.index(self.member.namespace))

    def needs_program(self) -> bool:
        """Whether the bridge has listened for some time and no ArduPilot has sent a frame, not even an unread one."""
        now_s = time.monotonic()
        if self._end_s == math.inf:
            self._end_s = now_s + WAIT_S
        return now_s > self._end_s and not self._is_contacted()

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address and port of the vehicle's bridge."""
        port = str(self.numbered_value(graph, "ardupilot.port", PORTS_APART))
        return ["--linger", "--port", port, *self.address(graph, "ardupilot")]

    @property
    def activity(self) -> str:
        """Activity before the first step."""
        return "waiting for ArduPilot"
