"""Wind shear near the ground: wind speed grows with the logarithm of height."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.wind_model import Array, WindModel

FOOT = 0.3048
"""m."""
REFERENCE_HEIGHT = 20.0 * FOOT
HIGHEST = 1000.0 * FOOT
"""Height (m) above which the wind speed is constant."""


@kernel
def shear_share(height: float, roughness_length: float) -> float:
    """Wind speed at a height above the ground (m) over that at 20 ft: ln(h / z0) / ln(20 ft / z0), and 0 below z0."""
    if height <= roughness_length:
        return 0.0
    return math.log(min(height, HIGHEST) / roughness_length) / math.log(REFERENCE_HEIGHT / roughness_length)


class ShearWind(WindModel):
    """Mean wind over level ground by MIL-F-8785C, 3.7.3.2: proportional to `shear_share`, constant in direction.

    The ground is at down = 0. The specification states the profile for 3 ft to 1000 ft. It gives z0 as 0.15 ft for the
    flight phases near the ground (category C) and as 2 ft for the others.
    """

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "shear_wind_20ft",
            [0.0, 0.0, 0.0],
            "Wind of the shear model at 20 ft, NED",
            "m/s",
            minimum=-150.0,
            maximum=150.0,
            length=3,
        ),
        Parameter(
            "shear_roughness_length",
            0.04572,
            "Height at which the wind of the shear model is zero: 0.15 ft near the ground, 2 ft (0.6096 m) elsewhere",
            "m",
            minimum=1e-6,
            maximum=6.0,
        ),
    )
    IS_MEAN: ClassVar[bool] = True

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        """Set wind and roughness length from the parameters."""
        self._wind_20ft = np.array(values["shear_wind_20ft"], dtype=np.float64)
        self._roughness_length = number(values, "shear_roughness_length")

    def add(self, wind_ned: Array, mean_ned: Array, truth: Array, dt: float) -> None:
        """Add the wind at the vehicle's height."""
        wind_ned += shear_share(-float(truth[2]), self._roughness_length) * self._wind_20ft
