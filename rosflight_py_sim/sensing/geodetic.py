"""Conversion from the local tangent plane to latitude, longitude and altitude on the WGS-84 ellipsoid.

The library (pymap3d) places the origin; the conversion of each sample is a kernel, because the library's general
function costs more than the rest of a simulation step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel

SEMI_MAJOR = 6378137.0
FLATTENING = 1.0 / 298.257223563
SEMI_MINOR = SEMI_MAJOR * (1.0 - FLATTENING)
"""The ellipsoid's axes (m): National Imagery and Mapping Agency TR 8350.2, 2000, table 3.1."""
ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
SECOND_ECCENTRICITY_SQUARED = ECCENTRICITY_SQUARED / (1.0 - ECCENTRICITY_SQUARED)


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
    """Geodetic latitude and longitude (deg) and height above the ellipsoid (m) of a point of the frame (4, 3).

    B. Bowring, "Transformation from spatial to geographical coordinates", Survey Review 23, 1976, with his iteration
    done twice: exact to rounding from the depths of the sea to low orbits. The height formula holds at the poles too.
    """
    x = frame[3, 0] + frame[0, 0] * north + frame[1, 0] * east + frame[2, 0] * down
    y = frame[3, 1] + frame[0, 1] * north + frame[1, 1] * east + frame[2, 1] * down
    z = frame[3, 2] + frame[0, 2] * north + frame[1, 2] * east + frame[2, 2] * down
    radius = math.hypot(x, y)
    reduced = math.atan2(z * SEMI_MAJOR, radius * SEMI_MINOR)
    latitude = 0.0
    for _ in range(2):
        latitude = math.atan2(
            z + SECOND_ECCENTRICITY_SQUARED * SEMI_MINOR * math.sin(reduced) ** 3,
            radius - ECCENTRICITY_SQUARED * SEMI_MAJOR * math.cos(reduced) ** 3,
        )
        reduced = math.atan2(SEMI_MINOR * math.sin(latitude), SEMI_MAJOR * math.cos(latitude))
    sine = math.sin(latitude)
    height = radius * math.cos(latitude) + z * sine - SEMI_MAJOR * math.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    return math.degrees(latitude), math.degrees(math.atan2(y, x)), height
