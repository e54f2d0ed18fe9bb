"""Missions and controllers of the autopilot nodes, for flights without ROS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.fixedwing_mission import FixedwingMission
from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.flight_state import flight_state
from rosflight_py_sim.autopilot.mission import Mission
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.path_planning import planned_path, polyline
from rosflight_py_sim.autopilot.position_controller import PositionController
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoints import WaypointError, read_flight_plan
from rosflight_py_sim.interfaces.autopilot_interface import AutopilotInterface
from rosflight_py_sim.interfaces.multirotor_autopilot import guide_to_setpoint
from rosflight_py_sim.nodes.autopilot import Autopilot
from rosflight_py_sim.nodes.fixedwing_autopilot import SPACING_M, FixedwingAutopilot
from rosflight_py_sim.parameters import ParameterError, Values
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.resources import share_directory
from rosflight_py_sim.step.vehicle_state import VehicleState


class DirectAutopilot(ABC):
    """A mission and the controller that flies it."""

    @abstractmethod
    def __init__(self, values: Values) -> None:
        """Build both from the parameters of the autopilot's node.

        Raises:
            ParameterError: the values do not fit together.
        """

    @abstractmethod
    def start(self, state: VehicleState, wind_ned: Sequence[float]) -> None:
        """Begin the mission.

        Raises:
            RuntimeError: the mission cannot begin now, with the reason.
        """

    @abstractmethod
    def guide(self, state: VehicleState, wind_ned: Sequence[float], dt: float) -> AutopilotCommand:
        """Command for a state and the wind (m/s, NED); `dt` is the time since the previous call, s; 0 in the first."""

    @property
    @abstractmethod
    def phase(self) -> MissionPhase:
        """Phase of the mission."""

    @property
    @abstractmethod
    def path_ned(self) -> Sequence[Vector3]:
        """Planned path (n, 3), m; the same object until it changes."""

    @property
    @abstractmethod
    def route_ned(self) -> Sequence[Vector3]:
        """Waypoints to pass, in order (n, 3), m; the same object until they change."""


class SquareAutopilot(DirectAutopilot):
    """Flies a multirotor's square, as the node Autopilot does."""

    def __init__(self, values: Values) -> None:
        self._mission, self._controller = Mission(values), PositionController(values)
        self._path: Sequence[Vector3] = ()

    def start(self, state: VehicleState, wind_ned: Sequence[float]) -> None:
        mission = self._mission
        _, _, yaw = euler_from_quaternion(*state.quaternion.tolist())
        mission.start(state.time_s, state.position_ned.tolist(), yaw)
        self._path = mission.route_ned

    def guide(self, state: VehicleState, wind_ned: Sequence[float], dt: float) -> AutopilotCommand:
        return guide_to_setpoint(self._mission, self._controller, state, dt)

    @property
    def phase(self) -> MissionPhase:
        return self._mission.phase

    @property
    def path_ned(self) -> Sequence[Vector3]:
        return self._path

    @property
    def route_ned(self) -> Sequence[Vector3]:
        return self._path


class WaypointAutopilot(DirectAutopilot):
    """Flies a fixed wing's waypoints, as the node FixedwingAutopilot does."""

    def __init__(self, values: Values) -> None:
        try:
            plan = read_flight_plan(share_directory() / "config" / str(values["waypoint_file"]))
            planned_path(plan)
        except WaypointError as error:
            raise ParameterError(f"parameter 'waypoint_file': {error}") from error
        self._mission, self._controller = FixedwingMission(values, plan), FixedwingTargetController(values)
        self._mission.configure(values)
        self._segments: object = ()
        self._path: Sequence[Vector3] = ()

    def start(self, state: VehicleState, wind_ned: Sequence[float]) -> None:
        self._mission.start(flight_state(state.truth.tolist(), wind_ned))

    def guide(self, state: VehicleState, wind_ned: Sequence[float], dt: float) -> AutopilotCommand:
        return self._mission.update(flight_state(state.truth.tolist(), wind_ned), self._controller, dt)

    @property
    def phase(self) -> MissionPhase:
        return self._mission.phase

    @property
    def path_ned(self) -> Sequence[Vector3]:
        segments = self._mission.path
        if segments is not self._segments:
            self._segments, self._path = segments, polyline(segments, SPACING_M)
        return self._path

    @property
    def route_ned(self) -> Sequence[Vector3]:
        return self._mission.route_ned


DIRECT_AUTOPILOTS: Mapping[type[AutopilotInterface], type[DirectAutopilot]] = {
    Autopilot: SquareAutopilot,
    FixedwingAutopilot: WaypointAutopilot,
}
"""Autopilots that fly without ROS, by the class of their node."""
