"""Conversion between Ground Control's units and positions, and SI and NED."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pymap3d

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.site import SITE_PARAMETERS

FOOT = 0.3048
"""The international foot, m."""

_METRES_OF = {"ft": FOOT, "m": 1.0}
_METRES_A_SECOND_OF = {"m/s": 1.0, "kn": 1852.0 / 3600.0, "mph": 1609.344 / 3600.0}

UTHERE_UNIT_PARAMETERS = (
    ParameterTable(
        Parameter(
            "uthere.altitude_unit",
            "ft",
            "Unit of altitude and range in the protocol; altitude counts from home, the NED origin",
            choices=tuple(_METRES_OF),
            read_only=True,
        ),
        Parameter(
            "uthere.airspeed_unit",
            "m/s",
            "Unit of airspeed, groundspeed and wind_speed in the protocol",
            choices=tuple(_METRES_A_SECOND_OF),
            read_only=True,
        ),
    )
    + SITE_PARAMETERS
)


class Geodetic(NamedTuple):
    """Position in degrees on WGS 84, and altitude in m above mean sea level."""

    latitude_deg: float
    longitude_deg: float
    altitude_msl_m: float


class UthereUnits:
    """Conversions to and from Ground Control's units, relative to home.

    Attributes:
        altitude: m per unit of altitude.
        speed: m/s per unit of airspeed.
        altitude_name, speed_name: names of these units.
        climb: m/s per unit of climb.
        gravity: m/s^2.
        home: position of home.
    """

    def __init__(self, values: Values) -> None:
        """Store the values of UTHERE_UNIT_PARAMETERS."""
        self.altitude_name, self.speed_name = str(values["uthere.altitude_unit"]), str(values["uthere.airspeed_unit"])
        self.altitude = _METRES_OF[self.altitude_name]
        self.speed = _METRES_A_SECOND_OF[self.speed_name]
        self.climb = FOOT
        self.gravity = number(values, "gravity")
        self.home = Geodetic(*(number(values, f"origin_{name}") for name in ("latitude", "longitude", "altitude")))
        self._frame = tangent_plane(*self.home)

    def geodetic(self, north: float, east: float, down: float) -> Geodetic:
        """Geodetic position of a point in NED, m."""
        return Geodetic(*ned_to_geodetic(self._frame, north, east, down))

    def position(self, latitude_deg: float, longitude_deg: float, height_m: float) -> tuple[float, float]:
        """North and east, m, of a position at `height_m` above home."""
        place = pymap3d.geodetic2ecef(latitude_deg, longitude_deg, self.home.altitude_msl_m + height_m)
        north, east, _ = self._frame[:3] @ (np.array([float(axis) for axis in place]) - self._frame[3])
        return float(north), float(east)


def compass_deg(angle_rad: float) -> float:
    """Direction in degrees from north, 0 to less than 360."""
    # The remainder of a tiny negative angle rounds to 360.
    return math.degrees(angle_rad) % 360.0 % 360.0
