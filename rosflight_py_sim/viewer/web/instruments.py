"""Readings of the cockpit instruments, from the state that the page shows."""

from __future__ import annotations

import math

from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_body, rotate_to_inertial
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView


def readings(view: VehicleView, *, underwater: bool) -> dict[str, object]:
    """What the instruments show, all from the true state.

    `roll`, `pitch` and `heading` (0 to 360) in deg; `speed` through the air or water and horizontal `ground_speed`,
    m/s; `altitude`, positive up, or `depth`, positive down, m; `climb`, positive up, m/s; `battery`, V and A, and `rc`,
    the transmitter's pulse widths (8), us, or None if unknown.
    """
    truth = view.truth.tolist()
    quaternion, velocity_body = truth[3:7], truth[7:10]
    roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quaternion(*quaternion))
    wind_body = rotate_to_body(*quaternion, *view.wind_ned.tolist())
    north_speed, east_speed, down_speed = rotate_to_inertial(*quaternion, *velocity_body)
    shown: dict[str, object] = {
        "time": view.time_s,
        "roll": roll,
        "pitch": pitch,
        "heading": yaw % 360.0,
        "speed": math.dist(velocity_body, wind_body),
        "ground_speed": math.hypot(north_speed, east_speed),
        "depth" if underwater else "altitude": truth[2] if underwater else -truth[2],
        "climb": -down_speed,
        "battery": view.battery,
        "rc": view.rc_us,
    }
    return {name: round(one, 3) if isinstance(one, float) else one for name, one in shown.items()}
