"""Pilot of a fixed wing: take-off to the north, a left-hand circuit, and a landing at the start."""

from __future__ import annotations

import math
from typing import NamedTuple

from ardupilot_lines import Reading

GRAVITY = 9.81

# Airspeeds of the circuit, the approach and the rotation, m/s.
CRUISE, APPROACH, ROTATION = 18.0, 14.0, 13.0

# Share of the aileron per roll error (1/rad) and roll rate (s/rad), at CRUISE.
ROLL_GAIN, ROLL_RATE_GAIN = 1.4, 0.05

# Share of the elevator per pitch error (1/rad), its integral (1/(rad s)) and pitch rate (s/rad), at CRUISE.
PITCH_GAIN, PITCH_INTEGRAL_GAIN, PITCH_RATE_GAIN = 1.2, 1.0, 0.25

# Share of the rudder per yaw error (1/rad) and yaw rate (s/rad) on the ground.
STEERING_GAIN, STEERING_RATE_GAIN = 3.0, 1.0

# Pitch angle per height error (rad/m) and climb rate (rad s/m), and its limit (rad).
HEIGHT_GAIN, CLIMB_GAIN, MOST_PITCH = 0.04, 0.03, 0.25

# Share of the throttle per airspeed error (s/m), its integral (1/m), and per commanded pitch angle (1/rad).
SPEED_GAIN, SPEED_INTEGRAL_GAIN, CLIMB_THROTTLE = 0.08, 0.03, 1.0
CRUISE_THROTTLE = 0.6

# Intercept angle per distance from the line (rad/m), roll angle per course error, and the limits of both (rad).
LINE_GAIN, MOST_INTERCEPT = 0.03, math.radians(85.0)
COURSE_GAIN, MOST_ROLL = 1.5, math.radians(40.0)

TAKE_OFF_PITCH, FLARE_PITCH = math.radians(10.0), math.radians(3.0)
GLIDE = math.radians(5.0)
FLARE_HEIGHT, TOUCH_HEIGHT = 1.5, 0.25
ARMING_S, ROLLED_OUT_SPEED = 0.5, 8.0


class _Leg(NamedTuple):
    """A line due north or south, at `east` (m), flown to the north coordinate `until` (m), at a height (m)."""

    name: str
    northward: bool
    east: float
    until: float
    height: float


class PlanePilot:
    """Takes off to the north, flies a left-hand circuit, and lands on the line of the take-off.

    Attributes:
        phase: arming, roll, climb, downwind, final, flare, roll out, landed.
    """

    def __init__(
        self, *, height: float = 12.0, upwind_end: float = 90.0, downwind_end: float = -110.0, elevons: bool = False
    ) -> None:
        """`height` of the circuit, m; `upwind_end`, `downwind_end`: north coordinates at which the turns begin, m."""
        self.phase = "arming"
        self._elevons = elevons
        self._legs = iter(
            [
                _Leg("climb", True, 0.0, upwind_end, height),
                _Leg("downwind", False, -90.0, downwind_end, height),
                _Leg("final", True, 0.0, math.inf, height),
            ]
        )
        self._leg = next(self._legs)
        self._home = (0.0, 0.0, 0.0)
        self._began_s = -1.0
        self._trim = 0.0
        self._throttle = 0.0
        self._on_wheels_s = 0.0

    @property
    def is_done(self) -> bool:
        """Whether the vehicle has landed."""
        return self.phase == "landed"

    def command(self, now: Reading, dt: float) -> list[int]:
        """Pulse widths of aileron (or left elevon), elevator (or right elevon), throttle and rudder, us."""
        if self._began_s < 0.0:
            self._began_s = now.timestamp
            self._home = now.position  # type: ignore[assignment]
        north, east, down = (p - h for p, h in zip(now.position, self._home, strict=True))
        height, speed = -down, _airspeed(now)
        self._change_phase(now, north, height, speed, dt)
        _, pitch, yaw = now.euler
        if self.phase in ("arming", "landed"):
            return self._pulses(0.0, 0.0, 0.0, 0.0)
        if self.phase == "roll":
            self._throttle = min(1.0, self._throttle + dt)
            wanted = TAKE_OFF_PITCH if speed > ROTATION else pitch
            return self._pulses(*self._surfaces(now, 0.0, wanted, dt), self._throttle, _steering(now, yaw))
        if self.phase == "roll out":
            return self._pulses(_aileron(now, 0.0, speed), 0.0, 0.0, _steering(now, yaw))
        if self.phase == "flare":
            return self._pulses(*self._surfaces(now, 0.0, FLARE_PITCH, dt), 0.0, 0.0)
        wanted_roll = _roll_to_line(now, east, self._leg)
        wanted_height = min(self._leg.height, max(0.0, -north * math.tan(GLIDE))) if self.phase == "final" else None
        wanted_speed = CRUISE if wanted_height is None or height > 0.8 * self._leg.height else APPROACH
        wanted_pitch = self._pitch_to_height(now, self._leg.height if wanted_height is None else wanted_height, height)
        throttle = self._throttle_to_speed(wanted_speed - speed, wanted_pitch, dt)
        return self._pulses(*self._surfaces(now, wanted_roll, wanted_pitch, dt), throttle, 0.0)

    def _change_phase(self, now: Reading, north: float, height: float, speed: float, dt: float) -> None:
        leg = self._leg
        if self.phase == "arming":
            if now.timestamp - self._began_s >= ARMING_S:
                self.phase = "roll"
        elif self.phase == "roll":
            if height > 3.0:
                self.phase, self._throttle = leg.name, CRUISE_THROTTLE
        elif self.phase == "final":
            if height < FLARE_HEIGHT:
                self.phase = "flare"
        elif self.phase == "flare":
            self._on_wheels_s = self._on_wheels_s + dt if height < TOUCH_HEIGHT else 0.0
            if self._on_wheels_s > 0.3:
                self.phase = "roll out"
        elif self.phase == "roll out":
            if speed < ROLLED_OUT_SPEED:
                self.phase = "landed"
        elif self.phase == leg.name and (north > leg.until if leg.northward else north < leg.until):
            self._leg = next(self._legs)
            self.phase = self._leg.name

    def _pitch_to_height(self, now: Reading, wanted: float, height: float) -> float:
        return _within(HEIGHT_GAIN * (wanted - height) + CLIMB_GAIN * now.velocity[2], MOST_PITCH)

    def _throttle_to_speed(self, error: float, pitch: float, dt: float) -> float:
        wanted = self._throttle + SPEED_GAIN * error + CLIMB_THROTTLE * pitch
        if 0.0 < wanted < 1.0:
            self._throttle += SPEED_INTEGRAL_GAIN * error * dt
        return max(0.0, min(1.0, wanted))

    def _surfaces(self, now: Reading, roll: float, pitch: float, dt: float) -> tuple[float, float]:
        speed = _airspeed(now)
        scale = _scale(speed)
        error = pitch - now.euler[1]
        if speed > ROTATION - 3.0:
            self._trim = _within(self._trim + scale * PITCH_INTEGRAL_GAIN * error * dt, 0.6)
        elevator = scale * (PITCH_GAIN * error - PITCH_RATE_GAIN * _pitch_angle_rate(now)) + self._trim
        return _aileron(now, roll, speed), elevator

    def _pulses(self, aileron: float, elevator: float, throttle: float, rudder: float) -> list[int]:
        pair = (elevator - aileron, elevator + aileron) if self._elevons else (aileron, elevator)
        first, second, fourth = (round(1500.0 + 500.0 * _within(share, 1.0)) for share in (*pair, rudder))
        return [first, second, round(1000.0 + 1000.0 * throttle), fourth]


def _airspeed(now: Reading) -> float:
    wind = now.others.get("velocity_wind", (0.0, 0.0, 0.0))
    assert isinstance(wind, tuple)
    return math.dist(now.velocity, wind)


def _pitch_angle_rate(now: Reading) -> float:
    """Rate of the pitch angle; the body's pitch rate also contains the turn rate, which must not be damped."""
    roll = now.euler[0]
    return now.gyro[1] * math.cos(roll) - now.gyro[2] * math.sin(roll)


def _scale(speed: float) -> float:
    """Scale of the surfaces, which work in proportion to the dynamic pressure."""
    return min(3.0, (CRUISE / max(speed, 1.0)) ** 2)


def _aileron(now: Reading, roll: float, speed: float) -> float:
    return _scale(speed) * (ROLL_GAIN * (roll - now.euler[0]) - ROLL_RATE_GAIN * now.gyro[0])


def _steering(now: Reading, yaw: float) -> float:
    return -STEERING_GAIN * yaw - STEERING_RATE_GAIN * now.gyro[2]


def _roll_to_line(now: Reading, east: float, leg: _Leg) -> float:
    """Roll angle that leads to the line, and along it."""
    along = 0.0 if leg.northward else math.pi
    right_of_line = east - leg.east if leg.northward else leg.east - east
    intercept = _within(LINE_GAIN * right_of_line, MOST_INTERCEPT)
    course = math.atan2(now.velocity[1], now.velocity[0])
    error = along - intercept - course
    # Turn left from north to south, independent of rounding.
    turn = math.remainder(error, math.tau) if abs(math.remainder(error, math.tau)) < 2.8 else -math.pi
    return _within(COURSE_GAIN * turn, MOST_ROLL)


def _within(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
