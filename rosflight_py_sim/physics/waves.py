"""Waves at the surface of deep water: elevation, orbital motion and pressure at a place and time.

Linear (Airy) theory for deep water, and spectra of a developed or a growing sea: Fossen, Handbook of Marine Craft
Hydrodynamics and Motion Control (Wiley, 2011), section 8.2. The sea is the sum of long-crested components

    elevation      zeta = sum a cos(theta),   theta = omega t - k x + epsilon,   k = omega^2 / g
    velocity       u = sum a omega e^(-k z) cos(theta) along the direction of travel, down a omega e^(-k z) sin(theta)
    acceleration   the derivative of that velocity by time
    pressure       rho g (z + sum a e^(-k z) cos(theta))

with x along the direction of travel and the depth z below the mean surface; above it the values of z = 0 hold. The
spectrum is that of Pierson and Moskowitz, with the peak enhancement of JONSWAP (Hasselmann et al., 1973):

    S(omega) ~ omega^-5 exp(-5/4 (omega_p / omega)^4) gamma^r,   r = exp(-(omega / omega_p - 1)^2 / (2 sigma^2))

with sigma 0.07 up to the peak and 0.09 beyond, cut off at CUT_OFF times omega_p, and scaled so that the significant
height is 4 sqrt(m_0). Every component has the same energy; its frequency and phase are drawn from its part of the
spectrum, so the sea does not repeat. Not modelled: spread of direction, shallow water, breaking, drift (second order),
and the waves that a hull reflects or radiates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, earth_of

WAVE_PARAMETERS = EARTH_PARAMETERS + ParameterTable(
    Parameter(
        "wave_height",
        0.0,
        "Significant height of the waves, 0 for a calm surface",
        "m",
        minimum=0.0,
        maximum=20.0,
        read_only=True,
    ),
    Parameter(
        "wave_period",
        4.0,
        "Period of the spectrum's peak",
        "s",
        minimum=0.5,
        maximum=30.0,
        read_only=True,
    ),
    Parameter(
        "wave_direction",
        0.0,
        "Direction toward which the waves travel, clockwise from north",
        "deg",
        minimum=-360.0,
        maximum=360.0,
        read_only=True,
    ),
    Parameter(
        "wave_peakedness",
        3.3,
        "Peak enhancement of the JONSWAP spectrum; 1 is the Pierson-Moskowitz spectrum of a fully developed sea",
        minimum=1.0,
        maximum=7.0,
        read_only=True,
    ),
    Parameter(
        "wave_components", 40, "Number of sinusoidal components of the sea", minimum=1, maximum=1000, read_only=True
    ),
    Parameter(
        "wave_seed",
        0,
        "Seed of the waves' frequencies and phases: nodes and vehicles with the same values are in the same sea",
        minimum=0,
        maximum=2**31 - 1,
        read_only=True,
    ),
)

CUT_OFF = 5.0
"""Highest frequency of a component, as a multiple of the peak's."""

ELEVATION, SLOPE, ORBITAL_VELOCITY, ORBITAL_ACCELERATION, HEAD, SEA_SIZE = 0, 1, 3, 6, 9, 10
"""First elements of the parts of the array `sea` of the kernels, and its length: elevation of the surface above the
mean (m), its slope toward north and east, velocity and acceleration of the water NED (m/s, m/s^2), and the height of
water that is equivalent to the dynamic pressure (m).
"""

OMEGA, WAVE_NUMBER, AMPLITUDE, PHASE = 0, 1, 2, 3


def spectrum(omega: NDArray[np.float64], peak: float, peakedness: float) -> NDArray[np.float64]:
    """Spectral density over angular frequencies (n,), rad/s, not scaled; `peak` is that of the spectrum (rad/s)."""
    ratio = omega / peak
    width = np.where(ratio <= 1.0, 0.07, 0.09)
    enhanced = peakedness ** np.exp(-0.5 * ((ratio - 1.0) / width) ** 2)
    density: NDArray[np.float64] = ratio**-5.0 * np.exp(-1.25 * ratio**-4.0) * enhanced
    return density


class Waves:
    """The sea at the vehicle; after `move_to`, `sea` has its elevation and orbital motion.

    `values` contains WAVE_PARAMETERS. Raises ParameterError for waves without gravity. `reach` (m) is the distance of
    the vehicle's hull from its centre: the water does not move at a vehicle that is farther above the surface.

    Attributes:
        exist: whether the surface is not calm.
        sea: (10,) as the kernels use it.
    """

    def __init__(self, values: Values, reach: float = 0.0) -> None:
        height = number(values, "wave_height")
        self.exist = height > 0.0
        if self.exist and earth_of(values).gravity == 0.0:
            raise ParameterError(
                f"parameter 'gravity': 0 given with wave_height {height:g} m; allowed: more than 0, or wave_height 0"
            )
        self.sea = np.zeros(SEA_SIZE)
        self._reach = reach
        heading = math.radians(number(values, "wave_direction"))
        self._north, self._east = math.cos(heading), math.sin(heading)
        self.components = _components(values, height) if self.exist else np.zeros((0, 4))

    @property
    def velocity_ned(self) -> NDArray[np.float64]:
        """Orbital velocity of the water (3,), m/s; each call of `move_to` overwrites it."""
        return self.sea[ORBITAL_VELOCITY:ORBITAL_ACCELERATION]

    def move_to(self, position_ned: NDArray[np.float64], time_s: float) -> None:
        """Compute `sea` at a position (3,) or a truth state (19,), m, and a time (s)."""
        sea_at(position_ned, time_s, self.components, self._north, self._east, self._reach, self.sea)


def _components(values: Values, height: float) -> NDArray[np.float64]:
    """The components (n, 4): from OMEGA to PHASE."""
    count = int(number(values, "wave_components"))
    rng = np.random.default_rng(int(number(values, "wave_seed")))
    peak = 2.0 * math.pi / number(values, "wave_period")
    grid = peak * np.linspace(0.3, CUT_OFF, 4701)
    density = spectrum(grid, peak, number(values, "wave_peakedness"))
    energy = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    omega = np.interp((np.arange(count) + rng.uniform(size=count)) / count, energy / energy[-1], grid)
    components = np.empty((count, 4))
    components[:, OMEGA] = omega
    components[:, WAVE_NUMBER] = omega**2 / earth_of(values).gravity
    # The variance of a component is half of its amplitude squared, that of the sea (height / 4)^2.
    components[:, AMPLITUDE] = 0.25 * height * math.sqrt(2.0 / count)
    components[:, PHASE] = rng.uniform(0.0, 2.0 * math.pi, count)
    return components


@kernel
def sea_at(
    position_ned: NDArray[np.float64],
    time_s: float,
    components: NDArray[np.float64],
    toward_north: float,
    toward_east: float,
    reach: float,
    sea: NDArray[np.float64],
) -> None:
    """Write the sea (10,) at a position NED (m) and a time (s); `reach` as in `Waves`."""
    along = position_ned[0] * toward_north + position_ned[1] * toward_east
    depth = max(0.0, position_ned[2])
    elevation, slope, head = 0.0, 0.0, 0.0
    along_v, down_v, along_a, down_a = 0.0, 0.0, 0.0, 0.0
    for i in range(components.shape[0]):
        omega, wavenumber, amplitude = components[i, OMEGA], components[i, WAVE_NUMBER], components[i, AMPLITUDE]
        theta = omega * time_s - wavenumber * along + components[i, PHASE]
        up, ahead = amplitude * math.cos(theta), amplitude * math.sin(theta)
        fade = math.exp(-wavenumber * depth)
        elevation += up
        slope += wavenumber * ahead
        head += fade * up
        along_v += fade * omega * up
        down_v += fade * omega * ahead
        along_a -= fade * omega * omega * ahead
        down_a += fade * omega * omega * up
    if position_ned[2] + elevation < -reach:
        along_v, down_v, along_a, down_a, head = 0.0, 0.0, 0.0, 0.0, 0.0
    sea[ELEVATION], sea[HEAD] = elevation, head
    sea[SLOPE], sea[SLOPE + 1] = slope * toward_north, slope * toward_east
    sea[ORBITAL_VELOCITY], sea[ORBITAL_VELOCITY + 1] = along_v * toward_north, along_v * toward_east
    sea[ORBITAL_VELOCITY + 2] = down_v
    sea[ORBITAL_ACCELERATION], sea[ORBITAL_ACCELERATION + 1] = along_a * toward_north, along_a * toward_east
    sea[ORBITAL_ACCELERATION + 2] = down_a
