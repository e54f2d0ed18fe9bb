"""Multirotor target control by velocity, attitude and throttle."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    ClimbTarget,
    CourseTarget,
    FlyTarget,
    HeadingTarget,
    PitchTarget,
    PositionTarget,
    RollTarget,
    ThrottleTarget,
    Vertical,
)
from rosflight_py_sim.autopilot.loops import PiLoop, SlewLimit, gain, settling_error, wrap_angle
from rosflight_py_sim.autopilot.position_controller import (
    IDLE,
    POSITION_CONTROLLER_PARAMETERS,
    DirectCommands,
    PositionController,
)
from rosflight_py_sim.autopilot.setpoint import Setpoint, Vector3
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.autopilot.wind_triangle import ground_speed_along
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number

MULTIROTOR_TARGET_PARAMETERS = POSITION_CONTROLLER_PARAMETERS + ParameterTable(
    POSITION_CONTROLLER_PARAMETERS["max_speed"].overridden(
        "measured over ground, so in a tailwind it must exceed the commanded airspeed", default=14.0
    ),
    Parameter(
        "hover_height", 5.0, "Height above the take-off point at which take-off ends", "m", minimum=0.1, maximum=1e4
    ),
    Parameter(
        "tilt_slew",
        5.0,
        "Largest rate of change of the commanded roll and pitch angles",
        "rad/s",
        minimum=0.01,
        maximum=100.0,
    ),
    gain("tilt_integral_gain", 1.5, "Commanded angle per integrated error of a given roll or pitch angle", "1/s"),
    Parameter(
        "level_tilt",
        0.87,
        "Largest roll or pitch angle at which full thrust holds the height, for the variables target_roll_max and "
        "target_pitch_max",
        "rad",
        minimum=0.0,
        maximum=1.4,
    ),
)

# Limit of the integrators' contribution to a given angle, rad.
_MOST_TRIM = 0.3
# Yaw is held within this distance (m) of a target position, and below this airspeed (m/s).
_NEAR, _SLOW = 3.0, 1.0
# Height of a take-off's target position above the height at which the take-off ends, m.
_BEYOND = 1.0


class _HorizontalTarget(NamedTuple):
    """Velocity over ground (m/s), yaw (rad), feed-forward acceleration (m/s^2) and target position (m)."""

    velocity: tuple[float, float]
    nose: float
    acceleration: tuple[float, float] = (0.0, 0.0)
    place: tuple[float, float] | None = None


class MultirotorTargetController(TargetController):
    """Fixed-wing targets flown by a multirotor, with the loops of PositionController.

    - A position is approached nose first; the vehicle then hovers there. A course is the direction of the velocity over
      ground and of the nose. A heading is the direction of the nose and of the velocity through the air, so that the
      vehicle drifts with the wind like a fixed wing. A roll angle is commanded directly and yaws the vehicle as in a
      fixed wing's turn (r = g tan(phi) / V, with the nose aligned with the air flow).
    - An airspeed sets the commanded velocity; the ground speed follows from the wind triangle (Beard and McLain, Small
      Unmanned Aircraft, 2012, sec. 2.4). A pitch angle is commanded directly, at any resulting speed; roll then
      prevents drift off the course (over ground) or the heading (through the air). An integrator removes the steady
      error of a given angle.
    - Height and climb are held by thrust, at any tilt. A throttle is a share of full thrust, but at least
      `min_throttle`, at which the vehicle falls.

    The limits are those of the position controller: `max_speed` over ground, `max_climb_speed`, `max_descent_speed`,
    `max_yaw_rate`, and `max_tilt` for angles that are not given. Commanded angles are rate-limited by `tilt_slew`.
    """

    NAME: ClassVar[str] = "multirotor"
    PARAMETERS: ClassVar[ParameterTable] = MULTIROTOR_TARGET_PARAMETERS
    FLIES_BY_ESTIMATE = True

    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of MULTIROTOR_TARGET_PARAMETERS; others are ignored.

        Raises:
            ParameterError: as for PositionController.
        """
        self._loops = PositionController(values)
        self._gravity = number(values, "gravity")
        tilt = number(values, "level_tilt")
        self._limits = {
            "target_airspeed_min": 0.0,
            "target_airspeed_max": number(values, "max_speed"),
            "target_climb_min": -number(values, "max_descent_speed"),
            "target_climb_max": number(values, "max_climb_speed"),
            "target_pitch_max": tilt,
            "target_roll_max": tilt,
        }
        self._hover_height = number(values, "hover_height")
        self._roll = SlewLimit(number(values, "tilt_slew"))
        self._pitch = SlewLimit(number(values, "tilt_slew"))
        gain = number(values, "tilt_integral_gain")
        self._roll_trim = PiLoop(0.0, gain, -_MOST_TRIM, _MOST_TRIM)
        self._pitch_trim = PiLoop(0.0, gain, -_MOST_TRIM, _MOST_TRIM)
        self._pad: tuple[Vector3, float] | None = None
        self._climbed = 0.0
        self._nose: float | None = None
        self.reset()

    @property
    def has_taken_off(self) -> bool:
        """Whether the take-off has reached `hover_height`."""
        return self._pad is not None and self._climbed >= self._hover_height

    def limits(self, state: FlightState) -> dict[str, float]:
        """Limits of targets: those of the position controller, and the tilt at which the height can be held."""
        return self._limits

    def reset(self) -> None:
        """Reset integrators and take-off."""
        self._loops.reset(rotors_turn=True)
        for part in (self._roll, self._pitch, self._roll_trim, self._pitch_trim):
            part.reset()
        self._pad = self._nose = None
        self._climbed = 0.0

    def adopt(self, old: MultirotorTargetController) -> None:
        """Copy the state of `old`, after a change of parameters."""
        self._loops.adopt(old._loops)
        self._roll.reset(old._roll.value)
        self._pitch.reset(old._pitch.value)
        self._roll_trim.reset(old._roll_trim.integrated)
        self._pitch_trim.reset(old._pitch_trim.integrated)
        self._pad, self._climbed, self._nose = old._pad, old._climbed, old._nose

    def stand(self, state: FlightState) -> AutopilotCommand:
        """Command level attitude without thrust."""
        self.reset()
        return IDLE.autopilot_command(state.position_ned, state.yaw)

    def take_off(self, state: FlightState, dt: float) -> AutopilotCommand:
        """Climb vertically from the take-off point with constant yaw, up to `hover_height`."""
        if self._pad is None:
            self._pad = (state.position_ned, state.yaw)
            self._loops.reset()
        (north, east, down), yaw = self._pad
        top = (north, east, down - self._hover_height - _BEYOND)
        command = self._loops.update(state.position_ned, state.velocity_ned, state.yaw, Setpoint(top, yaw_rad=yaw), dt)
        self._climbed = down - state.position_ned[2]
        self._roll.reset(command.roll_rad)
        self._pitch.reset(command.pitch_rad)
        return command.autopilot_command(top, yaw)

    def fly(self, state: FlightState, target: FlyTarget, dt: float) -> AutopilotCommand:
        """Command for the next `dt` seconds.

        Raises:
            ValueError: the state is not finite; the controller is unchanged.
        """
        if not state.is_finite:
            raise ValueError(f"not finite: {state}")
        wanted = self._horizontal_target(state, target)
        down = self._down(state, target.vertical)
        given = self._direct_commands(state, target)
        command = self._loops.hold_velocity(
            state.velocity_ned, state.yaw, (*wanted.velocity, down), wanted.nose, dt, (*wanted.acceleration, 0.0), given
        )
        if self._roll.value is None:
            self._roll.reset(state.roll)
            self._pitch.reset(state.pitch)
        # Rates of the angles (eq. 3.3): in a turn p and q include parts of the turn rate.
        turning = state.pitch_rate * math.sin(state.roll) + state.yaw_rate * math.cos(state.roll)
        roll_rate = state.roll_rate + math.tan(state.pitch) * turning
        pitch_rate = state.pitch_rate * math.cos(state.roll) - state.yaw_rate * math.sin(state.roll)
        roll = command.roll_rad + _trim(self._roll_trim, given.roll_rad, state.roll, roll_rate, dt)
        pitch = command.pitch_rad + _trim(self._pitch_trim, given.pitch_rad, state.pitch, pitch_rate, dt)
        command = command._replace(roll_rad=self._roll.update(roll, dt), pitch_rad=self._pitch.update(pitch, dt))
        height = target.vertical.altitude_m if isinstance(target.vertical, AltitudeTarget) else state.height
        north, east = wanted.place or state.position_ned[:2]
        return command.autopilot_command((north, east, -height), wanted.nose)

    def _horizontal_target(self, state: FlightState, target: FlyTarget) -> _HorizontalTarget:
        lateral, speed = target.lateral, target.speed
        airspeed = speed.airspeed if isinstance(speed, AirspeedTarget) else None
        if isinstance(lateral, PositionTarget):
            return self._towards(state, (lateral.north_m, lateral.east_m), airspeed)
        self._nose = None
        if isinstance(lateral, CourseTarget):
            return _along(state, lateral, airspeed)
        nose = lateral.heading_rad if isinstance(lateral, HeadingTarget) else state.yaw
        along = (math.cos(nose), math.sin(nose))
        through = _horizontal(state, airspeed) if airspeed is not None else _dot(_through_air(state), along)
        return _HorizontalTarget((state.wind_ned[0] + through * along[0], state.wind_ned[1] + through * along[1]), nose)

    def _towards(self, state: FlightState, place: tuple[float, float], airspeed: float | None) -> _HorizontalTarget:
        north, east = place[0] - state.position_ned[0], place[1] - state.position_ned[1]
        distance, bearing = math.hypot(north, east), math.atan2(east, north)
        if distance > _NEAR or self._nose is None:
            self._nose = bearing if distance > _NEAR else state.yaw
        if airspeed is None:
            return _along(state, CourseTarget(self._nose), None)._replace(place=place)
        fastest = ground_speed_along(bearing, _horizontal(state, airspeed), state.wind_ned)
        to_north, to_east, _ = self._loops.approach(state.position_ned, Setpoint((*place, state.position_ned[2])))
        share = min(1.0, fastest / max(math.hypot(to_north, to_east), 1e-9))
        return _HorizontalTarget((share * to_north, share * to_east), self._nose, place=place)

    def _down(self, state: FlightState, vertical: Vertical) -> float:
        """Target descent rate, m/s."""
        if isinstance(vertical, AltitudeTarget):
            north, east, _ = state.position_ned
            return self._loops.approach(state.position_ned, Setpoint((north, east, -vertical.altitude_m)))[2]
        return -vertical.climb if isinstance(vertical, ClimbTarget) else state.velocity_ned[2]

    def _direct_commands(self, state: FlightState, target: FlyTarget) -> DirectCommands:
        """Parts of the attitude command that the target gives directly."""
        roll = target.lateral.roll_rad if isinstance(target.lateral, RollTarget) else None
        return DirectCommands(
            roll_rad=roll,
            pitch_rad=target.speed.pitch_rad if isinstance(target.speed, PitchTarget) else None,
            yaw_rate_rps=None if roll is None else self._turn_rate(state, roll),
            throttle=target.vertical.throttle if isinstance(target.vertical, ThrottleTarget) else None,
        )

    def _turn_rate(self, state: FlightState, roll: float) -> float:
        north, east = _through_air(state)
        speed = math.hypot(north, east)
        slip = wrap_angle(math.atan2(east, north) - state.yaw) if speed > _SLOW else 0.0
        return self._gravity * math.tan(roll) / max(speed, _SLOW) + self._loops.yaw_rate(slip)


def _trim(loop: PiLoop, given: float | None, angle: float, rate: float, dt: float) -> float:
    """Integral correction of a given angle, needed because the flight controller's rate damping opposes turns."""
    if given is None:
        loop.reset()
        return 0.0
    return loop.update(settling_error(given - angle, rate), dt)


def _along(state: FlightState, target: CourseTarget, airspeed: float | None) -> _HorizontalTarget:
    """Velocity along a course, at the target airspeed if given, otherwise at the current speed."""
    north, east = math.cos(target.course_rad), math.sin(target.course_rad)
    if airspeed is None:
        speed = _dot(state.velocity_ned, (north, east))
    else:
        speed = ground_speed_along(target.course_rad, _horizontal(state, airspeed), state.wind_ned)
    inward = speed * speed * target.curvature
    return _HorizontalTarget((speed * north, speed * east), target.course_rad, (-inward * east, inward * north))


def _horizontal(state: FlightState, airspeed: float) -> float:
    """Horizontal part of an airspeed, given the climb rate through the air, m/s."""
    down = state.velocity_ned[2] - state.wind_ned[2]
    return math.sqrt(max(airspeed * airspeed - down * down, 0.0))


def _through_air(state: FlightState) -> tuple[float, float]:
    return state.velocity_ned[0] - state.wind_ned[0], state.velocity_ned[1] - state.wind_ned[1]


def _dot(a: tuple[float, ...], b: tuple[float, float]) -> float:
    return a[0] * b[0] + a[1] * b[1]
