"""Pitot tube: impact pressure of the air flow from ahead.

q is that of compressible flow (`impact_pressure.py`) at the airspeed V, in the standard atmosphere at the vehicle's
altitude; at low speed it is the rho V^2 / 2 of Beard and McLain, Small Unmanned Aircraft, section 7.3.

The tube reads all of q while the flow comes from within a cone around the body's x axis, whatever the angle of attack
and the sideslip. Beyond the cone's half angle a_0 the pressure falls as cos^2(90 deg (a - a_0) / (90 deg - a_0)), and
it is 0 for flow from the side or from behind. With a_0 = 0 this is, at low speed, the dynamic pressure of the
airspeed's component along the x axis, as in ROSflight. The cone of real tubes depends on the shape of their nose: W.
Gracey, Wind-tunnel investigation of a number of total-pressure tubes at high angles of attack, NACA Report 1303, 1957,
and Measurement of aircraft speed and altitude, NASA RP-1046, 1980. The default loses 1 % of q at 21 deg, as the tube of
NACA's Calibration of a combined pitot-static tube and vane-type flow angularity indicator at transonic speeds and at
large angles of attack or yaw.

The position error, a share of q, is that of the static pressure at the tube. Its default is an estimate, an airspeed
1 % high; 14 CFR 23.1323(b) (until 2017) allowed 3 %. Range and resolution are those of TE Connectivity's MS4525DO,
type 5AI001DP: +-1 psi, 14 bits, of which 80 % span the range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.atmosphere import (
    PRESSURE_EXPONENT,
    SEA_LEVEL_PRESSURE,
    SEA_LEVEL_TEMPERATURE,
    pressure,
    temperature,
)
from rosflight_py_sim.physics.earth import ALTITUDE_PARAMETERS, Site, altitude_at, site_of
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.sensing.converter import converted, converter_of, converter_parameters
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.failing import Measured
from rosflight_py_sim.sensing.impact_pressure import airspeed_of_impact, impact_pressure
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.step.topics import DIFF_PRESSURE, AirspeedSample
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 100.0

_ERRORS = ErrorSource(
    "airspeed",
    "differential pressure",
    "Pa",
    _RATE,
    stdev=1.15,
    bias_range=0.15,
    walk_stdev=0.001,
)

PARAMETERS = (
    ALTITUDE_PARAMETERS
    + _ERRORS.parameters()
    + ParameterTable(
        Parameter(
            "airspeed_insensitive_angle",
            0.285,
            "Half angle of the cone around the x axis within which the pitot tube reads the whole impact pressure",
            "rad",
            minimum=0.0,
            maximum=1.5,
        ),
        Parameter(
            "airspeed_position_error",
            0.02,
            "Position error of the differential pressure, as a share of the impact pressure",
            minimum=-1.0,
            maximum=1.0,
        ),
    )
    + converter_parameters("airspeed", "differential pressure", "Pa", 6895.0, 1.05)
)


@kernel_record
class PitotInstallation:
    """Pitot tube as it is mounted, and its sensor.

    Attributes:
        site: the launch point.
        insensitive_angle: half angle of the cone in which the tube reads the whole impact pressure (rad).
        position_error: share of the impact pressure.
        limit: largest reading (Pa).
        resolution: step of the reading (Pa).
    """

    site: Site
    insensitive_angle: float
    position_error: float
    limit: float
    resolution: float


class PitotTube(SensorModel):
    """Pitot tube along the body's x axis; after `sample` it holds pressure, airspeed and the air's temperature.

    `airspeed_mps` is the true airspeed for the measured pressure at the local static pressure and temperature; a
    negative pressure (noise, bias) gives a negative airspeed.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_ERRORS.terms(values)], rng))
        converter = converter_of(values, "airspeed")
        self._installation = PitotInstallation(
            site=site_of(values),
            insensitive_angle=number(values, "airspeed_insensitive_angle"),
            position_error=number(values, "airspeed_position_error"),
            limit=converter.limit,
            resolution=converter.resolution,
        )
        self.measured: NDArray[np.float64] = np.zeros(3)
        self._models = self._installation, self._errors.channels, self.measured
        self._measure = bound(sample_pitot, *self._models)

    def adopt(self, other: PitotTube) -> None:
        """Copy another pitot tube's errors and last measurement."""
        super().adopt(other)
        self.measured[:] = other.measured

    def true_errors(self) -> dict[str, float]:
        """True bias of the last measurement, Pa, and the position error, a share."""
        return {**self._errors.biases("airspeed_bias"), "airspeed_position_error": self._installation.position_error}

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[float, float, float]:
        """Airspeed (m/s), differential pressure (Pa) and temperature of the air (K)."""
        self.sample(state.truth, around.wind_ned, dt)
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[float, float, float]:
        """Fields of the last measurement, as returned by `read`."""
        pressure_pa, airspeed_mps, temperature_k = self.measured.tolist()
        return airspeed_mps, pressure_pa, temperature_k

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of all fields."""
        measured = self.measured
        return {"differential_pressure": [measured[0:1]], "velocity": [measured[1:2]], "temperature": [measured[2:3]]}

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure."""
        row = np.zeros(2)
        sampled = bound(sample_pitot, *self._models, inputs.truth, inputs.wind_ned, inputs.dt, row)
        return self.measured, (self._errors.normals.link(row), ChainLink(sampled))

    @property
    def differential_pressure_pa(self) -> float:
        """Measured differential pressure, Pa."""
        return float(self.measured[0])

    @property
    def airspeed_mps(self) -> float:
        """Airspeed for the measured pressure, m/s."""
        return float(self.measured[1])

    @property
    def temperature_k(self) -> float:
        """Temperature of the air, K."""
        return float(self.measured[2])

    def sample(self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], dt: float) -> None:
        """Measure; `truth` (19,), `wind_ned` (3,) the air's velocity over ground (m/s), dt since the last (s, > 0)."""
        self._measure(truth, wind_ned, dt, next(self._errors.normals))


@kernel
def sample_pitot(
    installation: PitotInstallation,
    channels: NDArray[np.float64],
    reading: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
) -> None:
    """Write measured differential pressure (Pa), the corresponding airspeed (m/s) and air temperature (K)."""
    advance_errors(channels, normals, dt)
    altitude_msl_m = altitude_at(installation.site, truth[0], truth[1], truth[2])
    static, kelvin = pressure(altitude_msl_m), temperature(altitude_msl_m)
    x, y, z = rotate_to_body(truth[3], truth[4], truth[5], truth[6], wind_ned[0], wind_ned[1], wind_ned[2])
    x, y, z = truth[7] - x, truth[8] - y, truth[9] - z
    across = math.hypot(y, z)
    impact = impact_pressure(math.hypot(x, across), static, kelvin)
    impact *= seen_share(math.atan2(across, x), installation.insensitive_angle)
    measured = converted(
        impact * (1.0 + installation.position_error) + channels[0, ERROR],
        installation.limit,
        installation.resolution,
    )
    reading[0], reading[1], reading[2] = measured, airspeed_of_impact(measured, static, kelvin), kelvin


@kernel
def seen_share(angle: float, insensitive_angle: float) -> float:
    """Share of the impact pressure that the tube reads in flow at an angle (rad, from 0 to pi) to its axis."""
    if angle <= insensitive_angle:
        return 1.0
    if angle >= 0.5 * math.pi:
        return 0.0
    beyond = (angle - insensitive_angle) / (0.5 * math.pi - insensitive_angle)
    return math.cos(0.5 * math.pi * beyond) ** 2


class DifferentialPressure(Measured):
    """Differential pressure; the airspeed follows from it, with the static pressure that belongs to the temperature.

    That pressure is the standard atmosphere's below 11 km: p_0 (T / T_0)^n.
    """

    def numbers(self, sample: AirspeedSample) -> Sequence[float]:
        return (sample.differential_pressure,)

    def with_numbers(self, sample: AirspeedSample, numbers: Sequence[float]) -> AirspeedSample:
        kelvin, measured = sample.temperature, numbers[0]
        static = SEA_LEVEL_PRESSURE * (kelvin / SEA_LEVEL_TEMPERATURE) ** PRESSURE_EXPONENT
        return sample._replace(differential_pressure=measured, velocity=airspeed_of_impact(measured, static, kelvin))


PITOT_TUBE = Sensor(
    DIFF_PRESSURE,
    "diff_pressure",
    "the differential pressure",
    PitotTube,
    rate_hz=_RATE,
    update="diff_pressure_update",
    parameters=PARAMETERS,
    failures={"airspeed": Failing(Target("pitot tube", "Pa"), DifferentialPressure)},
    stream=6,
)
