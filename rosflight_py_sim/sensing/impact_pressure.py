"""Impact pressure of compressible flow on a pitot tube, and the airspeed that it belongs to.

The impact pressure q_c is that of the flow brought to rest, less the static pressure p. With the Mach number M and the
ratio of heat capacities gamma (W. Gracey, Measurement of aircraft speed and altitude, NASA RP-1046, 1980, chapter 3;
NACA Report 1135, 1953, eq. 44 and 100):

    M <= 1, isentropic:               q_c / p = (1 + (gamma - 1) / 2 M^2)^(gamma / (gamma - 1)) - 1
    M > 1, behind the normal shock    q_c / p = K M^2 (1 - (gamma - 1) / (2 gamma M^2))^(-1 / (gamma - 1)) - 1
    at the tube's nose (Rayleigh):          K = ((gamma + 1) / 2)^(gamma / (gamma - 1))
                                                ((gamma + 1) / (2 gamma))^(1 / (gamma - 1))

For small M this is rho V^2 / 2 (1 + M^2 / 4). Valid for air as an ideal gas, up to about Mach 5.
"""

from __future__ import annotations

import math

from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.atmosphere import GAS_CONSTANT, HEAT_CAPACITY_RATIO

_RISE = 0.5 * (HEAT_CAPACITY_RATIO - 1.0)
_EXPONENT = HEAT_CAPACITY_RATIO / (HEAT_CAPACITY_RATIO - 1.0)
_SHOCK_EXPONENT = 1.0 / (HEAT_CAPACITY_RATIO - 1.0)
_SONIC = math.pow(1.0 + _RISE, _EXPONENT) - 1.0
"""q_c / p at Mach 1."""
_SHOCK = math.pow(1.0 + _RISE, _EXPONENT) * math.pow((1.0 + _RISE) / HEAT_CAPACITY_RATIO, _SHOCK_EXPONENT)
"""K of Rayleigh's formula."""
_ITERATIONS = 100


@kernel
def impact_pressure(airspeed: float, static_pressure: float, kelvin: float) -> float:
    """Impact pressure (Pa) at a true airspeed (m/s) in air of a static pressure (Pa) and a temperature (K)."""
    square = airspeed * airspeed / (HEAT_CAPACITY_RATIO * GAS_CONSTANT * kelvin)
    if square <= 1.0:
        return static_pressure * math.expm1(_EXPONENT * math.log1p(_RISE * square))
    return static_pressure * (_SHOCK * square / _shock_factor(square) - 1.0)


@kernel
def airspeed_of_impact(pressure: float, static_pressure: float, kelvin: float) -> float:
    """True airspeed (m/s), with the sign of an impact pressure (Pa): the inverse of `impact_pressure`."""
    ratio = abs(pressure) / static_pressure
    if ratio <= _SONIC:
        square = math.expm1(math.log1p(ratio) / _EXPONENT) / _RISE
    else:
        # Fixed point of Rayleigh's formula: each iteration leaves at most 0.42 of the error.
        square = 1.0
        for _ in range(_ITERATIONS):
            before = square
            square = (ratio + 1.0) / _SHOCK * _shock_factor(square)
            if abs(square - before) <= 1e-15 * square:
                break
    return math.copysign(math.sqrt(square * HEAT_CAPACITY_RATIO * GAS_CONSTANT * kelvin), pressure)


@kernel
def _shock_factor(square: float) -> float:
    """(1 - (gamma - 1) / (2 gamma M^2))^(1 / (gamma - 1)) at the square of a Mach number."""
    return math.pow(1.0 - _RISE / (HEAT_CAPACITY_RATIO * square), _SHOCK_EXPONENT)
