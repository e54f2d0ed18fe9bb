"""Setpoint of a position controller at one instant."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]


class Setpoint(NamedTuple):
    """Point of a reference trajectory: position, velocity, acceleration and yaw.

    `velocity_ned` and `acceleration_ned` are the derivatives of the moving `position_ned`; a controller feeds them
    forward, so that a smooth trajectory can be followed without a steady error. `yaw_rad` is measured from north,
    positive towards east.
    """

    position_ned: Vector3
    velocity_ned: Vector3 = (0.0, 0.0, 0.0)
    yaw_rad: float = 0.0
    acceleration_ned: Vector3 = (0.0, 0.0, 0.0)
