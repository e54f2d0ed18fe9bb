"""Flight state used by the autopilot loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rosflight_py_sim.autopilot.setpoint import Vector3
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


def flight_state(truth: Sequence[float], wind_ned: Sequence[float]) -> FlightState:
    """Flight state from a truth state (19,), see `physics`, and the wind (3,), m/s.

    Airspeed is the length of the velocity through the air, course the direction of the horizontal velocity over ground
    (Beard and McLain, Small Unmanned Aircraft, 2012, eq. 2.6 and fig. 2.10).
    """
    north, east, down, w, x, y, z, u, v, s, p, q, r = truth[:13]
    velocity = to_north, to_east, _ = rotate_to_inertial(w, x, y, z, u, v, s)
    wind_north, wind_east, wind_down = wind_ned
    roll, pitch, yaw = euler_from_quaternion(w, x, y, z)
    ground_speed = math.hypot(to_north, to_east)
    return FlightState(
        (north, east, down),
        roll,
        pitch,
        yaw,
        p,
        q,
        r,
        math.atan2(to_east, to_north) if ground_speed > _STANDING else yaw,
        ground_speed,
        math.dist(velocity, wind_ned),
        velocity,
        (wind_north, wind_east, wind_down),
    )
