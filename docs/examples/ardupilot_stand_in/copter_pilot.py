"""Pilot of a quadrotor: take-off, hover, a flight to the north and back, landing."""

from __future__ import annotations

import math

from ardupilot_lines import Reading

GRAVITY = 9.81

# Thrust of each motor in hover as a share of full thrust; an integrator corrects it.
HOVER_SHARE = 0.25

# Horizontal acceleration per position error (1/s^2) and per speed error (1/s), gain of the integrator that compensates
# the wind (1/s^3), and limit of the acceleration (m/s^2).
POSITION_GAIN, VELOCITY_GAIN, WIND_GAIN, MOST_ACCELERATION = 1.5, 2.7, 0.1, 4.0

# The same for the vertical; the integrator compensates the weight.
HEIGHT_GAIN, CLIMB_GAIN, WEIGHT_GAIN, MOST_VERTICAL = 4.0, 4.0, 1.5, 5.0

# Share of the thrust per angle (1/rad) and rate (s/rad). A full share accelerates the 3.5 kg quadrotor by 170 rad/s^2
# about roll and pitch and by 12 rad/s^2 about yaw, which gives loops of 8 and 2 rad/s with a damping ratio of 0.8.
TILT_GAIN, TILT_RATE_GAIN = 0.38, 0.08
YAW_GAIN, YAW_RATE_GAIN, MOST_YAW = 0.34, 0.27, 0.1

# Signs of roll, pitch and yaw for ArduPilot's quad x: front right, rear left, front left, rear right. The first two
# rotate counterclockwise, so more thrust from them yaws the vehicle to the right.
MOTORS = ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1))

IDLE_US = 1100
ARMING_S, HOVER_S = 0.5, 2.0


class CopterPilot:
    """Follows a point that moves along the legs of a flight.

    Attributes:
        phase: arming, take off, hover, away, back, land or landed.
    """

    def __init__(self, *, height: float = 5.0, distance: float = 22.0, speed: float = 4.0) -> None:
        """`height` and `distance` in m; `speed` in m/s on the way, and at most half of it in climb and descent."""
        self.phase = "arming"
        up = min(2.0, 0.5 * speed)
        self._legs = [
            ("take off", (0.0, 0.0, -height), up, 0.0),
            ("hover", (0.0, 0.0, -height), up, HOVER_S),
            ("away", (distance, 0.0, -height), speed, 0.0),
            ("back", (0.0, 0.0, -height), speed, 0.0),
            # Below the ground, so that the descent continues until the touch-down.
            ("land", (0.0, 0.0, 2.0 * height), 0.5 * up, 0.0),
        ]
        self._leg = -1
        self._home = (0.0, 0.0, 0.0)
        self._yaw = 0.0
        self._reference = [0.0, 0.0, 0.0]
        self._began_s = -1.0
        self._calm_s = 0.0
        self._push = [0.0, 0.0, 0.0]

    @property
    def is_done(self) -> bool:
        """Whether the vehicle has landed."""
        return self.phase == "landed"

    def command(self, now: Reading, dt: float) -> list[int]:
        """Pulse width of each motor, us, for the next `dt` seconds."""
        if self.phase == "landed":
            return [1000] * 4
        if self._began_s < 0.0:
            self._began_s = now.timestamp
            self._home, self._yaw = now.position, now.euler[2]  # type: ignore[assignment]
        if self.phase == "arming":
            if now.timestamp - self._began_s >= ARMING_S:
                self._next_leg(now)
            return [IDLE_US] * 4
        velocity = self._move_reference(now, dt)
        return self._hold(now, velocity, dt)

    def _next_leg(self, now: Reading) -> None:
        self._leg += 1
        self.phase = self._legs[self._leg][0]
        self._began_s = now.timestamp

    def _move_reference(self, now: Reading, dt: float) -> list[float]:
        """Advance the point, and begin the next leg when this one is complete; return the point's velocity."""
        _, target, speed, stay_s = self._legs[self._leg]
        way = [t - r for t, r in zip(target, self._reference, strict=True)]
        left = math.hypot(*way)
        velocity = [0.0, 0.0, 0.0]
        if left > 1e-9:
            step = min(speed * dt, left)
            velocity = [w / left * step / dt for w in way] if dt > 0.0 else velocity
            self._reference = [r + w / left * step for r, w in zip(self._reference, way, strict=True)]
        off = [p - h - t for p, h, t in zip(now.position, self._home, target, strict=True)]
        if self.phase == "land":
            # On the ground, the point continues to sink below the vehicle.
            below = self._reference[2] - (now.position[2] - self._home[2])
            calm = below > 0.4 and abs(now.velocity[2]) < 0.1
            self._calm_s = self._calm_s + dt if calm else 0.0
            if self._calm_s > 0.3:
                self.phase = "landed"
        elif math.hypot(*off) < 0.5 and math.hypot(*now.velocity) < 0.5 and now.timestamp >= self._began_s + stay_s:
            self._next_leg(now)
        return velocity

    def _hold(self, now: Reading, reference_velocity: list[float], dt: float) -> list[int]:
        error = [r + h - p for r, h, p in zip(self._reference, self._home, now.position, strict=True)]
        slip = [r - v for r, v in zip(reference_velocity, now.velocity, strict=True)]
        if self.phase != "land":
            # In motion the integrator would compensate drag instead of wind.
            wind = 0.0 if reference_velocity[0] else WIND_GAIN
            gains = (wind, wind, WEIGHT_GAIN)
            self._push = [_within(p + g * e * dt, 3.0) for p, g, e in zip(self._push, gains, error, strict=True)]
        north, east = (
            POSITION_GAIN * e + VELOCITY_GAIN * s + p
            for e, s, p in zip(error[:2], slip[:2], self._push[:2], strict=True)
        )
        excess = max(1.0, math.hypot(north, east) / MOST_ACCELERATION)
        north, east = north / excess, east / excess
        up = _within(-HEIGHT_GAIN * error[2] - CLIMB_GAIN * slip[2] - self._push[2], MOST_VERTICAL)

        roll, pitch, yaw = now.euler
        forward = north * math.cos(yaw) + east * math.sin(yaw)
        right = -north * math.sin(yaw) + east * math.cos(yaw)
        p, q, r = now.gyro
        shares = (
            TILT_GAIN * (math.atan(right / GRAVITY) - roll) - TILT_RATE_GAIN * p,
            TILT_GAIN * (-math.atan(forward / GRAVITY) - pitch) - TILT_RATE_GAIN * q,
            _within(YAW_GAIN * math.remainder(self._yaw - yaw, math.tau) - YAW_RATE_GAIN * r, MOST_YAW),
        )
        upright = max(0.5, math.cos(roll) * math.cos(pitch))
        thrust = HOVER_SHARE * (1.0 + up / GRAVITY) / upright
        return [_pulse_us(thrust + sum(s * m for s, m in zip(signs, shares, strict=True))) for signs in MOTORS]


def _pulse_us(share: float) -> int:
    """Pulse width for a share of the thrust, which is about proportional to the square of the throttle."""
    return round(1000.0 + 1000.0 * math.sqrt(max(0.01, min(1.0, share))))


def _within(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
