"""Task of the flight out and back by ArduPilot or PX4, or by a stand-in if none of them connects."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of, front_end_class, usable_flight_controllers
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.out_and_back.judge import OutAndBackJudge
from rosflight_py_sim.nodes.bridge import Bridge

WAIT_S = 3.0
"""System time without a contact, while the bridge listens, after which the stand-in starts, s.

ArduPilot resends frames once a second, and PX4 tries to connect 2,000 times.
"""


class OutAndBackTask(ClientTask):
    """A flight by an ArduPilot or PX4 that the user has started, or by the mission's program in its place."""

    JUDGE = OutAndBackJudge

    def __init__(self, member: Member) -> None:
        """Check that a program with a port for the vehicle flies it.

        Raises:
            ParameterError: another flight controller flies it.
        """
        super().__init__(member)
        controller = flight_controller_of(member)
        self._front_end = controller.front_end
        self._ports_apart = _ports_apart(self._front_end)
        if not self._ports_apart:
            able = [name for name, one in usable_flight_controllers().items() if _ports_apart(one.front_end)]
            raise ParameterError(
                f"mission out_and_back given for flight controller '{controller.name}'; allowed: {', '.join(able)}"
            )
        self._is_contacted: Callable[[], bool] = lambda: False
        self._end_s, self._waited_for = math.inf, "a program"

    def join(self, graph: ComposedGraph, namespace: str) -> None:
        """Find the front-end of the bridge, which listens already."""
        bridge = graph.node_of("bridge", self.member.namespace)
        assert isinstance(bridge, Bridge)
        front_end = bridge.front_ends[self._front_end]
        assert isinstance(front_end, ActuatorFrontEnd)
        self._waited_for = front_end.peer(front_end.vehicles.index(self.member.namespace))
        self._is_contacted = partial(front_end.is_contacted, front_end.vehicles.index(self.member.namespace))

    def needs_program(self) -> bool:
        """Whether the bridge has listened for some time without a contact by a program."""
        now_s = time.monotonic()
        if self._end_s == math.inf:
            self._end_s = now_s + WAIT_S
        return now_s > self._end_s and not self._is_contacted()

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address and port of the vehicle's bridge."""
        port = str(self.numbered_value(graph, f"{self._front_end}.port", self._ports_apart))
        return ["--linger", "--port", port, *self.address(graph, self._front_end)]

    @property
    def activity(self) -> str:
        """Activity before the first step."""
        return f"waiting for {self._waited_for}"


def _ports_apart(front_end: str) -> int:
    found = front_end_class(front_end) if front_end else None
    return found.PORTS_APART if found is not None and issubclass(found, ActuatorFrontEnd) else 0
