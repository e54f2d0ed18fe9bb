"""Autopilot of an underwater vehicle that follows a square."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from std_msgs.msg import String

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.surge_guidance import SURGE_GUIDANCE_PARAMETERS, SurgeGuidance
from rosflight_py_sim.autopilot.underwater_body import UNDERWATER_BODY_PARAMETERS, UnderwaterBody
from rosflight_py_sim.autopilot.underwater_mission import (
    CORNER_RADIUS,
    UNDERWATER_MISSION_PARAMETERS,
    UnderwaterMission,
    UnderwaterPhase,
)
from rosflight_py_sim.ground.parameters import ParameterTable, Value
from rosflight_py_sim.parts.autopilot import AutopilotPart, MissionAutopilot
from rosflight_py_sim.parts.auv_controller import RELEASED
from rosflight_py_sim.parts.underwater_script import UnderwaterScript
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.step.ports import newest, output, polled
from rosflight_py_sim.step.topics import HOLD_DOING, HOLD_SETPOINT, TRUTH_WIND, NamedNumbers, WindSample
from rosflight_py_sim.step.vehicle_state import VehicleState

_NAMES = ("depth", "yaw", "surge")


class UnderwaterCommand(NamedTuple):
    """Share of the full surge force (-1 to 1), target position (m) and yaw (rad)."""

    surge: float
    position_ned: Vector3
    yaw_rad: float


class UnderwaterAutopilot(MissionAutopilot[UnderwaterMission]):
    """Dives, follows a square and stays at its first corner: publishes hold/setpoint from the true state and current.

    The flight controller must hold (service hold/here) before autopilot/start is called. Sway is not used.
    """

    PARAMETERS: ClassVar[ParameterTable] = (
        AutopilotPart.PARAMETERS
        + UNDERWATER_MISSION_PARAMETERS
        + SURGE_GUIDANCE_PARAMETERS
        + UNDERWATER_BODY_PARAMETERS
    )
    PHASES = UnderwaterPhase
    WAYPOINT_RADIUS = CORNER_RADIUS
    PILOT = UnderwaterScript

    send_command = output(HOLD_SETPOINT)
    take_doing = polled(HOLD_DOING)
    current = newest(TRUTH_WIND, initial=WindSample(-1, (0.0, 0.0, 0.0)))

    _guidance: SurgeGuidance | None = None
    _doing: String | None = None

    def configure(self, values: dict[str, Value]) -> None:
        """Build the guidance; a mission under way keeps its plan."""
        guidance = SurgeGuidance(values, UnderwaterBody(values))
        if self._guidance is not None:
            guidance.yaw = self._guidance.yaw
        self._guidance = guidance
        if not hasattr(self, "mission"):
            self.mission = UnderwaterMission(values)

    def hindrance(self) -> str:
        """A vehicle that is released ignores the set-points."""
        self._doing = self.take_doing() or self._doing
        released = self._doing is not None and self._doing.data == RELEASED
        return f"the vehicle is {RELEASED}: call hold/here before autopilot/start" if released else ""

    def start_mission(self, state: VehicleState) -> str:
        """Dive at the current position.

        Raises:
            RuntimeError: the mission is under way.
        """
        if self.mission.is_under_way:
            raise RuntimeError(f"the mission is under way: {self.mission.phase.label}")
        assert self._guidance is not None
        _, _, self._guidance.yaw = euler_from_quaternion(*state.quaternion.tolist())
        mission = UnderwaterMission(self.values)
        mission.start(state.position_ned.tolist())
        self.mission = mission
        self.publish_path(mission.route_ned)
        self.publish_route(mission.route_ned)
        return f"diving, about {mission.nominal_duration_s:.0f} s to go"

    def guide(self, state: VehicleState, dt: float) -> UnderwaterCommand:
        """Depth, yaw and surge that lead to the moving set-point."""
        assert self._guidance is not None
        north, east, down, qw, qx, qy, qz, ahead = state.truth[:8].tolist()
        setpoint = self.mission.setpoint((north, east, down), dt)
        _, _, yaw = euler_from_quaternion(qw, qx, qy, qz)
        if self.mission.phase is UnderwaterPhase.WAIT:
            return UnderwaterCommand(0.0, setpoint.position_ned, yaw)
        surge = self._guidance.surge(setpoint, (north, east, down), ahead, yaw, self.current.velocity_ned)
        return UnderwaterCommand(surge, setpoint.position_ned, self._guidance.yaw)

    def give_command(self, time_ns: int, guided: UnderwaterCommand) -> None:
        """Send depth, yaw and surge, unless the mission has not begun."""
        if self.mission.phase is not UnderwaterPhase.WAIT:
            depth = max(guided.position_ned[2], 0.0)
            self.send_command(NamedNumbers(time_ns, _NAMES, (depth, guided.yaw_rad, guided.surge)))
