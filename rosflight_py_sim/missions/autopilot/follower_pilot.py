"""Pilot of a vehicle that follows another: makes it land when the leader's mission has ended."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import String

from rosflight_py_sim.autopilot.formation import FormationPhase
from rosflight_py_sim.missions.mission_topics import MISSION_END
from rosflight_py_sim.nodes.pilot import MissionPilot
from rosflight_py_sim.nodes.pilot_script import Script


class FollowerPilot(MissionPilot):
    """Also calls autopilot/land when the leader's mission has ended, unless the vehicle lands by itself before."""

    SERVICES = (*MissionPilot.SERVICES, "autopilot/land")
    KEEPS_TO_SETPOINT = False

    def __init__(self, *, leader: str, **arguments: Any) -> None:
        """Create the node; `leader`: absolute namespace of the leader."""
        self._leader_has_ended = False
        super().__init__(**arguments)
        self.subscribe(MISSION_END, self._on_leader_end, leader)

    def mission(self) -> Script:
        """Fly in formation until the leader lands or its mission has ended."""
        lands = FormationPhase.STOP.label, FormationPhase.LAND.label, FormationPhase.DONE.label
        yield from super().mission()
        yield lambda: self._leader_has_ended or self.phase in lands
        if self.phase not in lands:
            yield "autopilot/land"

    def _on_leader_end(self, _: String) -> None:
        self._leader_has_ended = True
