"""Conversion from the local tangent plane to latitude, longitude and altitude on the WGS-84 ellipsoid.

The library (pymap3d) places the origin; the conversion of each sample is a kernel, because the library's general
function costs more than the rest of a simulation step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.earth import FLATTENING, SEMI_MAJOR, latitude_and_height


def tangent_plane(latitude_deg: float, longitude_deg: float, altitude_m: float) -> NDArray[np.float64]:
    """Local frame at a place (4, 3): rows 0 to 2 are north, east and down in earth-fixed axes, row 3 the place (m)."""
    import pymap3d  # two megabytes that most nodes importing this package do not need

    phi, lam = math.radians(latitude_deg), math.radians(longitude_deg)
    return np.array(
        [
            [-math.sin(phi) * math.cos(lam), -math.sin(phi) * math.sin(lam), math.cos(phi)],
            [-math.sin(lam), math.cos(lam), 0.0],
            [-math.cos(phi) * math.cos(lam), -math.cos(phi) * math.sin(lam), -math.sin(phi)],
            [float(value) for value in pymap3d.geodetic2ecef(latitude_deg, longitude_deg, altitude_m)],
        ]
    )


@kernel
def ned_to_geodetic(frame: NDArray[np.float64], north: float, east: float, down: float) -> tuple[float, float, float]:
    """Geodetic latitude and longitude (deg) and height above the ellipsoid (m) of a point of the frame (4, 3)."""
    x = frame[3, 0] + frame[0, 0] * north + frame[1, 0] * east + frame[2, 0] * down
    y = frame[3, 1] + frame[0, 1] * north + frame[1, 1] * east + frame[2, 1] * down
    z = frame[3, 2] + frame[0, 2] * north + frame[1, 2] * east + frame[2, 2] * down
    latitude, height = latitude_and_height(math.hypot(x, y), z, SEMI_MAJOR, FLATTENING)
    return math.degrees(latitude), math.degrees(math.atan2(y, x)), height


@kernel
def ned_at_place(
    frame: NDArray[np.float64], latitude_deg: float, longitude_deg: float, north: float, east: float, down: float
) -> tuple[float, float, float]:
    """Components along north, east and down of a place (deg) of a vector given along those of the frame (4, 3)."""
    x = frame[0, 0] * north + frame[1, 0] * east + frame[2, 0] * down
    y = frame[0, 1] * north + frame[1, 1] * east + frame[2, 1] * down
    z = frame[0, 2] * north + frame[1, 2] * east + frame[2, 2] * down
    phi, lam = math.radians(latitude_deg), math.radians(longitude_deg)
    out = math.cos(lam) * x + math.sin(lam) * y
    return (
        math.cos(phi) * z - math.sin(phi) * out,
        math.cos(lam) * y - math.sin(lam) * x,
        -math.cos(phi) * out - math.sin(phi) * z,
    )
