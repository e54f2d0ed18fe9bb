"""Gyro and accelerometer: body rate and specific force with the errors of a small MEMS unit.

The accelerometer measures the specific force f = a - g (Beard and McLain, Small Unmanned Aircraft, section 7.1) where
it is mounted: at r from the centre of mass, a has the terms w' x r and w x (w x r) as well. At rest it reads
(0, 0, -g), in free fall 0. The gyro measures the body rate w (section 7.2), on an earth that rotates the inertial one
(`earth.py`). Both take part in the vibration of the airframe (`vibration`). In the sensor's own axes, which are turned
by a small misalignment, the readings are

    M_a f + b_a + n_a,    M_w w + S f + b_w + n_w

with the matrices M of scale factors and cross-axis sensitivities, the gyro's sensitivity S to specific force, and bias
b and white noise n of `errors`. The biases also change with the temperature of the IMU (`thermometer`), in proportion
to its distance from 25 deg C, and the gyro's has a part that decays as the sensor warms up, x0 exp(-t / tau), as in
ROSflight. The converter has a range and a resolution (`converter`).

Each reading has the sensor's own white noise and, while the vehicle is armed and a rotor turns, that of the vibration.
ROSflight's simulator models only the latter, and adds it while the vehicle is armed. The default densities of the
former are the typical ones of the ICM-20689 (TDK InvenSense, data sheet DS-000143): 0.006 deg/s/sqrt(Hz) and 150
ug/sqrt(Hz).

Its predecessor's data sheet gives the other errors (InvenSense, MPU-6000 and MPU-6050 product specification,
PS-MPU-6000A-00 revision 3.4, sections 6.1 and 6.2), for the ranges of 2000 deg/s and 16 g: 16.4 LSB/(deg/s) and 2048
LSB/g, scale factors within 3 %, cross-axis sensitivity 2 %, 0.1 deg/s/g of linear acceleration sensitivity. Its limits
of the bias over temperature, 20 deg/s over 125 K and 35 mg over 70 K, are those of the temperature coefficients here.
Position and misalignment are estimates for a flight controller in the middle of a small vehicle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.physics.earth import (
    EARTH_PARAMETERS,
    Earth,
    apparent_gravity_in_body,
    earth_of,
    earth_rate_in_body,
)
from rosflight_py_sim.physics.rotations import quaternion_from_rotation_vector, rotate_to_body
from rosflight_py_sim.sensing import vibration
from rosflight_py_sim.sensing.converter import converted, converter_of, converter_parameters
from rosflight_py_sim.sensing.errors import (
    BIAS,
    ERROR,
    LARGEST,
    NOISE_DENSITY,
    ErrorModel,
    ErrorSource,
    advance_errors,
    axes,
    covariance,
)
from rosflight_py_sim.sensing.failing import Vector
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorModel, Surroundings
from rosflight_py_sim.sensing.thermometer import THERMOMETER
from rosflight_py_sim.sensing.vibration import Vibration, vibrate
from rosflight_py_sim.step.topics import IMU
from rosflight_py_sim.step.vehicle_state import VehicleState

_RATE = 400.0

_G = 9.80665
_DEGREE = math.pi / 180.0

_GYRO = ErrorSource(
    "gyro",
    "angular rate",
    "rad/s",
    _RATE,
    stdev=0.00226,
    vibration=True,
    noise_density=1.05e-4,
    bias_range=0.25,
    walk_stdev=0.033,
    walk_drives=True,
    decay_rate=20.0,
)
_ACCELEROMETER = ErrorSource(
    "acc",
    "specific force",
    "m/s^2",
    _RATE,
    stdev=0.2,
    vibration=True,
    noise_density=1.47e-3,
    bias_range=0.6,
    walk_stdev=0.00001,
)
_BIASES = (*axes("acc_bias"), *axes("gyro_bias"))
_PAIRS = [one + other for one in "xyz" for other in "xyz"]
_RESPONSES = [
    name for matrix in ("acc_response", "gyro_response", "gyro_g_sensitivity") for name in axes(matrix, _PAIRS)
]
_WARM_UP = ("gyro_bias_model_x0", "gyro_bias_model_y0", "gyro_bias_model_z0")


def _drawn(name: str, default: float, what: str, unit: str = "", *, maximum: float) -> Parameter:
    text = f"{what}: drawn uniformly from plus or minus this value"
    return Parameter(name, default, text, unit, minimum=0.0, maximum=maximum)


def _imperfections(source: ErrorSource, full_scale: float, resolution: float, drift: float) -> ParameterTable:
    sensor, quantity = source.sensor, source.quantity
    return ParameterTable(
        _drawn(
            f"{sensor}_bias_temperature_range",
            drift,
            f"Change of each {quantity} bias with temperature",
            f"{source.unit}/K",
            maximum=LARGEST[source.unit],
        ),
        _drawn(f"{sensor}_scale_range", 0.03, f"Relative error of each {quantity} scale factor", maximum=0.5),
        _drawn(
            f"{sensor}_cross_axis_range",
            0.02,
            f"Cross-axis sensitivity of each {quantity} to each other axis",
            maximum=0.5,
        ),
    ) + converter_parameters(sensor, quantity, source.unit, full_scale, resolution)


PARAMETERS = (
    EARTH_PARAMETERS
    + _GYRO.parameters()
    + _imperfections(_GYRO, 2000.0 * _DEGREE, _DEGREE / 16.4, 0.0028)
    + ParameterTable(
        Parameter(
            _WARM_UP[0], 0.003, "Roll rate bias at switch-on, decaying as the gyro warms up", "rad/s", -100.0, 100.0
        ),
        Parameter(
            _WARM_UP[1], -0.002, "Pitch rate bias at switch-on, decaying as the gyro warms up", "rad/s", -100.0, 100.0
        ),
        Parameter(
            _WARM_UP[2], 0.001, "Yaw rate bias at switch-on, decaying as the gyro warms up", "rad/s", -100.0, 100.0
        ),
        Parameter("gyro_bias_model_tau", 400.0, "Time constant of the gyro's warm-up", "s", minimum=0.1, maximum=1e10),
        _drawn(
            "gyro_g_sensitivity_range",
            1.78e-4,
            "Sensitivity of each angular rate to each specific force",
            "rad s/m",
            maximum=1.0,
        ),
    )
    + _ACCELEROMETER.parameters()
    + _imperfections(_ACCELEROMETER, 16.0 * _G, _G / 2048.0, 0.0049)
    + ParameterTable(
        Parameter(
            "imu_position",
            [0.01, 0.0, -0.02],
            "Position of the IMU in body axes, from the centre of mass",
            "m",
            minimum=-100.0,
            maximum=100.0,
            length=3,
        ),
        _drawn("imu_misalignment_range", 0.01, "Rotation of the IMU about each body axis", "rad", maximum=0.5),
    )
    + vibration.PARAMETERS
)

# Temperature at which the data sheet states the biases, K.
_CALIBRATED_AT = 298.15

UNKNOWN: NDArray[np.float64] = np.zeros(0)
"""Rotor speeds of a vehicle that does not publish them."""

_THERMOMETER = THERMOMETER.sensor

# Speed above which a rotor counts as turning, rad/s: rotors that stop approach 0 without reaching it.
_TURNING = 1.0


@kernel_record
class ImuSettings:
    """Parameters of the measurement.

    Attributes:
        x: position of the IMU from the centre of mass, body axes (m); likewise `y` and `z`.
        accel_limit: largest specific force (m/s^2).
        accel_resolution: of the specific force (m/s^2); 0 for continuous readings.
        gyro_limit: largest angular rate (rad/s).
        gyro_resolution: of the angular rate (rad/s); 0 for continuous readings.
        warm_up_time: time constant of the gyro's warm-up (s).
    """

    x: float
    y: float
    z: float
    accel_limit: float
    accel_resolution: float
    gyro_limit: float
    gyro_resolution: float
    warm_up_time: float


@kernel_record
class Conditions:
    """Inputs of a compiled sample besides the true state, and whether the airframe vibrates.

    Attributes:
        armed: whether the vehicle is armed.
        vibrates: whether the last measurement has the white noise of a vibrating airframe.
    """

    armed: bool
    vibrates: bool


class InertialSensor(SensorModel):
    """Three-axis gyro and accelerometer.

    Attributes:
        accel: specific force as measured, (3,), m/s^2.
        gyro: angular rate as measured, (3,), rad/s.
        accel_bias: true bias in that measurement, (3,), m/s^2.
        gyro_bias: true bias in that measurement, (3,), rad/s.
        accel_response: reading of the accelerometer for each body axis, without bias (3, 3).
        gyro_response: reading of the gyro for each body axis, without bias (3, 3).
        g_sensitivity: reading of the gyro for a specific force along each body axis (3, 3), rad s/m.
        vibrates: whether that measurement has the white noise of a vibrating airframe.
        step_s: time between two samples of `step_links`, s.

    The next sample overwrites measurement and biases.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        terms = [_ACCELEROMETER.terms(values)] * 3 + [_GYRO.terms(values)] * 3
        super().__init__(ErrorModel(terms, rng))
        further, shaking = rng.spawn(2)
        # Scale and cross-axis errors of both, g-sensitivity, misalignment, temperature coefficients.
        self._draws = further.uniform(-1.0, 1.0, 36)
        self.vibration = Vibration(values, shaking)
        self._values = values
        # Densities at rest, and of a vibrating airframe.
        own = self._errors.channels[:, NOISE_DENSITY]
        shaken = [one.vibrating_noise_density(values) for one in (_ACCELEROMETER, _GYRO)]
        self._noise = np.array([own, np.repeat(shaken, 3)])
        self._earth = earth_of(values)
        x, y, z = cast("list[float]", values["imu_position"])
        accel, gyro = converter_of(values, "acc"), converter_of(values, "gyro")
        self._settings = ImuSettings(
            x=x,
            y=y,
            z=z,
            accel_limit=accel.limit,
            accel_resolution=accel.resolution,
            gyro_limit=gyro.limit,
            gyro_resolution=gyro.resolution,
            warm_up_time=number(values, "gyro_bias_model_tau"),
        )
        self._warm_up = np.array([number(values, name) for name in _WARM_UP])
        self._responses: NDArray[np.float64] = np.empty((3, 3, 3))
        self._drift: NDArray[np.float64] = np.empty(6)
        self._shake: NDArray[np.float64] = np.zeros(6)
        # Six measurements, six biases, the remaining share of the warm-up, and the temperature above 25 deg C.
        self._state: NDArray[np.float64] = np.zeros(14)
        self._state[12] = 1.0
        self.accel = self._state[0:3]
        self.gyro = self._state[3:6]
        self.accel_bias = self._state[6:9]
        self.gyro_bias = self._state[9:12]
        self.accel_response, self.gyro_response, self.g_sensitivity = self._responses
        self.vibrates = False
        self._conditions = Conditions(armed=False, vibrates=False)
        self._models = (
            self._earth,
            self._settings,
            self._responses,
            self._drift,
            self._noise,
            self._warm_up,
            self.vibration.waves,
            self.vibration.phases,
            self._shake,
            self._errors.channels,
            self._state,
        )
        self._measure = bound(sample_inertial, *self._models)
        # Covariances, and what they follow from: the time between two samples and whether the airframe vibrates.
        self._covariances: tuple[Any, Any] = (), ()
        self._covariances_now: NDArray[np.float64] = np.zeros(18)
        self._covariances_dt, self._covariances_vibrate = math.nan, False
        self.step_s = 0.0
        self._scale_draws()
        self._fill_biases()

    def adopt(self, other: InertialSensor) -> None:
        """Copy another sensor's errors, warm-up, vibration and last measurement."""
        super().adopt(other)
        self._draws[:] = other._draws
        self.vibration.adopt(other.vibration)
        self._state[:] = other._state
        self.vibrates = other.vibrates
        self._scale_draws()
        self._fill_biases()

    def variances(self, dt: float) -> tuple[float, float]:
        """Variances of a component of specific force and angular rate, as vibrating as in the last sample.

        See ErrorModel.variances.
        """
        return self._variances(dt, self.vibrates)

    def _variances(self, dt: float, vibrates: bool) -> tuple[float, float]:
        densities, walks = self._noise[int(vibrates)].tolist(), self._errors.walk_variances
        return densities[0] ** 2 / dt + walks[0], densities[3] ** 2 / dt + walks[3]

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, body axes, m/s^2 and rad/s, and the three matrices."""
        errors = dict(zip(_BIASES, self._state[6:12].tolist(), strict=True))
        return errors | dict(zip(_RESPONSES, self._responses.ravel().tolist(), strict=True))

    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
        """Angular rate (rad/s, 3), specific force (m/s^2, 3) and the covariance of each (9)."""
        temperature_k = around.models[_THERMOMETER].temperature_k
        self.sample(state.truth, dt, around.armed, around.rotor_speeds, temperature_k)
        return self._fields(dt, self.vibrates)

    def _fields(self, dt: float, vibrates: bool) -> tuple[Any, ...]:
        if dt != self._covariances_dt or vibrates is not self._covariances_vibrate:
            self.vibrates, self._covariances_dt, self._covariances_vibrate = vibrates, dt, vibrates
            accel, gyro = self.variances(dt)
            self._covariances = covariance(gyro), covariance(accel)
        of_gyro, of_accel = self._covariances
        return self.gyro.tolist(), self.accel.tolist(), of_gyro, of_accel

    def sample(
        self,
        truth: NDArray[np.float64],
        dt: float,
        armed: bool = False,
        rotor_speeds: NDArray[np.float64] = UNKNOWN,
        temperature_k: float = _CALIBRATED_AT,
    ) -> None:
        """Measure.

        Args:
            truth: truth vector (19,).
            dt: time since the last sample, s, > 0.
            armed: whether the vehicle is armed.
            rotor_speeds: true speed of each rotor, rad/s (n,); UNKNOWN: they turn while the vehicle is armed.
            temperature_k: true temperature of the IMU, K; not a number while it is unknown.
        """
        self.vibrates = self._measure(truth, dt, armed, rotor_speeds, temperature_k, next(self._errors.normals))

    # Compiled samples.

    @property
    def measured(self) -> NDArray[np.float64]:
        """The last measurement: accelerometer and gyro, (6,), m/s^2 and rad/s."""
        return self._state[0:6]

    def fields(self, dt: float) -> tuple[Any, ...]:
        """What `read` would have returned for the last sample of `step_links`."""
        return self._fields(dt, self._conditions.vibrates)

    @property
    def field_arrays(self) -> FieldArrays:
        """The fields of the last sample of `step_links`."""
        return {
            "gyro": [self.gyro],
            "accel": [self.accel],
            "gyro_covariance": [self._covariances_now[:9]],
            "accel_covariance": [self._covariances_now[9:]],
        }

    def arm(self, armed: bool) -> None:
        """Set whether the vehicle is armed in the samples of `step_links`."""
        self._conditions.armed = armed

    def step_links(self, around: Surroundings, truth: NDArray[np.float64], dt: float) -> Iterable[ChainLink]:
        """Links that sample in steps of `dt`, s, for the truth vector in an array (19,)."""
        conditions, row = self._conditions, np.zeros(12)
        temperatures = around.models[_THERMOMETER].temperatures
        conditions.vibrates, self.step_s = self.vibrates, dt

        def leave(answered_ns: int) -> None:
            self.vibrates = conditions.vibrates

        yield self._errors.normals.link(row)
        sampled = bound(
            sample_inertial_under, conditions, temperatures, *self._models, truth, dt, around.rotor_speeds, row
        )
        yield ChainLink(sampled, leave=leave)
        # Variances of gyro and accelerometer: first for a vehicle at rest, then for a vibrating airframe.
        variances = [self._variances(dt, vibrates)[::-1] for vibrates in (False, True)]
        covariances = np.array([[*covariance(gyro), *covariance(accel)] for gyro, accel in variances])
        yield ChainLink(bound(select_covariances, conditions, covariances, self._covariances_now))

    def _scale_draws(self) -> None:
        """Compute matrices and temperature coefficients from the draws."""
        draws, values = self._draws, self._values

        def matrix(sensor: str, drawn: NDArray[np.float64]) -> NDArray[np.float64]:
            scale, cross = number(values, f"{sensor}_scale_range"), number(values, f"{sensor}_cross_axis_range")
            return np.eye(3) + np.where(np.eye(3) == 1.0, scale, cross) * drawn.reshape(3, 3)

        turn = quaternion_from_rotation_vector(*(number(values, "imu_misalignment_range") * draws[27:30]).tolist())
        aligned = np.array([rotate_to_body(*turn, *axis) for axis in np.eye(3).tolist()]).T
        self._responses[0] = matrix("acc", draws[0:9]) @ aligned
        self._responses[1] = matrix("gyro", draws[9:18]) @ aligned
        self._responses[2] = number(values, "gyro_g_sensitivity_range") * draws[18:27].reshape(3, 3)
        self._drift[:3] = number(values, "acc_bias_temperature_range") * draws[30:33]
        self._drift[3:] = number(values, "gyro_bias_temperature_range") * draws[33:36]

    def _fill_biases(self) -> None:
        biases, (left, warmth) = self._errors.channels[:, BIAS], self._state[12:14]
        self.accel_bias[:] = biases[:3] + self._drift[:3] * warmth
        self.gyro_bias[:] = biases[3:] + (left * self._warm_up + self._drift[3:] * warmth)


@kernel
def sample_inertial(
    earth: Earth,
    settings: ImuSettings,
    responses: NDArray[np.float64],
    drift: NDArray[np.float64],
    noise: NDArray[np.float64],
    warm_up: NDArray[np.float64],
    waves: NDArray[np.float64],
    phases: NDArray[np.float64],
    shake: NDArray[np.float64],
    channels: NDArray[np.float64],
    state: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    armed: bool,
    rotor_speeds: NDArray[np.float64],
    temperature: float,
    normals: NDArray[np.float64],
) -> bool:
    """Write one measurement into `state`: accelerometer, gyro, their biases, share of the warm-up, and warmth.

    Return whether its noise is that of a vibrating airframe.
    """
    vibrates = armed and len(rotor_speeds) == 0
    for rotor in range(len(rotor_speeds)):
        vibrates = vibrates or (armed and rotor_speeds[rotor] > _TURNING)
    for channel in range(6):
        channels[channel, NOISE_DENSITY] = noise[int(vibrates), channel]
    advance_errors(channels, normals, dt)
    vibrate(rotor_speeds, dt, waves, phases, shake)
    left = state[12] * math.exp(-dt / settings.warm_up_time)
    state[12] = left
    warmth = 0.0 if math.isnan(temperature) else temperature - _CALIBRATED_AT
    state[13] = warmth
    gx, gy, gz = apparent_gravity_in_body(earth, truth)
    wx, wy, wz = earth_rate_in_body(earth, truth[3], truth[4], truth[5], truth[6])
    p, q, r = truth[10] + wx, truth[11] + wy, truth[12] + wz
    # w x r, whose cross product with w is the centripetal acceleration.
    vx = q * settings.z - r * settings.y
    vy = r * settings.x - p * settings.z
    vz = p * settings.y - q * settings.x
    fx = truth[13] - gx + truth[17] * settings.z - truth[18] * settings.y + q * vz - r * vy + shake[0]
    fy = truth[14] - gy + truth[18] * settings.x - truth[16] * settings.z + r * vx - p * vz + shake[1]
    fz = truth[15] - gz + truth[16] * settings.y - truth[17] * settings.x + p * vy - q * vx + shake[2]
    p, q, r = p + shake[3], q + shake[4], r + shake[5]
    for axis in range(3):
        drifted = drift[axis] * warmth
        force = responses[0, axis, 0] * fx + responses[0, axis, 1] * fy + responses[0, axis, 2] * fz
        force += channels[axis, ERROR] + drifted
        state[axis] = converted(force, settings.accel_limit, settings.accel_resolution)
        state[6 + axis] = channels[axis, BIAS] + drifted
        drifted = left * warm_up[axis] + drift[3 + axis] * warmth
        rate = responses[1, axis, 0] * p + responses[1, axis, 1] * q + responses[1, axis, 2] * r
        rate += responses[2, axis, 0] * fx + responses[2, axis, 1] * fy + responses[2, axis, 2] * fz
        rate += channels[3 + axis, ERROR] + drifted
        state[3 + axis] = converted(rate, settings.gyro_limit, settings.gyro_resolution)
        state[9 + axis] = channels[3 + axis, BIAS] + drifted
    return bool(vibrates)


@kernel
def select_covariances(conditions: Conditions, covariances: NDArray[np.float64], now: NDArray[np.float64]) -> None:
    """Copy the covariances (18) of a vehicle at rest or of a vibrating one, from rows (2, 18)."""
    row = 1 if conditions.vibrates else 0
    for i in range(len(now)):
        now[i] = covariances[row, i]


@kernel
def sample_inertial_under(
    conditions: Conditions,
    temperatures: NDArray[np.float64],
    earth: Earth,
    settings: ImuSettings,
    responses: NDArray[np.float64],
    drift: NDArray[np.float64],
    noise: NDArray[np.float64],
    warm_up: NDArray[np.float64],
    waves: NDArray[np.float64],
    phases: NDArray[np.float64],
    shake: NDArray[np.float64],
    channels: NDArray[np.float64],
    state: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    rotor_speeds: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> None:
    """`sample_inertial` with the inputs of a record, to which it also writes whether the airframe vibrates.

    `temperatures` are those of `Thermometer`.
    """
    conditions.vibrates = sample_inertial(
        earth,
        settings,
        responses,
        drift,
        noise,
        warm_up,
        waves,
        phases,
        shake,
        channels,
        state,
        truth,
        dt,
        conditions.armed,
        rotor_speeds,
        temperatures[0],
        normals,
    )


_OFF = (0.0, 0.0, 0.0)

INERTIAL_SENSOR = Sensor(
    IMU,
    "imu",
    "gyro and accelerometer",
    InertialSensor,
    rate_hz=_RATE,
    update="imu_update",
    parameters=PARAMETERS,
    failures={
        "gyro": Failing(Target("gyroscope", "rad/s", 3), lambda: Vector("gyro", _OFF)),
        "accel": Failing(Target("accelerometer", "m/s^2", 3), lambda: Vector("accel", _OFF)),
    },
    stream=0,
    every_step=True,
)
