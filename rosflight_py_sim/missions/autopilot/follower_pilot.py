"""Pilot of a vehicle that follows another: makes it land when the leader's mission has ended."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.formation import FormationPhase
from rosflight_py_sim.missions.mission_topics import MISSION_END
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.parts.service_script import Script
from rosflight_py_sim.step.ports import calls, newest


class FollowerPilot(MissionPilot):
    """Also calls autopilot/land when the leader's mission has ended, unless the vehicle lands by itself before."""

    KEEPS_TO_SETPOINT = False

    services_called = calls(Trigger, *MissionPilot.services_called.topics, "autopilot/land")

    def __init__(self, *, leader: str, **arguments: Any) -> None:
        """Create the node; `leader`: absolute namespace of the leader."""
        self.leader = leader
        self._leader_has_ended = False
        super().__init__(**arguments)

    def mission(self) -> Script:
        """Fly in formation until the leader lands or its mission has ended."""
        lands = FormationPhase.STOP.label, FormationPhase.LAND.label, FormationPhase.DONE.label
        yield from super().mission()
        yield lambda: self._leader_has_ended or self.phase in lands
        if self.phase not in lands:
            yield "autopilot/land"

    @newest(MISSION_END, at="leader")
    def _on_leader_end(self, _: String) -> None:
        self._leader_has_ended = True
