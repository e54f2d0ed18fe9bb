"""What an autopilot decides at one instant."""

from __future__ import annotations

from typing import NamedTuple

from rosflight_py_sim.autopilot.setpoint import Vector3


class Guided(NamedTuple):
    """A command to the flight controller, and what it is to bring about.

    Attributes:
        mode: of rosflight_msgs/Command (firmware.CommandMode).
        u: its ten numbers.
        position_ned: where the vehicle shall be now, m.
        yaw_rad: where its nose or its course shall point.
    """

    mode: int
    u: tuple[float, float, float, float, float, float, float, float, float, float]
    position_ned: Vector3
    yaw_rad: float
