"""Fixed-wing mission: take off, climb straight out, fly the waypoints, loiter or land."""

from __future__ import annotations

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
)
from rosflight_py_sim.autopilot.landing import Landing
from rosflight_py_sim.autopilot.longitudinal_loops import ROTATION_AIRSPEED
from rosflight_py_sim.autopilot.mission_phase import MissionPhase
from rosflight_py_sim.autopilot.path_flight import PathFlight, height_ahead, is_flare_due, note_progress
from rosflight_py_sim.autopilot.path_manager import PathManager, PathMemory
from rosflight_py_sim.autopilot.path_planning import circuit_length, joined_path, planned_path
from rosflight_py_sim.autopilot.path_segments import FIELD_PARAMETERS, FieldGains, Segment
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.take_off_and_landing import TOUCH_DOWN_PARAMETERS, TouchDown
from rosflight_py_sim.autopilot.waypoints import FlightPlan
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.record import assign

WAYPOINT_RADIUS = Parameter(
    "waypoint_radius",
    50.0,
    "Largest horizontal distance at which a completed mission has missed a waypoint; fillets of the radius R miss a "
    "right angle by 0.41 R",
    "m",
    minimum=0.01,
    maximum=1e5,
)

WAYPOINT_HEIGHT_ERROR = Parameter(
    "waypoint_height_error",
    15.0,
    "Largest height error with which a completed mission has passed a waypoint",
    "m",
    minimum=0.01,
    maximum=1e5,
)

TOUCH_DOWN_RADIUS = Parameter(
    "touch_down_radius",
    100.0,
    "Largest horizontal distance from the planned touch-down point at which a landing counts as success",
    "m",
    minimum=0.01,
    maximum=1e5,
)

FIXEDWING_MISSION_PARAMETERS = (
    FIELD_PARAMETERS
    + ParameterTable(
        ROTATION_AIRSPEED,
        Parameter("flare_lead", 0.5, "Lag of the sink rate that the flare compensates", "s", minimum=0.0, maximum=3.0),
        Parameter(
            "align_height",
            1.0,
            "Height above the touch-down below which wings are level and the rudder aligns the nose with the runway",
            "m",
            minimum=0.0,
            maximum=1e3,
        ),
        Parameter("roll_out_speed", 1.0, "Ground speed at which the roll-out ends", "m/s", minimum=0.1, maximum=100.0),
        WAYPOINT_RADIUS,
        WAYPOINT_HEIGHT_ERROR,
        TOUCH_DOWN_RADIUS,
    )
    + TOUCH_DOWN_PARAMETERS
)


class FixedwingPhase(MissionPhase):
    """Phase of the mission; the numbers are those of the flight log."""

    WAIT = 0
    TAKE_OFF = 1
    CLIMB_OUT = 2
    WAYPOINTS = 3
    LOITER = 4
    APPROACH = 5
    FINAL_APPROACH = 6
    FLARE = 7
    ROLL_OUT = 8
    DONE = 9

    @property
    def on_path(self) -> bool:
        """Whether the vehicle follows its planned path."""
        return FixedwingPhase.WAYPOINTS <= self <= FixedwingPhase.FINAL_APPROACH


class FixedwingMission:
    """Take off along the heading on the ground, climb straight out, join the path, and loiter or land at its end.

    Each call of `update` advances the mission. Without a landing it is done after the loiter's turns; the vehicle then
    keeps circling. With one, it is done when the vehicle has rolled out.
    """

    def __init__(self, values: Values, plan: FlightPlan) -> None:
        """`values` contains the checked values of FIXEDWING_MISSION_PARAMETERS; others are ignored.

        Raises:
            WaypointError: the plan yields no path.
        """
        self._take(plan)
        self._manager: PathManager | None = None
        self._phase = FixedwingPhase.WAIT
        self._landing: Landing | None = None
        self._glide_sink = self._flare_s = 0.0
        self._nearest: Vector3 = (0.0, 0.0, 0.0)
        self.configure(values)

    def configure(self, values: Values) -> None:
        """Apply changed parameters; the path stays."""
        self._flying_speed = number(values, "rotation_airspeed")
        self._gains = gains = FieldGains.of(values)
        before = getattr(self, "_flight", None)
        self._flight = PathFlight(
            progress=0.0,
            is_done=False,
            flares=False,
            flare_height=0.0,
            flare_lead=0.0,
            touch_down=0.0,
            **gains._asdict(),
        )
        if before is not None:
            assign(self._flight, before)
        self._flight.approach, self._flight.line, self._flight.orbit = gains
        self._flight.flare_lead = number(values, "flare_lead")
        self._align_height = number(values, "align_height")
        self._roll_out_speed = number(values, "roll_out_speed")
        self._touch_down = TouchDown(values)

    @property
    def phase(self) -> FixedwingPhase:
        """Phase after the last call of `update`."""
        return self._phase

    @property
    def progress(self) -> float:
        """Completed share of the mission, 0 to 1; never decreases, and is 1 when the mission is done."""
        return self._flight.progress

    @property
    def following(self) -> tuple[PathFlight, PathMemory] | None:
        """State of the mission and place on the path, for kernels that advance them as `update` does.

        None while the mission does not follow its path.
        """
        follows = self._landing is None and self._phase > FixedwingPhase.CLIMB_OUT
        return (self._flight, self._manager.memory) if follows and self._manager is not None else None

    @property
    def flies(self) -> bool:
        """Whether the vehicle is under way, from the take-off to the end of the roll-out."""
        return self._phase is not FixedwingPhase.WAIT and not self.has_landed

    @property
    def has_landed(self) -> bool:
        """Whether the mission has ended on the ground."""
        return self._phase is FixedwingPhase.DONE and self._landing is not None

    @property
    def path(self) -> tuple[Segment, ...]:
        """The path, preceded by the segments that lead to it once these are known."""
        return self._planned if self._manager is None else self._manager.path

    @property
    def route_ned(self) -> tuple[Vector3, ...]:
        """Waypoints of the plan, in order, m; the same object until the plan is replaced."""
        return self._route

    @property
    def target_ned(self) -> Vector3:
        """Point of the path abreast of the vehicle, m."""
        return self._nearest

    def start(self, state: FlightState) -> None:
        """Start the take-off along the current heading; a vehicle at flying speed joins the path.

        A vehicle that has landed flies the plan again.

        Raises:
            RuntimeError: the mission has already begun.
        """
        if self.flies:
            raise RuntimeError(f"the mission has already begun: {self._phase.label}")
        self._begin()
        flying = state.ground_speed >= self._flying_speed
        self._phase = FixedwingPhase.WAYPOINTS if flying else FixedwingPhase.TAKE_OFF

    def replace(self, plan: FlightPlan) -> None:
        """Replace the plan; a vehicle already on its path flies to the new one from its current position.

        After the touch-down the new plan waits for the next start.

        Raises:
            WaypointError: the plan yields no path; the previous one is kept.
        """
        self._take(plan)
        if self._phase is FixedwingPhase.ROLL_OUT or self.has_landed:
            return
        self._begin()
        if self._phase > FixedwingPhase.CLIMB_OUT:
            self._phase = FixedwingPhase.WAYPOINTS

    def _take(self, plan: FlightPlan) -> None:
        self._planned = planned_path(plan)
        self._approach_length = len(self._planned) - circuit_length(plan)
        self._plan = plan
        self._route = tuple(waypoint.position_ned for waypoint in plan.waypoints)

    def _begin(self) -> None:
        self._flight.progress = 0.0
        self._manager = None
        self._landing = None

    def update(self, state: FlightState, controller: FixedwingTargetController, dt: float) -> AutopilotCommand:
        """Command of `controller` for the next `dt` seconds; its `position_ned` is the current target position."""
        phase = FixedwingPhase
        if self._phase is phase.TAKE_OFF and controller.climbs_out:
            self._phase = phase.CLIMB_OUT
        if self._phase is phase.CLIMB_OUT and controller.has_taken_off:
            self._phase = phase.WAYPOINTS
        if self._landing is None and self._phase > phase.CLIMB_OUT:
            guided = self._follow(state, controller, dt)
        elif self._landing is not None:
            guided = self._land(self._landing, state, controller, dt)
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
        self._advance(manager, state)
        note_progress(self._flight, manager.memory, *state.position_ned[:2])
        target = FlyTarget(
            CourseTarget(wanted.course, wanted.curvature),
            AirspeedTarget(wanted.airspeed),
            AltitudeTarget(wanted.height),
        )
        return controller.fly(state, target, dt)._replace(position_ned=wanted.nearest_ned)

    def _advance(self, manager: PathManager, state: FlightState) -> None:
        """Phase on the path; the flare begins at its height above the touch-down point."""
        phase, landing = FixedwingPhase, self._plan.landing
        left = len(manager.path) - 1 - manager.index
        if landing is None and manager.is_over:
            self._phase = phase.DONE
        elif left < self._approach_length:
            self._phase = phase.APPROACH if left else phase.FINAL_APPROACH
        elif left == self._approach_length and self._plan.loiter is not None:
            self._phase = phase.LOITER
        flight = self._flight
        flight.is_done = self._phase is phase.DONE
        flight.flares = landing is not None and not left
        if landing is not None:
            flight.flare_height, flight.touch_down = landing.flare_height, landing.position_ned[2]
        if is_flare_due(flight, state.position_ned[2], state.climb):
            self._phase, self._landing = phase.FLARE, landing
            self._glide_sink, self._flare_s = -state.climb, 0.0

    def _runway_course(self, state: FlightState) -> float:
        """Course that leads onto the centre line of the final approach, rad."""
        assert self._manager is not None
        return self._manager.segment.commanded_course(state.position_ned, state.course, self._gains)

    def _land(
        self, landing: Landing, state: FlightState, controller: FixedwingTargetController, dt: float
    ) -> AutopilotCommand:
        """Flare, roll out, and stand."""
        phase, height = FixedwingPhase, landing.height_above(state.position_ned)
        self._flare_s += dt
        is_slow = state.ground_speed < self._roll_out_speed
        if self._phase is phase.FLARE and (is_slow or self._touch_down.detected(self._flare_s, height, state.climb)):
            self._phase = phase.ROLL_OUT
        if self._phase is phase.ROLL_OUT and is_slow:
            self._phase, self._flight.progress = phase.DONE, 1.0
        if self._phase is phase.FLARE:
            sink = landing.flare_sink(height_ahead(self._flight, state.position_ned[2], state.climb), self._glide_sink)
            aligns = height <= self._align_height
            lateral = HeadingTarget(landing.course) if aligns else CourseTarget(self._runway_course(state))
            guided = controller.flare(state, lateral, -sink, dt)
        elif self._phase is phase.ROLL_OUT:
            guided = controller.roll_out(state, landing.course, dt)
        else:
            guided = controller.stand(state)
        return guided._replace(position_ned=landing.position_ned)
