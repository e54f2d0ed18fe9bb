"""Straight leg from rest to rest with limited, smooth speed and acceleration."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.setpoint import Vector3


class StraightLeg:
    """Leg from `start_ned` to `end_ned` (m) at `speed` (m/s), with accelerations up to `acceleration` (m/s^2).

    The speed rises as V (1 - cos(pi t / t_r)) / 2 within t_r = pi V / (2 a), remains constant, and falls in the same
    way, so that the acceleration has no jumps: the ramps are the halves of a cycloidal trajectory (L. Biagiotti and C.
    Melchiorri, Trajectory Planning for Automatic Machines and Robots, 2008, sec. 2.2.2). Each ramp covers V t_r / 2; a
    leg too short for two ramps is flown at the lower V = sqrt(2 a L / pi).
    """

    def __init__(self, start_ned: Vector3, end_ned: Vector3, speed: float, acceleration: float) -> None:
        self.start_ned = start_ned
        self.end_ned = end_ned
        self.length = math.dist(start_ned, end_ned)
        self.speed = min(speed, math.sqrt(2.0 * acceleration * self.length / math.pi))
        self._ramp_time = math.pi * self.speed / (2.0 * acceleration)
        self._cruise_time = self.length / self.speed - self._ramp_time if self.length > 0.0 else 0.0
        self.duration = 2.0 * self._ramp_time + self._cruise_time
        self._direction: Vector3 = (0.0, 0.0, 0.0)
        if self.length > 0.0:
            north, east, down = (e - s for s, e in zip(start_ned, end_ned, strict=True))
            self._direction = (north / self.length, east / self.length, down / self.length)

    def at(self, elapsed_s: float) -> tuple[Vector3, Vector3, Vector3]:
        """Position (m), velocity (m/s) and acceleration (m/s^2), NED, `elapsed_s` after the start; at rest beyond."""
        if elapsed_s <= 0.0:
            return self.start_ned, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if elapsed_s >= self.duration:
            return self.end_ned, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        remaining = self.duration - elapsed_s
        if elapsed_s < self._ramp_time:
            distance, speed, acceleration = self._ramp(elapsed_s)
        elif remaining < self._ramp_time:
            left, speed, braking = self._ramp(remaining)
            distance, acceleration = self.length - left, -braking
        else:
            distance = self.speed * (elapsed_s - self._ramp_time / 2.0)
            speed, acceleration = self.speed, 0.0
        (n, e, d), (x, y, z) = self._direction, self.start_ned
        return (
            (x + n * distance, y + e * distance, z + d * distance),
            (n * speed, e * speed, d * speed),
            (n * acceleration, e * acceleration, d * acceleration),
        )

    def _ramp(self, elapsed_s: float) -> tuple[float, float, float]:
        angle = math.pi * elapsed_s / self._ramp_time
        half = self.speed / 2.0
        distance = half * (elapsed_s - math.sin(angle) * self._ramp_time / math.pi)
        return distance, half * (1.0 - math.cos(angle)), half * math.sin(angle) * math.pi / self._ramp_time
