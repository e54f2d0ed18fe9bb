"""Fixed-wing target control: successive loop closure down to surfaces and throttle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    Lateral,
    PositionTarget,
    RollTarget,
)
from rosflight_py_sim.autopilot.longitudinal_loops import (
    LONGITUDINAL_LOOP_PARAMETERS,
    LongitudinalLoops,
    Zone,
)
from rosflight_py_sim.autopilot.loops import (
    PiLoop,
    PiMemory,
    SlewLimit,
    gain,
    pi_output,
    settling_error,
    within,
    wrap_angle,
)
from rosflight_py_sim.autopilot.overflight import Overflight
from rosflight_py_sim.autopilot.path_segments import FIELD_PARAMETERS, Arc, FieldGains
from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.autopilot.surface_loops import SURFACE_LOOP_PARAMETERS, SurfaceCommand, SurfaceLoops
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import SPOOL_UP_TIME
from rosflight_py_sim.kernels.jit import kernel, kernel_part

# For kernels; Python calls the plain functions.
_within, _wrap_angle = kernel_part(within), kernel_part(wrap_angle)

FIXEDWING_TARGET_PARAMETERS = (
    SURFACE_LOOP_PARAMETERS
    + LONGITUDINAL_LOOP_PARAMETERS
    + FIELD_PARAMETERS
    + ParameterTable(
        Parameter(
            "max_roll",
            0.8,
            "Largest roll angle commanded to hold a course or heading",
            "rad",
            minimum=0.05,
            maximum=1.4,
        ),
        gain("roll_integral_gain", 1.0, "Commanded roll angle per integrated roll error for a given roll angle", "1/s"),
        gain("course_gain", 2.2, "Roll angle per course error"),
        gain("course_integral_gain", 0.459, "Roll angle per integrated course error", "1/s"),
        Parameter(
            "roll_slew", 5.0, "Largest rate of change of the commanded roll angle", "rad/s", minimum=0.01, maximum=100.0
        ),
        Parameter(
            "pitch_slew",
            2.0,
            "Largest rate of change of the commanded pitch angle",
            "rad/s",
            minimum=0.01,
            maximum=100.0,
        ),
        Parameter("loiter_radius", 80.0, "Radius of the loiter circle", "m", minimum=1.0, maximum=1e5),
        SPOOL_UP_TIME.overridden("also limits the rate of every later throttle change", minimum=0.01),
        Parameter("take_off_pitch", 0.2, "Commanded pitch angle after rotation", "rad", minimum=0.0, maximum=0.8),
        gain("steering_gain", 2.0, "Rudder per heading error on the ground"),
        Parameter(
            "take_off_height",
            5.0,
            "Height above the take-off point at which the climb-out begins",
            "m",
            minimum=0.0,
            maximum=1e4,
        ),
        Parameter(
            "climb_out_height",
            30.0,
            "Height above the take-off point at which the climb-out ends",
            "m",
            minimum=0.0,
            maximum=1e4,
        ),
    )
)

GRAVITY = 9.81
"""Used only by the feed-forward of turns, m/s^2."""

STEEPEST_ROLL = 1.4
"""Largest roll angle commanded for a given roll angle, rad; the limits of a cage (cage.py) are narrower."""

_CLOCKWISE = 1


@kernel
def turn_to_course(
    course_loop: PiMemory, course: float, ground_speed: float, wanted: float, curvature: float, dt: float
) -> float:
    """Roll angle (rad) from the course to the wanted one (rad), on a path with this curvature (1/m)."""
    turn = math.atan(ground_speed * ground_speed * curvature / GRAVITY)
    return pi_output(course_loop, _wrap_angle(wanted - course), dt, _within(turn, course_loop.high))


class FixedwingTargetController(TargetController):
    """Successive loop closure of Beard and McLain, Small Unmanned Aircraft (2012), chapter 6.

    Lateral (sec. 6.3), with phi_ff the roll angle of a coordinated turn along the path's curvature kappa, which spares
    the integrator from adapting in each turn (sec. 10.2 with the ground speed V_g):

        phi_c = phi_ff + k_p (chi_c - chi) + k_i int(chi_c - chi),   tan(phi_ff) = V_g^2 kappa / g

    A heading is held in the same way with the yaw angle. A position is approached and circled clockwise by the vector
    field of an orbit (eq. 10.13), after an Overflight if the target says so. Pitch angle and throttle come from
    LongitudinalLoops, surfaces from SurfaceLoops.

    Commanded angles and throttle are rate-limited by `roll_slew`, `pitch_slew` and `spool_up_time`, so that a new
    target does not make the surfaces jump. Valid below the stall, with the inner loops (roll, pitch) several times
    faster than the outer ones.
    """

    NAME: ClassVar[str] = "fixedwing"
    PARAMETERS: ClassVar[ParameterTable] = FIXEDWING_TARGET_PARAMETERS
    FLIES_BY_ESTIMATE = False

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of FIXEDWING_TARGET_PARAMETERS; others are ignored."""
        n = self._number = {p.name: number(values, p.name) for p in FIXEDWING_TARGET_PARAMETERS}
        self._course = PiLoop(n["course_gain"], n["course_integral_gain"], -n["max_roll"], n["max_roll"])
        self._given_roll = PiLoop(0.0, n["roll_integral_gain"], -STEEPEST_ROLL, STEEPEST_ROLL)
        self._longitudinal = LongitudinalLoops(values)
        self._surfaces = SurfaceLoops(values)
        self._gains = FieldGains.of(values)
        self._roll = SlewLimit(n["roll_slew"])
        self._pitch = SlewLimit(n["pitch_slew"])
        self._throttle = SlewLimit(1.0 / n["spool_up_time"])
        self._overflight: Overflight | None = None
        self._runway: tuple[Vector3, float] | None = None
        self._climbed = 0.0

    @property
    def zone(self) -> Zone:
        """Zone of the last command."""
        return self._longitudinal.zone

    @property
    def climbs_out(self) -> bool:
        """Whether the take-off has left the ground."""
        return self._runway is not None and self._climbed >= self._number["take_off_height"]

    @property
    def has_taken_off(self) -> bool:
        """Whether the take-off has reached `climb_out_height`."""
        return self._runway is not None and self._climbed >= self._number["climb_out_height"]

    @property
    def memory(self) -> tuple[Any, ...]:
        """State with course, airspeed and height targets, for kernels that advance it as `fly` does.

        Loop of the course, the four of `LongitudinalLoops.height_memory`, limits of roll angle, pitch angle and
        throttle, inner loops.
        """
        limits = self._roll.memory, self._pitch.memory, self._throttle.memory
        return self._course.memory, *self._longitudinal.height_memory, *limits, self._surfaces.memory

    def limits(self, state: FlightState) -> dict[str, float]:
        """Limits of targets at present.

        A level turn at the roll angle phi multiplies the load by 1 / cos(phi), and so the slowest airspeed by its root.
        """
        n = self._number
        slowest = n["rotation_airspeed"]
        configured = {
            "target_airspeed_max": n["full_throttle_airspeed"],
            "target_climb_min": n["glide_climb"],
            "target_climb_max": n["full_throttle_climb"],
        }
        return {
            **{name: value for name, value in configured.items() if value},
            "target_airspeed_min": slowest,
            "target_pitch_max": self._longitudinal.steepest,
            "target_roll_max": min(math.acos(min((slowest / max(state.airspeed, 1.0)) ** 2, 1.0)), STEEPEST_ROLL),
        }

    def reset(self) -> None:
        """Reset integrators, filter and take-off."""
        self._course.reset()
        self._given_roll.reset()
        self._longitudinal.reset()
        self._surfaces.reset()
        for slew in (self._roll, self._pitch, self._throttle):
            slew.reset()
        self._overflight = None
        self._runway = None
        self._climbed = 0.0

    def adopt(self, old: FixedwingTargetController) -> None:
        """Copy the state of `old`, after a change of parameters."""
        self._course.reset(old._course.integrated)
        self._given_roll.reset(old._given_roll.integrated)
        self._longitudinal.adopt(old._longitudinal)
        self._surfaces.adopt(old._surfaces)
        for name in ("_roll", "_pitch", "_throttle"):
            getattr(self, name).reset(getattr(old, name).value)
        self._overflight = old._overflight
        self._runway, self._climbed = old._runway, old._climbed

    def stand(self, state: FlightState) -> AutopilotCommand:
        """Command neutral surfaces and no thrust."""
        self.reset()
        return _autopilot_command(SurfaceCommand(0.0, 0.0, 0.0), 0.0, state.position_ned, state.yaw)

    def take_off(self, state: FlightState, dt: float) -> AutopilotCommand:
        """Command full throttle, wings level, heading held by rudder; the nose is raised at `rotation_airspeed`.

        From `take_off_height` on the aircraft climbs straight out.
        """
        _require_finite(state)
        n = self._number
        if self._runway is None:
            self._runway = (state.position_ned, state.yaw)
            self._throttle.reset(0.0)
        start, heading = self._runway
        self._climbed = start[2] - state.position_ned[2]
        abreast = _abreast(start, heading, state.position_ned)
        if self.climbs_out:
            # Aim above the final height, so that the climb rate does not decrease before it.
            height = AltitudeTarget(-start[2] + n["climb_out_height"] + n["hold_zone"])
            target = FlyTarget(CourseTarget(heading), AirspeedTarget(n["design_airspeed"]), height)
            return self.fly(state, target, dt)._replace(position_ned=abreast)
        pitch = n["take_off_pitch"] if state.airspeed >= n["rotation_airspeed"] else state.pitch
        self._longitudinal.enter(Zone.CLIMB, pitch, 1.0)
        self._roll.reset(0.0)
        self._pitch.reset(pitch)
        throttle = self._throttle.update(1.0, dt)
        return _autopilot_command(
            self._surfaces.steer(state, pitch, self._steering(state, heading), dt), throttle, abreast, heading
        )

    def flare(
        self, state: FlightState, lateral: CourseTarget | HeadingTarget, climb: float, dt: float
    ) -> AutopilotCommand:
        """Command idle throttle, and a climb (m/s) by pitch, with the nose not below the horizontal.

        A course is held by roll as in flight, a heading by rudder with the wings level.
        """
        _require_finite(state)
        command = state.pitch if self._pitch.value is None else self._pitch.value
        pitch = self._pitch.update(self._longitudinal.flare(state, climb, command, dt), dt)
        if isinstance(lateral, HeadingTarget):
            return self._steered(state, lateral.heading_rad, pitch, dt)
        roll, direction, _ = self._turned(state, lateral, None, dt)
        surfaces = self._surfaces.hold(state, self._roll.update(roll, dt), pitch, dt)
        return _autopilot_command(surfaces, self._throttle.update(0.0, dt), state.position_ned, direction)

    def roll_out(self, state: FlightState, heading: float, dt: float) -> AutopilotCommand:
        """Command idle throttle, wings and nose level, and `heading` (rad) by rudder and nose wheel."""
        _require_finite(state)
        return self._steered(state, heading, self._pitch.update(0.0, dt), dt)

    def _steered(self, state: FlightState, heading: float, pitch: float, dt: float) -> AutopilotCommand:
        surfaces = self._surfaces.steer(state, pitch, self._steering(state, heading), dt)
        return _autopilot_command(surfaces, self._throttle.update(0.0, dt), state.position_ned, heading)

    def _steering(self, state: FlightState, heading: float) -> float:
        """Rudder towards a heading; a deflection to the left is positive, and so is a heading error to the right."""
        return -self._number["steering_gain"] * wrap_angle(heading - state.yaw)

    def fly(self, state: FlightState, target: FlyTarget, dt: float) -> AutopilotCommand:
        """Command for the next `dt` seconds.

        Raises:
            ValueError: the state is not finite; the controller is unchanged.
        """
        _require_finite(state)
        altitude = target.vertical.altitude_m if isinstance(target.vertical, AltitudeTarget) else None
        roll, direction, (north, east) = self._turned(state, target.lateral, altitude, dt)
        pitch, throttle = self._longitudinal.update(state, target.speed, target.vertical, dt)
        if self._roll.value is None:
            self._roll.reset(state.roll)
            self._pitch.reset(state.pitch)
        surfaces = self._surfaces.hold(state, self._roll.update(roll, dt), self._pitch.update(pitch, dt), dt)
        height = state.height if altitude is None else altitude
        return _autopilot_command(surfaces, self._throttle.update(throttle, dt), (north, east, -height), direction)

    def _turned(
        self, state: FlightState, lateral: Lateral, altitude: float | None, dt: float
    ) -> tuple[float, float, tuple[float, float]]:
        """Roll angle (rad), direction (rad) and position towards a lateral target, which may have an altitude (m)."""
        here = state.position_ned[:2]
        if not isinstance(lateral, PositionTarget):
            self._overflight = None
        if isinstance(lateral, RollTarget):
            given = lateral.roll_rad
            # The roll angle's own rate (eq. 3.3): in a turn p includes part of the turn rate.
            turning = state.pitch_rate * math.sin(state.roll) + state.yaw_rate * math.cos(state.roll)
            rate = state.roll_rate + math.tan(state.pitch) * turning
            error = settling_error(given - state.roll, rate)
            return self._given_roll.update(error, dt, feed_forward=given), state.course, here
        self._given_roll.reset()
        if isinstance(lateral, HeadingTarget):
            heading = lateral.heading_rad
            return self._course.update(wrap_angle(heading - state.yaw), dt), heading, here
        if isinstance(lateral, PositionTarget) and self._overflies(lateral, altitude):
            assert self._overflight is not None
            here = (lateral.north_m, lateral.east_m)
            lateral = CourseTarget(self._overflight.course(state))
        elif isinstance(lateral, PositionTarget):
            circle = Arc(
                (lateral.north_m, lateral.east_m, 0.0), self._number["loiter_radius"], _CLOCKWISE, 0.0, 0.0, 0.0
            )
            here = circle.nearest(state.position_ned)[:2]
            course = circle.commanded_course(state.position_ned, state.course, self._gains)
            lateral = CourseTarget(course, circle.field_curvature(state.position_ned, self._gains))
        wanted, curvature = lateral.course_rad, lateral.curvature
        return (
            turn_to_course(self._course.memory, state.course, state.ground_speed, wanted, curvature, dt),
            wanted,
            here,
        )

    def _overflies(self, place: PositionTarget, altitude: float | None) -> bool:
        """Whether the position is still to be passed over before it is circled."""
        if not place.overfly:
            self._overflight = None
            return False
        point = (place.north_m, place.east_m, altitude)
        if self._overflight is None or self._overflight.point != point:
            self._overflight = Overflight(point, self._number["max_roll"])
        return not self._overflight.has_passed


def _autopilot_command(
    surfaces: SurfaceCommand, throttle: float, position_ned: Vector3, direction: float
) -> AutopilotCommand:
    u = (throttle, 0.0, 0.0, surfaces.aileron, surfaces.elevator, surfaces.rudder, 0.0, 0.0, 0.0, 0.0)
    return AutopilotCommand(CommandMode.PASS_THROUGH, u, position_ned, direction)


def _abreast(start: Vector3, heading: float, position_ned: Vector3) -> Vector3:
    """Point of the take-off line abreast of the vehicle, at its height."""
    north, east = position_ned[0] - start[0], position_ned[1] - start[1]
    along = north * math.cos(heading) + east * math.sin(heading)
    return (start[0] + along * math.cos(heading), start[1] + along * math.sin(heading), position_ned[2])


def _require_finite(state: FlightState) -> None:
    if not state.is_finite:
        raise ValueError(f"not finite: {state}")
