"""State of a vehicle for the browser viewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class VehicleView:
    """Data of one vehicle at one time.

    Attributes:
        time_s: simulated time, s.
        truth: truth vector (19,): position NED (m), quaternion w x y z, velocities, accelerations.
        wind_ned: velocity of the air, or of the water around an underwater vehicle (3,), m/s.
        pwm_us: pulse widths of the outputs (14,), us.
        images: newest image of each camera, bytes of a JPEG file.
        battery: voltage, V, and current, A; None if unknown.
        rc_us: pulse widths of the transmitter's newest frame (8), us; None if unknown.
    """

    time_s: float
    truth: NDArray[np.float64]
    wind_ned: NDArray[np.float64]
    pwm_us: NDArray[np.float64]
    images: Mapping[str, bytes] = field(default_factory=dict)
    battery: tuple[float, float] | None = None
    rc_us: tuple[int, ...] | None = None
