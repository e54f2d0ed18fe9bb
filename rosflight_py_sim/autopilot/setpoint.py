"""What guidance asks of a position controller at one instant."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]


class Setpoint(NamedTuple):
    """A point of a reference trajectory: where to be, how fast, and with which nose direction.

    `velocity_ned` and `acceleration_ned` are the derivatives of the moving `position_ned`; a controller feeds them
    forward, so that following a smooth trajectory needs no error to begin with. `yaw_rad` is measured from north,
    positive towards east.
    """

    position_ned: Vector3
    velocity_ned: Vector3 = (0.0, 0.0, 0.0)
    yaw_rad: float = 0.0
    acceleration_ned: Vector3 = (0.0, 0.0, 0.0)
