"""Straight leg from rest to rest with limited, smooth speed and acceleration."""

from __future__ import annotations

import math
from typing import TypeAlias

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record

Nine: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
"""Position (m), velocity (m/s) and acceleration (m/s^2), NED."""


@kernel_record
class Leg:
    """A straight leg as numbers.

    Attributes:
        north: start, m, as `east` and `down`.
        end_north: end, m, as `end_east` and `end_down`.
        along_north: direction, as `along_east` and `along_down`; 0 for a leg of length 0.
        length: m.
        speed: between the ramps, m/s.
        ramp_time: duration of each ramp, s.
        duration: of the leg, s.
    """

    north: float
    east: float
    down: float
    end_north: float
    end_east: float
    end_down: float
    along_north: float
    along_east: float
    along_down: float
    length: float
    speed: float
    ramp_time: float
    duration: float


@kernel
def ramp_motion(leg: Leg, elapsed_s: float) -> tuple[float, float, float]:
    """Distance (m), speed (m/s) and acceleration (m/s^2) in the first ramp, `elapsed_s` after its start."""
    angle = math.pi * elapsed_s / leg.ramp_time
    half = leg.speed / 2.0
    distance = half * (elapsed_s - math.sin(angle) * leg.ramp_time / math.pi)
    return distance, half * (1.0 - math.cos(angle)), half * math.sin(angle) * math.pi / leg.ramp_time


@kernel
def leg_motion(leg: Leg, elapsed_s: float) -> Nine:
    """Position, velocity and acceleration `elapsed_s` after the start; at rest beyond the ends."""
    if elapsed_s <= 0.0:
        return leg.north, leg.east, leg.down, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if elapsed_s >= leg.duration:
        return leg.end_north, leg.end_east, leg.end_down, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    remaining = leg.duration - elapsed_s
    if elapsed_s < leg.ramp_time:
        distance, speed, acceleration = ramp_motion(leg, elapsed_s)
    elif remaining < leg.ramp_time:
        left, speed, braking = ramp_motion(leg, remaining)
        distance, acceleration = leg.length - left, -braking
    else:
        distance = leg.speed * (elapsed_s - leg.ramp_time / 2.0)
        speed, acceleration = leg.speed, 0.0
    n, e, d = leg.along_north, leg.along_east, leg.along_down
    return (
        leg.north + n * distance,
        leg.east + e * distance,
        leg.down + d * distance,
        n * speed,
        e * speed,
        d * speed,
        n * acceleration,
        e * acceleration,
        d * acceleration,
    )


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
        self.length = length = math.dist(start_ned, end_ned)
        self.speed = min(speed, math.sqrt(2.0 * acceleration * length / math.pi))
        ramp_time = math.pi * self.speed / (2.0 * acceleration)
        cruise_time = length / self.speed - ramp_time if length > 0.0 else 0.0
        self.duration = 2.0 * ramp_time + cruise_time
        direction: Vector3 = (0.0, 0.0, 0.0)
        if length > 0.0:
            north, east, down = (e - s for s, e in zip(start_ned, end_ned, strict=True))
            direction = (north / length, east / length, down / length)
        self.numbers = Leg(
            north=start_ned[0],
            east=start_ned[1],
            down=start_ned[2],
            end_north=end_ned[0],
            end_east=end_ned[1],
            end_down=end_ned[2],
            along_north=direction[0],
            along_east=direction[1],
            along_down=direction[2],
            length=length,
            speed=self.speed,
            ramp_time=ramp_time,
            duration=self.duration,
        )

    def at(self, elapsed_s: float) -> tuple[Vector3, Vector3, Vector3]:
        """Position (m), velocity (m/s) and acceleration (m/s^2), NED, `elapsed_s` after the start; at rest beyond."""
        north, east, down, u, v, w, ahead, right, below = leg_motion(self.numbers, elapsed_s)
        return (north, east, down), (u, v, w), (ahead, right, below)
