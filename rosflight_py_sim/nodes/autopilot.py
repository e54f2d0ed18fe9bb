"""Companion computer of a multirotor: flies a square by commanding attitude and throttle."""

from __future__ import annotations

from typing import ClassVar, cast

from rosflight_py_sim.autopilot.mission import ARRIVAL_RADIUS, LANDING_RADIUS, MISSION_PARAMETERS, Mission, Phase
from rosflight_py_sim.interfaces.multirotor_autopilot import MultirotorAutopilot
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Values


class Autopilot(MultirotorAutopilot):
    """Flies a square."""

    PARAMETERS: ClassVar[ParameterTable] = MultirotorAutopilot.PARAMETERS + MISSION_PARAMETERS
    PHASES = Phase
    WAYPOINT_RADIUS = ARRIVAL_RADIUS
    LANDING_RADIUS = LANDING_RADIUS

    def new_mission(self, values: Values) -> Mission:
        """A square that has not begun."""
        return Mission(values)

    def on_start(self) -> str:
        """Publish the square, and return its duration."""
        mission = cast("Mission", self.mission)
        self.publish_path(mission.route_ned)
        self.publish_route(mission.route_ned)
        return f"taking off, about {mission.nominal_duration_s:.0f} s to fly"


def main() -> None:
    """Run the node."""
    run(Autopilot)


if __name__ == "__main__":
    main()
