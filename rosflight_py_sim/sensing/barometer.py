"""Barometer: static pressure of the standard atmosphere at the vehicle's altitude, and of the water above it.

Beard and McLain, Small Unmanned Aircraft, section 7.3, with the standard atmosphere in place of their linear law; in
water, below down = 0, the air pressure at the surface plus rho g depth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import ParameterTable, Values, number
from rosflight_py_sim.physics.atmosphere import pressure, pressure_altitude, temperature
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.site import BARO_RATE
from rosflight_py_sim.shared_parameters import GRAVITY, ORIGIN_ALTITUDE, WATER_DENSITY

_ERRORS = ErrorSource("baro", "static pressure", "Pa", BARO_RATE, stdev=4.0, bias_range=500.0, walk_stdev=0.1)

PARAMETERS = ParameterTable(ORIGIN_ALTITUDE, GRAVITY, WATER_DENSITY) + _ERRORS.parameters()

LOWEST_READING = 1.0
"""Lower limit of the reading, Pa."""


class Barometer:
    """Barometer; after `sample` it holds the pressure, the air's temperature, and the pressure altitude.

    The pressure altitude is the altitude at which the standard atmosphere has the measured pressure: an altimeter set
    to 1013.25 hPa. It includes the pressure bias, about 1 m for 12 Pa at sea level.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._errors = ErrorModel([_ERRORS.terms(values)], rng)
        self._origin_altitude = number(values, "origin_altitude")
        self._water = number(values, "water_density") * number(values, "gravity")
        self.pressure_pa = 0.0
        self.temperature_k = 0.0
        self.altitude_m = 0.0

    def adopt(self, other: Barometer) -> None:
        """Copy another barometer's errors and last measurement."""
        self._errors.adopt(other._errors)
        self.pressure_pa = other.pressure_pa
        self.temperature_k = other.temperature_k
        self.altitude_m = other.altitude_m

    def sample(self, truth: NDArray[np.float64], dt: float) -> None:
        """Measure; `truth` is the truth vector (19,), dt the time since the last sample (s, > 0)."""
        errors = self._errors
        self.pressure_pa, self.temperature_k, self.altitude_m = sample_pressure(
            truth, self._origin_altitude, self._water, dt, errors.channels, errors.normals.next()
        )


@kernel
def sample_pressure(
    truth: NDArray[np.float64],
    origin_altitude: float,
    water: float,
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Measured pressure (Pa), air temperature (K), pressure altitude (m); `water` is its density times gravity."""
    advance_errors(channels, normals, dt)
    depth = truth[2] if water > 0.0 and truth[2] > 0.0 else 0.0
    altitude_msl_m = origin_altitude - (truth[2] - depth)
    measured = max(LOWEST_READING, pressure(altitude_msl_m) + water * depth + channels[0, ERROR])
    return measured, temperature(altitude_msl_m), pressure_altitude(measured)
