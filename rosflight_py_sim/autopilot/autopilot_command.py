"""Command of an autopilot at one instant."""

from __future__ import annotations

from typing import NamedTuple

from rosflight_py_sim.autopilot.setpoint import Vector3


class AutopilotCommand(NamedTuple):
    """Command to the flight controller, with the target position and yaw.

    Attributes:
        mode: mode of rosflight_msgs/Command (firmware.CommandMode).
        u: the ten values of the command.
        position_ned: target position, m.
        yaw_rad: target direction of nose or course.
    """

    mode: int
    u: tuple[float, float, float, float, float, float, float, float, float, float]
    position_ned: Vector3
    yaw_rad: float
