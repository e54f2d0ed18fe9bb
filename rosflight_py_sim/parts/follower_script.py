"""Scripted pilot of a vehicle that follows another, and lands when the leader's mission has ended."""

from __future__ import annotations

from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.formation import FormationPhase
from rosflight_py_sim.parts.pilot_script import MissionScript
from rosflight_py_sim.parts.service_script import Script
from rosflight_py_sim.step.mission_topics import MISSION_END
from rosflight_py_sim.step.ports import calls, newest


class FollowerScript(MissionScript):
    """MissionScript that calls autopilot/land when the leader's mission has ended, unless the vehicle already lands.

    Attributes:
        leader: name of the vehicle to follow, from the autopilot's parameter `leader`.
    """

    KEEPS_TO_SETPOINT = False

    services_called = calls(Trigger, *MissionScript.services_called.topics, "autopilot/land")

    def initialise(self) -> None:
        """Wait for the first status."""
        super().initialise()
        self.leader = str(self.autopilot["leader"])
        self._leader_has_ended = False

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
