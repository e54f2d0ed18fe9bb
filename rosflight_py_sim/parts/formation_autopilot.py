"""Autopilot of a multirotor that follows another vehicle in formation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, cast

from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.formation import (
    FORMATION_PARAMETERS,
    FORMATION_RADIUS,
    FormationMission,
    FormationPhase,
)
from rosflight_py_sim.ground.parameters import ParameterTable, Values
from rosflight_py_sim.parts.follower_script import FollowerScript
from rosflight_py_sim.parts.multirotor_autopilot import MultirotorAutopilot
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.ports import newest, service
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState


class FormationAutopilot(MultirotorAutopilot[FormationMission]):
    """Follows the vehicle `leader` at a constant offset, and lands when the leader has landed.

    The service autopilot/land ends the formation early.
    """

    PARAMETERS: ClassVar[ParameterTable] = MultirotorAutopilot.PARAMETERS + FORMATION_PARAMETERS
    PHASES = FormationPhase
    PLANS_PATH = False
    WAYPOINT_RADIUS = FORMATION_RADIUS
    PILOT = FollowerScript

    @property
    def leader(self) -> str:
        """Vehicle to follow."""
        return str(self.values["leader"])

    def new_mission(self, values: Values) -> FormationMission:
        """New formation flight, with the leader's states received so far."""
        return FormationMission(values, getattr(self, "mission", None))

    def on_start(self) -> str:
        """Return the leader and the position in the formation."""
        north, east, down = cast("list[float]", self.values["formation_offset"])
        return f"taking off to follow '{self.leader}' {north:g} m north, {east:g} m east, {down:g} m down"

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Report the phase of the mission, with a warning if the leader is lost."""
        for one in super().diagnose(period):
            if self.mission.has_lost_leader:
                one = replace(one, level=Level.WARN, message=f"no state of the leader '{self.leader}'")
            yield one

    @newest(TRUTH_STATE, at="leader", needed=True)
    def _on_leader(self, state: VehicleState) -> None:
        velocity = rotate_to_inertial(*state.quaternion.tolist(), *state.velocity_body.tolist())
        self.mission.add_leader(state.time_s, state.position_ned.tolist(), velocity)

    @service(Trigger, "autopilot/land")
    def _on_land(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self.mission.land()
        except RuntimeError as error:
            response.message = str(error)
            return response
        response.success, response.message = True, "stopping, then landing"
        return response
