"""Barometer: static pressure of the standard atmosphere at the vehicle's altitude, and of the water above it.

Beard and McLain, Small Unmanned Aircraft, section 7.3, with the standard atmosphere in place of their linear law; in
water, below down = 0, the air pressure at the surface plus rho g depth; in waves with their elevation and dynamic
pressure, as `physics/waves.py` has them.

Besides the errors of `errors`, the reading contains, in air:

- the error of the static port in wind and in flight: a share c of the dynamic pressure of the air flow along each body
  axis, rho / 2 (c_x u^2 + c_y v^2 + c_z w^2), with one share for each direction. It is the error that ArduPilot
  (BARO1_WCF_FWD and so on) and PX4 (EKF2_PCOEF_XP and so on) correct, with their signs. The default is an estimate; 14
  CFR 25.1325(e) and 29.1325(f) allow 30 ft for 100 kn, a share of 0.068;
- the wash of the propellers, proportional to the battery's current. ArduPilot (BARO1_THST_SCALE) and PX4
  (SENS_BARO_PCOEF) correct it, proportional to the thrust. The default is an estimate for a board in a housing;

and always:

- drift with the temperature of the board, which warms up as the IMU does (`thermometer`), from 25 deg C;
- steps of the resolution.

Their defaults are those of Bosch Sensortec's BMP388 (data sheet BST-BMP388-DS001): temperature coefficient of the
offset 0.75 Pa/K, resolution 0.33 Pa with eightfold oversampling, the setting that it recommends for drones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import WATER_DENSITY
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.atmosphere import GAS_CONSTANT, pressure, pressure_altitude, temperature
from rosflight_py_sim.physics.earth import EARTH_PARAMETERS, Site, altitude_at, earth_of, site_of
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.waves import ELEVATION, HEAD, WAVE_PARAMETERS, Waves
from rosflight_py_sim.sensing import thermometer
from rosflight_py_sim.sensing.converter import converted
from rosflight_py_sim.sensing.errors import ERROR, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.failing import Measured
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorInputs, SensorModel, Surroundings
from rosflight_py_sim.step.topics import BARO, BaroSample
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 100.0

_ERRORS = ErrorSource("baro", "static pressure", "Pa", _RATE, stdev=4.0, bias_range=500.0, walk_stdev=0.1)

PARAMETERS = (
    EARTH_PARAMETERS
    + ParameterTable(WATER_DENSITY)
    + WAVE_PARAMETERS
    + _ERRORS.parameters()
    + ParameterTable(
        Parameter(
            "baro_static_port_error",
            [-0.05] * 6,
            "Error of the static pressure in flight forward, backward, to the right, to the left, up and down through "
            "the air, as a share of the dynamic pressure along that axis",
            minimum=-1.0,
            maximum=1.0,
            length=6,
        ),
        Parameter(
            "baro_propeller_wash",
            -0.3,
            "Change of the static pressure due to the wash of the propellers per ampere of battery current",
            "Pa/A",
            minimum=-100.0,
            maximum=100.0,
        ),
        Parameter(
            "baro_bias_temperature_range",
            0.75,
            "Change of the static pressure's bias with temperature: drawn uniformly from plus or minus this value",
            "Pa/K",
            minimum=0.0,
            maximum=1e3,
        ),
        Parameter(
            "baro_resolution",
            0.33,
            "Resolution of the static pressure: readings are multiples of this value (0: continuous)",
            "Pa",
            minimum=1e-6,
            maximum=1e5,
            also_allowed=(0.0,),
        ),
        thermometer.PARAMETERS["imu_self_heating"],
        thermometer.PARAMETERS["imu_thermal_time_constant"],
    )
)

LOWEST_READING = 1.0
"""Lower limit of the reading, Pa."""
CALIBRATION_TEMPERATURE = 298.15
"""Temperature of the board without drift, K."""


@kernel_record
class BarometerBoard:
    """Barometer as it is mounted, and the temperature of its board.

    Attributes:
        forward: share of the dynamic pressure that is added to the static pressure in flight forward.
        backward: in flight backward.
        right: in flight to the right.
        left: in flight to the left.
        up: in flight up.
        down: in flight down.
        wash: pressure per battery current (Pa/A).
        temperature_coefficient: pressure per temperature of the board (Pa/K).
        resolution: step of the reading (Pa).
        self_heating: rise of the warm board above the air (K).
        time_constant: of the board's warm-up (s).
        temperature: of the board (K); NaN until the first sample gives the temperature of the air.
    """

    forward: float
    backward: float
    right: float
    left: float
    up: float
    down: float
    wash: float
    temperature_coefficient: float
    resolution: float
    self_heating: float
    time_constant: float
    temperature: float


class Barometer(SensorModel):
    """Barometer; after `sample` it holds the pressure, the air's temperature, and the pressure altitude.

    The pressure altitude is the altitude at which the standard atmosphere has the measured pressure: an altimeter set
    to 1013.25 hPa. It includes the pressure bias, about 1 m for 12 Pa at sea level.

    Attributes:
        waves: the sea, calm until it is moved to the vehicle's position and time.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_ERRORS.terms(values)], rng))
        self.waves = Waves(values)
        # For a range of one, so that a new value scales the drift of a running sensor.
        self._coefficient_range = number(values, "baro_bias_temperature_range")
        self._unit_coefficient = float(rng.spawn(1)[0].uniform(-1.0, 1.0))
        shares = np.array(values["baro_static_port_error"], dtype=np.float64).tolist()
        self._board = BarometerBoard(
            **dict(zip(("forward", "backward", "right", "left", "up", "down"), shares, strict=True)),
            wash=number(values, "baro_propeller_wash"),
            temperature_coefficient=self._coefficient_range * self._unit_coefficient,
            resolution=number(values, "baro_resolution"),
            self_heating=number(values, "imu_self_heating"),
            time_constant=number(values, "imu_thermal_time_constant"),
            temperature=math.nan,
        )
        water = number(values, "water_density") * earth_of(values).gravity
        self.measured: NDArray[np.float64] = np.zeros(3)
        self._models = site_of(values), self.waves.sea, water, self._board, self._errors.channels, self.measured
        self._measure = bound(sample_pressure, *self._models)

    def adopt(self, other: Barometer) -> None:
        """Copy another barometer's errors, temperature and last measurement."""
        super().adopt(other)
        self._unit_coefficient = other._unit_coefficient
        self._board.temperature_coefficient = self._coefficient_range * self._unit_coefficient
        self._board.temperature = other._board.temperature
        self.measured[:] = other.measured

    def true_errors(self) -> dict[str, float]:
        """True bias of the last measurement with its drift with temperature, Pa."""
        board, bias = self._board, self._errors.biases("baro_bias")
        if not math.isnan(board.temperature):
            bias["baro_bias"] += board.temperature_coefficient * (board.temperature - CALIBRATION_TEMPERATURE)
        return bias

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[float, float, float]:
        """Pressure altitude (m MSL), static pressure (Pa) and temperature of the air (K)."""
        if self.waves.exist:
            self.waves.move_to(state.truth, state.time_ns / NANOSECONDS)
        self._measure(state.truth, around.wind_ned, around.power, dt, next(self._errors.normals))
        return self.reading(around, time_ns, dt)

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[float, float, float]:
        """Fields of the last measurement, as returned by `read`."""
        pressure_pa, temperature_k, altitude_m = self.measured.tolist()
        return altitude_m, pressure_pa, temperature_k

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of all fields."""
        measured = self.measured
        return {"pressure": [measured[0:1]], "temperature": [measured[1:2]], "altitude": [measured[2:3]]}

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]] | None:
        """Draw the numbers, then measure; None in waves."""
        if self.waves.exist:
            return None
        row, (truth, wind_ned, power, dt) = np.zeros(2), inputs
        sampled = bound(sample_pressure, *self._models, truth, wind_ned, power, dt, row)
        return self.measured, (self._errors.normals.link(row), ChainLink(sampled))

    @property
    def pressure_pa(self) -> float:
        """Measured static pressure, Pa."""
        return float(self.measured[0])

    @property
    def temperature_k(self) -> float:
        """Temperature of the air, K."""
        return float(self.measured[1])

    @property
    def altitude_m(self) -> float:
        """Pressure altitude, m."""
        return float(self.measured[2])

    def sample(self, truth: NDArray[np.float64], wind_ned: NDArray[np.float64], current_a: float, dt: float) -> None:
        """Measure.

        Args:
            truth: truth vector (19,).
            wind_ned: velocity of the air over the ground (3,), m/s.
            current_a: true current of the battery, A.
            dt: time since the last sample, s, greater than 0.
        """
        power = np.array([math.nan, current_a])
        self._measure(truth, wind_ned, power, dt, next(self._errors.normals))


@kernel
def sample_pressure(
    site: Site,
    sea: NDArray[np.float64],
    water: float,
    board: BarometerBoard,
    channels: NDArray[np.float64],
    reading: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    power: NDArray[np.float64],
    dt: float,
    normals: NDArray[np.float64],
) -> None:
    """Write measured pressure (Pa), air temperature (K) and pressure altitude (m).

    `water` is the density of the water times gravity, `sea` as in `waves.py`.
    """
    advance_errors(channels, normals, dt)
    depth = truth[2] + sea[HEAD] if water > 0.0 and truth[2] + sea[ELEVATION] > 0.0 else 0.0
    altitude_msl_m = altitude_at(site, truth[0], truth[1], truth[2] - depth)
    air, static = temperature(altitude_msl_m), pressure(altitude_msl_m)
    error = channels[0, ERROR] + board.temperature_coefficient * (warm_up(board, air, dt) - CALIBRATION_TEMPERATURE)
    if depth == 0.0:
        error += board.wash * power[1] + static / (GAS_CONSTANT * air) * port_error(board, truth, wind_ned)
    measured = max(LOWEST_READING, converted(static + water * depth + error, math.inf, board.resolution))
    reading[0], reading[1], reading[2] = measured, air, pressure_altitude(measured)


@kernel
def warm_up(board: BarometerBoard, air: float, dt: float) -> float:
    """Advance the board's temperature by dt (s) and return it (K); exact for a constant temperature of the air."""
    if math.isnan(board.temperature):
        board.temperature = air
    board.temperature -= (board.temperature - air - board.self_heating) * -math.expm1(-dt / board.time_constant)
    return board.temperature


@kernel
def port_error(board: BarometerBoard, truth: NDArray[np.float64], wind_ned: NDArray[np.float64]) -> float:
    """Error of the static port over the density of the air (m^2/s^2)."""
    x, y, z = rotate_to_body(truth[3], truth[4], truth[5], truth[6], wind_ned[0], wind_ned[1], wind_ned[2])
    x, y, z = truth[7] - x, truth[8] - y, truth[9] - z
    error = (board.forward if x > 0.0 else board.backward) * x * x
    error += (board.right if y > 0.0 else board.left) * y * y
    error += (board.down if z > 0.0 else board.up) * z * z
    return float(0.5 * error)


class StaticPressure(Measured):
    """Static pressure; the altitude follows from it."""

    def numbers(self, sample: BaroSample) -> Sequence[float]:
        return (sample.pressure,)

    def with_numbers(self, sample: BaroSample, numbers: Sequence[float]) -> BaroSample:
        pressure = max(LOWEST_READING, numbers[0])
        return sample._replace(pressure=pressure, altitude=pressure_altitude(pressure))


BAROMETER = Sensor(
    BARO,
    "baro",
    "the barometer",
    Barometer,
    rate_hz=_RATE,
    update="baro_update",
    parameters=PARAMETERS,
    failures={"baro": Failing(Target("barometer", "Pa"), StaticPressure)},
    stream=3,
)
