"""A flight that shows the parameters of a multirotor: steps to and fro about each axis, and fast legs.

The steps are added to the commands of a simple guidance that holds the height and flies legs to north, east, south and
west.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.identification.excitation import Excitation, Step, multisteps
from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.physics.rotations import rotate_to_inertial

PERIOD_S = 16.0
"""Time after which the manoeuvres begin again, s."""

LEG_SPEED = 9.0
"""Speed over the ground that a leg aims for, m/s."""

_LEG_S = 5.0
_LEGS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))

_ROLL, _PITCH = (Step(0.5, 0.2), Step(8.5, 0.12)), (Step(2.5, 0.2), Step(10.0, 0.12))
_YAW, _THROTTLE = (Step(4.5, 0.3), Step(11.5, 0.2)), (Step(6.7, 0.2), Step(13.0, 0.15))
_TILT, _TURN, _THRUST = 0.2, 1.2, 0.08

_LARGEST_TILT = 0.35


class Steps(NamedTuple):
    """Manoeuvres at a time.

    Attributes:
        roll: added to the roll angle (rad).
        pitch: added to the pitch angle (rad).
        yaw_rate: yaw rate (rad/s).
        throttle: added to the throttle (0 to 1).
        north: velocity that the leg aims for (m/s).
        east: likewise.
    """

    roll: float
    pitch: float
    yaw_rate: float
    throttle: float
    north: float
    east: float


def steps(time_s: float) -> Steps:
    """The manoeuvres at a time since the begin, s."""
    within = time_s % PERIOD_S
    roll, pitch, yaw, throttle = (multisteps(within, parts) for parts in (_ROLL, _PITCH, _YAW, _THROTTLE))
    north, east = _LEGS[int(time_s / _LEG_S) % len(_LEGS)]
    return Steps(_TILT * roll, _TILT * pitch, _TURN * yaw, _THRUST * throttle, LEG_SPEED * north, LEG_SPEED * east)


class MultirotorExcitation(Excitation):
    """Commands of roll, pitch, yaw rate and throttle that hold a height and add the manoeuvres."""

    SECONDS: ClassVar[float] = 3.0 * PERIOD_S
    MODE: ClassVar[CommandMode] = CommandMode.ROLL_PITCH_YAWRATE_THROTTLE

    def __init__(self, height_m: float) -> None:
        """Hold a height above the origin."""
        self._height_m = height_m
        self._throttle, self._last_s = 0.5, math.nan

    def command(self, time_s: float, truth: Array, wind_ned: Array) -> tuple[float, ...]:
        """Angles, yaw rate and throttle; the wind plays no part."""
        added = steps(time_s)
        w, x, y, z = truth[3:7].tolist()
        north, east, down = rotate_to_inertial(w, x, y, z, *truth[7:10].tolist())
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        lacking_n, lacking_e = added.north - north, added.east - east
        ahead = math.cos(yaw) * lacking_n + math.sin(yaw) * lacking_e
        right = math.cos(yaw) * lacking_e - math.sin(yaw) * lacking_n
        low = self._height_m + float(truth[2])
        passed_s = 0.0 if math.isnan(self._last_s) else time_s - self._last_s
        self._last_s = time_s
        self._throttle = _limited(self._throttle + 0.02 * low * passed_s, 0.2, 0.8)
        roll = _limited(0.12 * right, -_LARGEST_TILT, _LARGEST_TILT) + added.roll
        pitch = _limited(-0.12 * ahead, -_LARGEST_TILT, _LARGEST_TILT) + added.pitch
        throttle = _limited(self._throttle + 0.05 * low + 0.08 * down + added.throttle, 0.05, 0.95)
        return (0.0, 0.0, throttle, roll, pitch, added.yaw_rate, 0.0, 0.0, 0.0, 0.0)


def _limited(value: float, least: float, most: float) -> float:
    return max(least, min(most, value))
