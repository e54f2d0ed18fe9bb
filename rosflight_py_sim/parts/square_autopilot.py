"""Autopilot of a multirotor that flies a square."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.autopilot.mission import ARRIVAL_RADIUS, LANDING_RADIUS, MISSION_PARAMETERS, Mission, Phase
from rosflight_py_sim.ground.parameters import ParameterTable, Values
from rosflight_py_sim.parts.multirotor_autopilot import MultirotorAutopilot


class SquareAutopilot(MultirotorAutopilot[Mission]):
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
        route_ned = self.mission.route_ned
        self.publish_path(route_ned)
        self.publish_route(route_ned)
        return f"taking off, about {self.mission.nominal_duration_s:.0f} s to fly"
