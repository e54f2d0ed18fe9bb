"""IMU temperature: ambient air plus self-heating, through a first-order thermal lag.

tau dT/dt = T_ambient + self-heating - T, starting cold, at ambient; the air's temperature is that of the standard
atmosphere. The default self-heating gives 27 deg C at the default origin, ROSflight's constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.units import ZERO_CELSIUS_K
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.physics.atmosphere import temperature
from rosflight_py_sim.physics.earth import ALTITUDE_PARAMETERS, Site, altitude_at, site_of
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.failing import Fields
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.step.topics import IMU_TEMPERATURE
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 50.0

_ERRORS = ErrorSource("imu_temperature", "IMU temperature", "K", _RATE, noise_density=0.0025, bias_range=1.0)

PARAMETERS = (
    ALTITUDE_PARAMETERS
    + _ERRORS.parameters()
    + ParameterTable(
        Parameter(
            "imu_self_heating", 21.0, "Temperature rise of the warm IMU above the air", "K", minimum=0.0, maximum=100.0
        ),
        Parameter(
            "imu_thermal_time_constant", 120.0, "Time constant of the IMU's warm-up", "s", minimum=0.1, maximum=1e6
        ),
    )
)


class Thermometer(SensorModel):
    """Thermometer inside the IMU.

    Attributes:
        temperatures: true temperature (K), measured temperature (K) and measured temperature (deg C) of the IMU (3,);
            NaN before the first sample.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_ERRORS.terms(values)], rng))
        # NaN until the first sample gives the air temperature.
        self.temperatures: NDArray[np.float64] = np.full(3, math.nan)
        self._models = (
            site_of(values),
            number(values, "imu_self_heating"),
            number(values, "imu_thermal_time_constant"),
            self._errors.channels,
            self.temperatures,
        )
        self._measure = bound(sample_temperature, *self._models)

    def adopt(self, other: Thermometer) -> None:
        """Copy another thermometer's errors and temperature."""
        super().adopt(other)
        self.temperatures[:] = other.temperatures

    def variance(self, dt: float) -> float:
        """Variance of a temperature, K^2; see ErrorModel.variances."""
        return self._errors.variances(dt)[0]

    def true_errors(self) -> dict[str, float]:
        """True bias of the last measurement, K."""
        return self._errors.biases("imu_temperature_bias")

    @property
    def temperature_k(self) -> float:
        """True temperature of the IMU at the last sample, K; not a number before."""
        return self.temperatures.item(0)

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]]:
        """Draw the numbers, then measure."""
        row = np.zeros(2)
        sampled = bound(sample_temperature, *self._models, inputs.truth, inputs.dt, row)
        return self.temperatures, (self._errors.normals.link(row), ChainLink(sampled))

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[float, float]:
        """Temperature (deg C) and its variance (K^2)."""
        self.sample(state.truth, dt)
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[float, float]:
        """Fields of the last measurement, as returned by `read`."""
        return self.temperatures.item(2), self.variance(dt)

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of the temperature, deg C."""
        return {"temperature_c": [self.temperatures[2:3]]}

    def sample(self, truth: NDArray[np.float64], dt: float) -> float:
        """Measured temperature (K) in a truth state (19,), dt (s, > 0) after the last sample."""
        self._measure(truth, dt, next(self._errors.normals))
        return self.temperatures.item(1)


@kernel
def sample_temperature(
    site: Site,
    self_heating: float,
    time_constant: float,
    channels: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
) -> None:
    """Advance the true temperature, temperatures[0] (K; NaN at switch-on), by dt, and measure it; see `Thermometer`.

    The step is exact for a constant ambient.
    """
    advance_errors(channels, normals, dt)
    ambient = temperature(altitude_at(site, truth[0], truth[1], truth[2]))
    if math.isnan(temperatures[0]):
        temperatures[0] = ambient
    temperatures[0] -= (temperatures[0] - ambient - self_heating) * -math.expm1(-dt / time_constant)
    temperatures[1] = temperatures[0] + channels[0, ERROR]
    temperatures[2] = temperatures[1] - ZERO_CELSIUS_K


THERMOMETER = Sensor(
    IMU_TEMPERATURE,
    "imu_temperature",
    "the IMU temperature",
    Thermometer,
    rate_hz=_RATE,
    update="imu_temperature_update",
    parameters=PARAMETERS,
    # A difference in K is one in deg C.
    failures={"thermometer": Failing(Target("thermometer of the IMU", "K"), lambda: Fields("temperature_c"))},
    stream=1,
)
