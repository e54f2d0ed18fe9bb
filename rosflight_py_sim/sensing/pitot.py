"""Pitot tube: dynamic pressure of the air flow from ahead.

q = rho V^2 / 2 with V the airspeed's component along the body's x axis; flow from behind gives no pressure. The density
is the standard atmosphere's at the vehicle's altitude (Beard and McLain, Small Unmanned Aircraft, section 7.3).
Incompressible flow: the pressure is low by a quarter of the Mach number squared, 2 % at 95 m/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import ParameterTable, Values, number
from rosflight_py_sim.physics.atmosphere import density, temperature
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.site import DIFF_PRESSURE_RATE
from rosflight_py_sim.shared_parameters import ORIGIN_ALTITUDE

_ERRORS = ErrorSource(
    "airspeed",
    "differential pressure",
    "Pa",
    DIFF_PRESSURE_RATE,
    stdev=1.15,
    bias_range=0.15,
    walk_stdev=0.001,
)

PARAMETERS = ParameterTable(ORIGIN_ALTITUDE) + _ERRORS.parameters()


class PitotTube:
    """Pitot tube along the body's x axis; after `sample` it holds pressure, airspeed and the air's temperature.

    `airspeed_mps` is the true airspeed for the measured pressure at the local density; a negative pressure (noise,
    bias) gives a negative airspeed.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._errors = ErrorModel([_ERRORS.terms(values)], rng)
        self._origin_altitude = number(values, "origin_altitude")
        self.differential_pressure_pa = 0.0
        self.airspeed_mps = 0.0
        self.temperature_k = 0.0

    def adopt(self, other: PitotTube) -> None:
        """Copy another pitot tube's errors and last measurement."""
        self._errors.adopt(other._errors)
        self.differential_pressure_pa = other.differential_pressure_pa
        self.airspeed_mps = other.airspeed_mps
        self.temperature_k = other.temperature_k

    def sample(self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], dt: float) -> None:
        """Measure; `truth` (19,), `wind_ned` (3,) the air's velocity over ground (m/s), dt since the last (s, > 0)."""
        errors = self._errors
        self.differential_pressure_pa, self.airspeed_mps, self.temperature_k = sample_pitot(
            truth, wind_ned, self._origin_altitude, dt, errors.channels, errors.normals.next()
        )


@kernel
def sample_pitot(
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    origin_altitude: float,
    dt: float,
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Measured differential pressure (Pa), the corresponding airspeed (m/s), air temperature (K)."""
    advance_errors(channels, normals, dt)
    altitude_msl_m = origin_altitude - truth[2]
    air = density(altitude_msl_m)
    wind_x, _, _ = rotate_to_body(truth[3], truth[4], truth[5], truth[6], wind_ned[0], wind_ned[1], wind_ned[2])
    ahead = max(0.0, truth[7] - wind_x)
    measured = 0.5 * air * ahead * ahead + channels[0, ERROR]
    airspeed = math.copysign(math.sqrt(2.0 * abs(measured) / air), measured)
    return measured, airspeed, temperature(altitude_msl_m)
