"""The standard atmosphere up to 20 km.

U.S. Standard Atmosphere 1976 (identical with ICAO Doc 7488 and ISO 2533 in this range): hydrostatic equilibrium of an
ideal gas with the temperature falling by 6.5 K/km up to 11 km of geopotential altitude and constant from there to
20 km. Altitudes given and returned are geometric, above mean sea level, in m, valid from -5 km to 20 km; beyond, the
formulas of the nearest layer continue to apply.
"""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel

SEA_LEVEL_TEMPERATURE = 288.15
"""K."""
SEA_LEVEL_PRESSURE = 101325.0
"""Pa."""
LAPSE_RATE = 0.0065
"""Temperature lapse rate with geopotential altitude in the troposphere, K/m."""
TROPOPAUSE = 11000.0
"""Geopotential altitude of the tropopause, m."""
GAS_CONSTANT = 8314.32 / 28.9644
"""Specific gas constant of air, J/(kg K): the standard's universal constant over its molar mass."""
STANDARD_GRAVITY = 9.80665
"""m/s^2."""
EARTH_RADIUS = 6356766.0
"""Earth radius that the standard uses to convert geometric to geopotential altitude, m."""
HEAT_CAPACITY_RATIO = 1.4

TROPOPAUSE_TEMPERATURE = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * TROPOPAUSE
PRESSURE_EXPONENT = STANDARD_GRAVITY / (GAS_CONSTANT * LAPSE_RATE)
TROPOPAUSE_PRESSURE = SEA_LEVEL_PRESSURE * math.pow(TROPOPAUSE_TEMPERATURE / SEA_LEVEL_TEMPERATURE, PRESSURE_EXPONENT)
SCALE_HEIGHT = GAS_CONSTANT * TROPOPAUSE_TEMPERATURE / STANDARD_GRAVITY
"""Height over which the pressure falls by a factor of e above the tropopause, m."""


@kernel
def temperature(altitude_msl_m: float) -> float:
    """Air temperature (K): eq. 23 of the standard."""
    geopotential = EARTH_RADIUS * altitude_msl_m / (EARTH_RADIUS + altitude_msl_m)
    return SEA_LEVEL_TEMPERATURE - LAPSE_RATE * min(geopotential, TROPOPAUSE)


@kernel
def pressure(altitude_msl_m: float) -> float:
    """Air pressure (Pa): eq. 33a (troposphere) and 33b (above) of the standard."""
    geopotential = EARTH_RADIUS * altitude_msl_m / (EARTH_RADIUS + altitude_msl_m)
    if geopotential < TROPOPAUSE:
        ratio = 1.0 - LAPSE_RATE * geopotential / SEA_LEVEL_TEMPERATURE
        return SEA_LEVEL_PRESSURE * math.pow(ratio, PRESSURE_EXPONENT)
    return TROPOPAUSE_PRESSURE * math.exp((TROPOPAUSE - geopotential) / SCALE_HEIGHT)


@kernel
def density(altitude_msl_m: float) -> float:
    """Air density (kg/m^3): p / (R T), eq. 42 of the standard."""
    return pressure(altitude_msl_m) / (GAS_CONSTANT * temperature(altitude_msl_m))


@kernel
def speed_of_sound(altitude_msl_m: float) -> float:
    """Speed of sound (m/s): sqrt(gamma R T), eq. 50 of the standard."""
    return math.sqrt(HEAT_CAPACITY_RATIO * GAS_CONSTANT * temperature(altitude_msl_m))


@kernel
def pressure_altitude(pressure_pa: float) -> float:
    """Altitude (m MSL) at a pressure (Pa, > 0) of the standard atmosphere: the inverse of `pressure`."""
    if pressure_pa > TROPOPAUSE_PRESSURE:
        ratio = math.pow(pressure_pa / SEA_LEVEL_PRESSURE, 1.0 / PRESSURE_EXPONENT)
        geopotential = SEA_LEVEL_TEMPERATURE / LAPSE_RATE * (1.0 - ratio)
    else:
        geopotential = TROPOPAUSE - SCALE_HEIGHT * math.log(pressure_pa / TROPOPAUSE_PRESSURE)
    return EARTH_RADIUS * geopotential / (EARTH_RADIUS - geopotential)
