"""Flight state used by the autopilot loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rosflight_py_sim.autopilot.setpoint import Vector3
from rosflight_py_sim.kernels.hypot import hypot
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial


class FlightState(NamedTuple):
    """Position (NED, m), attitude (rad), body rates (rad/s), course over ground (rad), speeds (m/s).

    `velocity_ned` is the velocity over ground, `wind_ned` that of the air; both are used by the multirotor loops and by
    the loops that hold a climb.
    """

    position_ned: Vector3
    roll: float
    pitch: float
    yaw: float
    roll_rate: float
    pitch_rate: float
    yaw_rate: float
    course: float
    ground_speed: float
    airspeed: float
    velocity_ned: Vector3
    wind_ned: Vector3

    @property
    def height(self) -> float:
        """Height above the origin, m."""
        return -self.position_ned[2]

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        return math.isfinite(sum(self.position_ned) + sum(self[1:10]) + sum(self.velocity_ned) + sum(self.wind_ned))

    @property
    def climb(self) -> float:
        """Climb rate, m/s."""
        return -self.velocity_ned[2]


# Ground speed (m/s) below which the heading is used as course, because the course would be noise.
_STANDING = 0.5


@kernel
def seen_flight(
    qw: float,
    qx: float,
    qy: float,
    qz: float,
    u: float,
    v: float,
    w: float,
    wind_north: float,
    wind_east: float,
    wind_down: float,
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Roll, pitch, yaw, course (rad), ground speed, airspeed and velocity over ground (m/s); see `flight_state`."""
    north, east, down = rotate_to_inertial(qw, qx, qy, qz, u, v, w)
    roll, pitch, yaw = euler_from_quaternion(qw, qx, qy, qz)
    ground_speed = hypot(north, east)
    course = math.atan2(east, north) if ground_speed > _STANDING else yaw
    x, y, z = north - wind_north, east - wind_east, down - wind_down
    return roll, pitch, yaw, course, ground_speed, math.sqrt(x * x + y * y + z * z), north, east, down


def flight_state(truth: Sequence[float], wind_ned: Sequence[float]) -> FlightState:
    """Flight state from a truth state (19,), see `physics`, and the wind (3,), m/s.

    Airspeed is the length of the velocity through the air, course the direction of the horizontal velocity over ground
    (Beard and McLain, Small Unmanned Aircraft, 2012, eq. 2.6 and fig. 2.10).
    """
    to_north, to_east, to_down, qw, qx, qy, qz, u, v, w, p, q, r = truth[:13]
    wind_north, wind_east, wind_down = wind_ned
    roll, pitch, yaw, course, ground_speed, airspeed, north, east, down = seen_flight(
        qw, qx, qy, qz, u, v, w, wind_north, wind_east, wind_down
    )
    return FlightState(
        (to_north, to_east, to_down),
        roll,
        pitch,
        yaw,
        p,
        q,
        r,
        course,
        ground_speed,
        airspeed,
        (north, east, down),
        (wind_north, wind_east, wind_down),
    )
