"""Fixed-wing mission: take off, climb straight out, fly the waypoints, loiter."""

from __future__ import annotations

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import AirspeedTarget, AltitudeTarget, CourseTarget, FlyTarget
from rosflight_py_sim.autopilot.longitudinal_loops import ROTATION_AIRSPEED
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.path_manager import PathManager
from rosflight_py_sim.autopilot.path_planning import joined_path, planned_path
from rosflight_py_sim.autopilot.path_segments import FIELD_PARAMETERS, FieldGains, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.waypoints import FlightPlan
from rosflight_py_sim.parameters import ParameterTable, Values, number

FIXEDWING_MISSION_PARAMETERS = FIELD_PARAMETERS + ParameterTable(ROTATION_AIRSPEED)


class FixedwingPhase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

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

    Each call of `update` advances the mission. It is done after the loiter's turns; the vehicle then keeps circling.
    """

    def __init__(self, values: Values, plan: FlightPlan) -> None:
        """`values` contains the checked values of FIXEDWING_MISSION_PARAMETERS; others are ignored.

        Raises:
            WaypointError: the plan yields no path.
        """
        self._planned = planned_path(plan)
        self._plan = plan
        self._manager: PathManager | None = None
        self._phase = FixedwingPhase.WAIT
        self._progress = 0.0
        self._nearest: Vector3 = (0.0, 0.0, 0.0)
        self.configure(values)

    def configure(self, values: Values) -> None:
        """Apply changed parameters; the path stays."""
        self._flying_speed = number(values, "rotation_airspeed")
        self._gains = FieldGains.of(values)

    @property
    def phase(self) -> FixedwingPhase:
        """Phase after the last call of `update`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1; never decreases, and is 1 when the mission is done."""
        return self._progress

    @property
    def flies(self) -> bool:
        """Whether the vehicle flies or takes off."""
        return self._phase is not FixedwingPhase.WAIT

    @property
    def path(self) -> tuple[Segment, ...]:
        """The path, preceded by the segments that lead to it once these are known."""
        return self._planned if self._manager is None else self._manager.path

    @property
    def target_ned(self) -> Vector3:
        """Point of the path abreast of the vehicle, m."""
        return self._nearest

    def start(self, state: FlightState) -> None:
        """Start the take-off along the current heading; a vehicle at flying speed joins the path.

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self.flies:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        flying = state.ground_speed >= self._flying_speed
        self._phase = FixedwingPhase.WAYPOINTS if flying else FixedwingPhase.TAKE_OFF

    def replace(self, plan: FlightPlan) -> None:
        """Replace the plan; a vehicle already on its path flies to the new one from its current position.

        Raises:
            WaypointError: the plan yields no path; the previous one is kept.
        """
        self._planned = planned_path(plan)
        self._plan = plan
        self._progress = 0.0
        self._manager = None
        if self._phase > FixedwingPhase.CLIMB_OUT:
            self._phase = FixedwingPhase.WAYPOINTS

    def update(self, state: FlightState, controller: FixedwingTargetController, dt: float) -> AutopilotCommand:
        """Command of `controller` for the next `dt` seconds; its `position_ned` is the current target position."""
        phase = FixedwingPhase
        if self._phase is phase.TAKE_OFF and controller.climbs_out:
            self._phase = phase.CLIMB_OUT
        if self._phase is phase.CLIMB_OUT and controller.has_taken_off:
            self._phase = phase.WAYPOINTS
        if self._phase > phase.CLIMB_OUT:
            guided = self._follow(state, controller, dt)
        elif self._phase is phase.WAIT:
            guided = controller.stand(state)
        else:
            guided = controller.take_off(state, dt)
        self._nearest = guided.position_ned
        return guided

    def _follow(self, state: FlightState, controller: FixedwingTargetController, dt: float) -> AutopilotCommand:
        if self._manager is None:
            self._manager = PathManager(joined_path(self._plan, state.position_ned, state.course))
        manager = self._manager
        wanted = manager.update(state.position_ned, state.course, self._gains)
        if manager.is_over:
            self._phase = FixedwingPhase.DONE
        elif manager.on_last:
            self._phase = FixedwingPhase.LOITER
        travelled = manager.travelled(state.position_ned) / manager.length
        self._progress = 1.0 if manager.is_over else max(self._progress, min(travelled, 0.999))
        target = FlyTarget(
            CourseTarget(wanted.course, wanted.curvature),
            AirspeedTarget(wanted.airspeed),
            AltitudeTarget(wanted.height),
        )
        return controller.fly(state, target, dt)._replace(position_ned=wanted.nearest_ned)
