"""Task of the flight out and back by ArduPilot, or by a stand-in if ArduPilot does not connect."""

from __future__ import annotations

import time

from rosflight_py_sim.bridge.ardupilot_front_end import PORTS_APART
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.out_and_back.judge import OutAndBackJudge
from rosflight_py_sim.parameters import ParameterError

# System time without a step after which the stand-in starts, s. ArduPilot resends frames once a second.
_WAIT_S = 3.0

# Simulated time from which on ArduPilot is connected, s: without ArduPilot, no step is taken.
_CONNECTED_S = 0.01


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
        self._end_s = time.monotonic() + _WAIT_S

    def needs_program(self, time_s: float) -> bool:
        """Whether no ArduPilot has connected in time."""
        return time_s < _CONNECTED_S and time.monotonic() > self._end_s

    def arguments(self, graph: ComposedGraph) -> list[str]:
        """Address and port of the vehicle's bridge."""
        bridge = graph.values_of("bridge", self.member.namespace)
        address = str(bridge["ardupilot.address"])
        arguments = ["--linger", "--port", str(self.numbered_value(graph, "ardupilot.port", PORTS_APART))]
        # A server on all addresses is also reachable at the program's default address.
        return arguments if address == "0.0.0.0" else [*arguments, "--address", address]

    @property
    def activity(self) -> str:
        """Activity before the first step."""
        return "waiting for ArduPilot"
