"""Companion computer of a multirotor: commands attitude and throttle to follow another vehicle in formation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, cast

from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.formation import (
    FORMATION_PARAMETERS,
    FORMATION_RADIUS,
    FormationMission,
    FormationPhase,
)
from rosflight_py_sim.interfaces.multirotor_autopilot import MultirotorAutopilot
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Values
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState


def leader_namespace(follower: str, leader: str) -> str:
    """Absolute namespace of the leader, from the follower's namespace and the value of the parameter `leader`."""
    return leader if leader.startswith("/") else f"{follower.rstrip('/').rpartition('/')[0]}/{leader}"


class FollowerAutopilot(MultirotorAutopilot):
    """Follows the vehicle `leader` at a constant offset, and lands when the leader has landed.

    The service autopilot/land ends the formation early.
    """

    PARAMETERS: ClassVar[ParameterTable] = MultirotorAutopilot.PARAMETERS + FORMATION_PARAMETERS
    PHASES = FormationPhase
    PLANS_PATH = False
    WAYPOINT_RADIUS = FORMATION_RADIUS

    def __init__(self, **arguments: Any) -> None:
        """Subscribe to the leader's true state, and create the service autopilot/land."""
        super().__init__(**arguments)
        leader = leader_namespace(self.get_namespace(), str(self.values["leader"]))
        self.subscribe(TRUTH_STATE, self._on_leader, leader, qos=CHAIN, needed=True)
        self.create_service(Trigger, "autopilot/land", self._on_land)

    def new_mission(self, values: Values) -> FormationMission:
        """New formation flight, with the leader's states received so far."""
        return FormationMission(values, self._formation if self._mission is not None else None)

    def on_start(self) -> str:
        """Return the leader and the position in the formation."""
        north, east, down = cast("list[float]", self.values["formation_offset"])
        return f"taking off to follow '{self.values['leader']}' {north:g} m north, {east:g} m east, {down:g} m down"

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Report the phase of the mission, with a warning if the leader is lost."""
        for one in super().diagnose(period):
            if self._formation.has_lost_leader:
                one = replace(one, level=Level.WARN, message=f"no state of the leader '{self.values['leader']}'")
            yield one

    @property
    def _formation(self) -> FormationMission:
        return cast("FormationMission", self.mission)

    def _on_leader(self, state: VehicleState) -> None:
        velocity = rotate_to_inertial(*state.quaternion.tolist(), *state.velocity_body.tolist())
        self._formation.add_leader(state.time_s, state.position_ned.tolist(), velocity)

    def _on_land(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._formation.land()
        except RuntimeError as error:
            response.message = str(error)
            return response
        response.success, response.message = True, "stopping, then landing"
        return response


def main() -> None:
    """Run the node."""
    run(FollowerAutopilot)


if __name__ == "__main__":
    main()
