"""Autopilot of a fixed wing that flies waypoints."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np
from nav_msgs.msg import Path as PathMessage
from numpy.typing import NDArray

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.fixedwing_mission import (
    FIXEDWING_MISSION_PARAMETERS,
    TOUCH_DOWN_RADIUS,
    WAYPOINT_HEIGHT_ERROR,
    WAYPOINT_RADIUS,
    FixedwingMission,
    FixedwingPhase,
)
from rosflight_py_sim.autopilot.fixedwing_target_controller import (
    FIXEDWING_TARGET_PARAMETERS,
    FixedwingTargetController,
)
from rosflight_py_sim.autopilot.flight_state import flight_state
from rosflight_py_sim.autopilot.path_flight import guide_along_path
from rosflight_py_sim.autopilot.path_manager import PathMemory
from rosflight_py_sim.autopilot.path_planning import planned_path, polyline
from rosflight_py_sim.autopilot.path_segments import Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoints import FlightPlan, Waypoint, WaypointError, read_flight_plan
from rosflight_py_sim.ground.confined_files import FileOutsideError, confined_file
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.kernels.chain import Cells, Tick, keeps
from rosflight_py_sim.kernels.jit import bound
from rosflight_py_sim.parts.autopilot import AutopilotPart, MissionAutopilot
from rosflight_py_sim.physics.rotations import euler_from_quaternion
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topics import AUTOPILOT_WAYPOINTS, TRUTH_STATE, TRUTH_WIND, WindSample, vector3
from rosflight_py_sim.step.vehicle_state import VehicleState

WAYPOINT_FILE = Parameter(
    "waypoint_file",
    "",
    "YAML file of waypoints (docs/autopilot.md): an absolute path, or a file name in config/ of the share folder; a "
    "change must name a file in that folder or in the folder of the first file",
    required=True,
)

# Spacing of the points of autopilot/path on an arc: an arc of 60 m radius is drawn to within 5 cm.
_SPACING_M = 5.0


class WaypointAutopilot(MissionAutopilot[FixedwingMission]):
    """Flies waypoints: publishes `command` from the true state and wind once autopilot/start has been called.

    The waypoints come from the file `waypoint_file`, and while it runs from autopilot/waypoints (nav_msgs/Path, NED). A
    list that cannot be flown is refused with the reason, and the previous one is kept. autopilot/setpoint is the point
    of the path abeam of the vehicle.
    """

    PARAMETERS: ClassVar[ParameterTable] = (
        AutopilotPart.PARAMETERS
        + ParameterTable(WAYPOINT_FILE)
        + FIXEDWING_MISSION_PARAMETERS
        + FIXEDWING_TARGET_PARAMETERS
    )
    PHASES = FixedwingPhase
    WAYPOINT_RADIUS = WAYPOINT_RADIUS
    WAYPOINT_HEIGHT_ERROR = WAYPOINT_HEIGHT_ERROR
    LANDING_RADIUS = TOUCH_DOWN_RADIUS

    wind = newest(TRUTH_WIND, initial=WindSample(-1, (0.0, 0.0, 0.0)))

    def initialise(self) -> None:
        """Wait for the start."""
        super().initialise()
        self._controller: FixedwingTargetController | None = None
        self._plan: FlightPlan | None = None
        self._file = self._first_file = ""
        # Place on the path that the mission followed in the last call of `guide`.
        self._path: PathMemory | None = None
        self._published_path: tuple[Segment, ...] = ()
        self._published_route: tuple[Vector3, ...] = ()

    def configure(self, values: dict[str, Value]) -> None:
        """Build the controller, and read the waypoints if their file has changed."""
        controller = FixedwingTargetController(values)
        file = str(values["waypoint_file"])
        plan = self._plan_of_file(file) if file != self._file else None
        if not hasattr(self, "mission"):
            assert plan is not None
            mission = FixedwingMission(values, plan)
        else:
            mission = copy(self.mission)
            mission.configure(values)
            if plan is not None:
                mission.replace(plan)
        if self._controller is not None:
            controller.adopt(self._controller)
        self._controller, self.mission = controller, mission
        self._plan, self._file = plan or self._plan, file

    def start_mission(self, state: VehicleState) -> str:
        """Take off; a vehicle that circles or has landed after its mission flies the waypoints again.

        Raises:
            RuntimeError: the mission is under way.
        """
        mission = self.mission
        if mission.phase is FixedwingPhase.DONE and not mission.has_landed:
            assert self._plan is not None
            mission.replace(self._plan)
            return "flying the waypoints again"
        mission.start(flight_state(state.truth.tolist(), self._wind_ned))
        doing = "taking off" if mission.phase is FixedwingPhase.TAKE_OFF else "joining the path"
        assert self._plan is not None
        return f"{doing}, {len(self._plan.waypoints)} waypoints to fly"

    def guide(self, state: VehicleState, dt: float) -> AutopilotCommand:
        """Surfaces and throttle that lead along the path."""
        assert self._controller is not None
        measured = flight_state(state.truth.tolist(), self._wind_ned)
        guided = self.mission.update(measured, self._controller, dt)
        self._publish_new_path()
        following = self.mission.following
        path = None if following is None else following[1]
        if path is not self._path:
            self._path = path
            self.relink()
        return guided

    def guide_link(
        self, tick: Tick, cells: Cells, command: NDArray[np.float64], target: NDArray[np.float64]
    ) -> Callable[[], bool] | None:
        """`guide` as a kernel while the mission follows its path."""
        following, controller = self.mission.following, self._controller
        if following is None or controller is None:
            return None
        if not keeps(type(self), "guide_link", "guide", "phase", "progress"):
            return None
        truth, wind = cells[TRUTH_STATE.name].memory, cells[TRUTH_WIND.name].memory
        return bound(guide_along_path, tick, *following, *controller.memory, truth, wind, command, target)

    @property
    def _wind_ned(self) -> Vector3:
        return vector3(self.wind.velocity_ned)

    @newest(AUTOPILOT_WAYPOINTS)
    def _on_waypoints(self, message: PathMessage) -> None:
        assert self._plan is not None
        try:
            plan = _plan_of_message(message, self._plan)
            self.relink()
            self.mission.replace(plan)
        except WaypointError as error:
            self.log.error(f"autopilot/waypoints refused, keeping the previous waypoints: {error}")
            return
        self._plan = plan
        self._publish_new_path()
        self.log.info(f"{len(plan.waypoints)} waypoints accepted")

    def _plan_of_file(self, name: str) -> FlightPlan:
        config = share_directory() / "config"
        try:
            if self._file:
                # The parameter service, unlike the command line, is open to every program that reaches the graph.
                path = confined_file(name, [config, (config / self._first_file).parent])
            else:
                self._first_file, path = name, config / name
            plan = read_flight_plan(path)
            planned_path(plan)
        except (FileOutsideError, WaypointError) as error:
            raise ParameterError(f"parameter 'waypoint_file': {error}") from error
        return plan

    def _publish_new_path(self) -> None:
        if not self.has_state:
            return
        path = self.mission.path
        if path is not self._published_path:
            self._published_path = path
            self.publish_path(polyline(path, _SPACING_M))
        route = self.mission.route_ned
        if route is not self._published_route:
            self._published_route = route
            self.publish_route(route)


def _plan_of_message(message: PathMessage, present: FlightPlan) -> FlightPlan:
    """The current plan with other waypoints; a loiter moves to the last one.

    Raises:
        WaypointError: the frame is not NED, or the points cannot be flown.
    """
    if message.header.frame_id not in ("", "NED"):
        raise WaypointError(f"frame '{message.header.frame_id}' given; allowed: NED")
    points = []
    for stamped in message.poses:
        p, q = stamped.pose.position, stamped.pose.orientation
        # A zero quaternion leaves the course free.
        course = euler_from_quaternion(q.w, q.x, q.y, q.z)[2] if math.hypot(q.w, q.x, q.y, q.z) > 0.0 else None
        points.append(Waypoint((p.x, p.y, p.z), present.waypoints[0].airspeed, course))
    loiter = None if present.loiter is None else replace(present.loiter, centre=None, height=None)
    return replace(present, waypoints=tuple(points), loiter=loiter)
