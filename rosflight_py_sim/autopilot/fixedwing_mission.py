"""The mission of a fixed wing: take off, climb straight out, fly the waypoints, loiter."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.fixedwing_controller import (
    ROTATION_AIRSPEED,
    STANDING,
    FixedwingController,
    SurfaceCommand,
)
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.path_manager import PathManager
from rosflight_py_sim.autopilot.path_planning import joined_path, planned_path
from rosflight_py_sim.autopilot.path_segments import FieldGains, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoints import FlightPlan
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values, number

FIXEDWING_MISSION_PARAMETERS = ParameterTable(
    ROTATION_AIRSPEED,
    Parameter(
        "take_off_height", 5.0, "height over the place of take-off at which the climb-out begins", "m", minimum=0.0
    ),
    Parameter(
        "climb_out_height", 30.0, "height over the place of take-off at which the way to the first waypoint begins", "m"
    ),
    Parameter(
        "approach_angle", 1.05, "angle at which a line is approached from afar", "rad", minimum=0.1, maximum=1.57
    ),
    Parameter("line_gain", 0.02, "how sharply the course turns onto a line", "1/m", minimum=0.0, above_minimum=True),
    Parameter("orbit_gain", 1.2, "how sharply the course turns onto an orbit", minimum=0.0, above_minimum=True),
)


class FixedwingPhase(MissionPhase):
    """Where in the mission the vehicle is; the numbers are those of the flight log."""

    WAIT = 0
    TAKE_OFF = 1
    CLIMB_OUT = 2
    WAYPOINTS = 3
    LOITER = 4
    DONE = 5

    @property
    def on_path(self) -> bool:
        """Whether the vehicle follows its planned path."""
        return self in (FixedwingPhase.WAYPOINTS, FixedwingPhase.LOITER)


class FixedwingMission:
    """Take off along the heading on the ground, climb straight out, join the path, and loiter at its end.

    Each call of `update` moves the mission on. When the loiter's turns are flown the mission is done, and the vehicle
    goes on circling: an aircraft cannot wait otherwise.
    """

    def __init__(self, values: Values, plan: FlightPlan) -> None:
        """`values` holds FIXEDWING_MISSION_PARAMETERS, checked; it may hold others.

        Raises:
            WaypointError: no path can be made of the plan.
        """
        self._planned = planned_path(plan)
        self._plan = plan
        self._manager: PathManager | None = None
        self._phase = FixedwingPhase.WAIT
        self._home: Vector3 = (0.0, 0.0, 0.0)
        self._heading = 0.0
        self._progress = 0.0
        self._nearest: Vector3 = (0.0, 0.0, 0.0)
        self.configure(values)

    def configure(self, values: Values) -> None:
        """Take over changed parameters; the path stays."""
        self._take_off_height = number(values, "take_off_height")
        self._climb_out_height = number(values, "climb_out_height")
        self._flying_speed = number(values, "rotation_airspeed")
        self._gains = FieldGains(*(number(values, name) for name in ("approach_angle", "line_gain", "orbit_gain")))

    @property
    def phase(self) -> FixedwingPhase:
        """The phase that the last call of `update` was in."""
        return self._phase

    @property
    def progress(self) -> float:
        """Share of the mission that is over, 0 to 1; it never falls and is 1 when the mission is done."""
        return self._progress

    @property
    def flies(self) -> bool:
        """Whether the vehicle flies or takes off."""
        return self._phase is not FixedwingPhase.WAIT

    @property
    def path(self) -> tuple[Segment, ...]:
        """The path, with the way to it once that is known."""
        return self._planned if self._manager is None else self._manager.path

    @property
    def wanted_ned(self) -> Vector3:
        """The point of the path abreast of the vehicle, m."""
        return self._nearest

    def start(self, state: FlightState) -> None:
        """Begin to take off, along the present heading; a vehicle that is as fast as one that flies joins the path.

        Raises:
            RuntimeError: the mission has begun already.
        """
        if self.flies:
            raise RuntimeError(f"the mission has begun already: {self._phase.label}")
        self._home = state.position_ned
        self._heading = state.yaw
        flying = state.ground_speed >= self._flying_speed
        self._phase = FixedwingPhase.WAYPOINTS if flying else FixedwingPhase.TAKE_OFF

    def replace(self, plan: FlightPlan) -> None:
        """Fly another plan from now on: on the ground and in the climb-out the next one, in the air from where it is.

        Raises:
            WaypointError: no path can be made of the plan; the present one stays.
        """
        self._planned = planned_path(plan)
        self._plan = plan
        self._progress = 0.0
        self._manager = None
        if self._phase > FixedwingPhase.CLIMB_OUT:
            self._phase = FixedwingPhase.WAYPOINTS

    def update(self, state: FlightState, controller: FixedwingController, dt: float) -> SurfaceCommand:
        """What `controller` commands for the next `dt` seconds."""
        phase = FixedwingPhase
        climbed = state.height + self._home[2]
        if self._phase is phase.TAKE_OFF and climbed >= self._take_off_height:
            self._phase = phase.CLIMB_OUT
        if self._phase is phase.CLIMB_OUT and climbed >= self._climb_out_height:
            self._phase = phase.WAYPOINTS
        if self._phase > phase.CLIMB_OUT:
            return self._follow(state, controller, dt)
        self._nearest = self._abreast(state)
        if self._phase is phase.WAIT:
            controller.reset()
            return STANDING
        if self._phase is phase.TAKE_OFF:
            return controller.take_off(state, self._heading, dt)
        first = self._plan.waypoints[0]
        height = max(-self._home[2] + self._climb_out_height, -first.position_ned[2])
        return controller.fly(state, self._heading, height, first.airspeed, 0.0, dt)

    def _follow(self, state: FlightState, controller: FixedwingController, dt: float) -> SurfaceCommand:
        if self._manager is None:
            self._manager = PathManager(joined_path(self._plan, state.position_ned, state.course))
        manager = self._manager
        wanted = manager.update(state.position_ned, state.course, self._gains)
        self._nearest = wanted.nearest_ned
        if manager.is_over:
            self._phase = FixedwingPhase.DONE
        elif manager.on_last:
            self._phase = FixedwingPhase.LOITER
        travelled = manager.travelled(state.position_ned) / manager.length
        self._progress = 1.0 if manager.is_over else max(self._progress, min(travelled, 0.999))
        return controller.fly(state, wanted.course, wanted.height, wanted.airspeed, wanted.curvature, dt)

    def _abreast(self, state: FlightState) -> Vector3:
        """Point of the take-off's line abreast of the vehicle, at its height: straight out is all that is asked."""
        north, east = state.position_ned[0] - self._home[0], state.position_ned[1] - self._home[1]
        along = north * math.cos(self._heading) + east * math.sin(self._heading)
        return (
            self._home[0] + along * math.cos(self._heading),
            self._home[1] + along * math.sin(self._heading),
            state.position_ned[2],
        )
