"""Gyro and accelerometer: body rate and specific force with the errors of a small MEMS unit.

The accelerometer measures the specific force f = a - g (Beard and McLain, Small Unmanned Aircraft, section 7.1): 0 in
free fall, (0, 0, -g) at rest. The gyro measures the body rate (section 7.2), on an earth that rotates the inertial one
(`earth.py`). The gyro's bias has a third part besides those of `errors`: one that decays as the sensor warms up, x0
exp(-t / tau), as in ROSflight.

Each reading has the sensor's own white noise and, while the vehicle is armed and a rotor turns, that of the vibration.
ROSflight's simulator models only the latter, and adds it while the vehicle is armed. The default densities of the
former are the typical ones of the ICM-20689 (TDK InvenSense, data sheet DS-000143): 0.006 deg/s/sqrt(Hz) and 150
ug/sqrt(Hz).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.physics.earth import (
    EARTH_PARAMETERS,
    Earth,
    apparent_gravity_in_body,
    earth_of,
    earth_rate_in_body,
)
from rosflight_py_sim.sensing.errors import BIAS, ERROR, NOISE_DENSITY, ErrorModel, ErrorSource, advance_errors, axes
from rosflight_py_sim.sensing.site import IMU_RATE

_GYRO = ErrorSource(
    "gyro",
    "angular rate",
    "rad/s",
    IMU_RATE,
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
    IMU_RATE,
    stdev=0.2,
    vibration=True,
    noise_density=1.47e-3,
    bias_range=0.6,
    walk_stdev=0.00001,
)
_BIASES = (*axes("acc_bias"), *axes("gyro_bias"))
_WARM_UP = ("gyro_bias_model_x0", "gyro_bias_model_y0", "gyro_bias_model_z0")

PARAMETERS = (
    EARTH_PARAMETERS
    + _GYRO.parameters()
    + _ACCELEROMETER.parameters()
    + ParameterTable(
        Parameter(_WARM_UP[0], 0.003, "Roll rate bias at switch-on, decaying as the gyro warms up", "rad/s"),
        Parameter(_WARM_UP[1], -0.002, "Pitch rate bias at switch-on, decaying as the gyro warms up", "rad/s"),
        Parameter(_WARM_UP[2], 0.001, "Yaw rate bias at switch-on, decaying as the gyro warms up", "rad/s"),
        Parameter(
            "gyro_bias_model_tau",
            400.0,
            "Time constant of the gyro's warm-up",
            "s",
            minimum=0.0,
            above_minimum=True,
        ),
    )
)


UNKNOWN: NDArray[np.float64] = np.zeros(0)
"""Rotor speeds of a vehicle that does not publish them."""

# Speed above which a rotor counts as turning, rad/s: rotors that stop approach 0 without reaching it.
_TURNING = 1.0


class InertialSensor:
    """Three-axis gyro and accelerometer at the centre of mass, aligned with the body axes.

    After `sample`: `accel` (3,) specific force (m/s^2) and `gyro` (3,) angular rate (rad/s) as measured, body axes;
    `accel_bias` and `gyro_bias` (3,) the true biases in that measurement. The four arrays are views of the sensor's
    state: the next sample overwrites them.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        sources = [_ACCELEROMETER] * 3 + [_GYRO] * 3
        self._errors = ErrorModel([source.terms(values) for source in sources], rng)
        # Densities at rest, and of a vibrating airframe.
        own = self._errors.channels[:, NOISE_DENSITY]
        self._noise = np.array([own, [source.vibrating_noise_density(values) for source in sources]])
        self._earth = earth_of(values)
        self._warm_up = np.array([*(number(values, name) for name in _WARM_UP), number(values, "gyro_bias_model_tau")])
        # Six measurements, six biases, and the remaining share of the warm-up.
        self._state: NDArray[np.float64] = np.zeros(13)
        self._state[12] = 1.0
        self.accel = self._state[0:3]
        self.gyro = self._state[3:6]
        self.accel_bias = self._state[6:9]
        self.gyro_bias = self._state[9:12]
        self._fill_biases()

    def adopt(self, other: InertialSensor) -> None:
        """Copy another sensor's errors, warm-up and last measurement."""
        self._errors.adopt(other._errors)
        self._state[:] = other._state
        self._fill_biases()

    @property
    def noise_densities(self) -> tuple[float, float]:
        """White noise densities of accelerometer and gyro in the last sample."""
        channels = self._errors.channels
        return float(channels[0, NOISE_DENSITY]), float(channels[3, NOISE_DENSITY])

    def variances(self, dt: float) -> tuple[float, float]:
        """Variances of a component of specific force and angular rate; see ErrorModel.variances."""
        variances = self._errors.variances(dt)
        return variances[0], variances[3]

    def true_errors(self) -> dict[str, float]:
        """True biases of the last measurement, body axes, m/s^2 and rad/s; see SensorSuite."""
        return dict(zip(_BIASES, self._state[6:12].tolist(), strict=True))

    def sample(
        self,
        truth: NDArray[np.float64],
        dt: float,
        armed: bool = False,
        rotor_speeds: NDArray[np.float64] = UNKNOWN,
    ) -> None:
        """Measure.

        Args:
            truth: truth vector (19,).
            dt: time since the last sample, s, > 0.
            armed: whether the vehicle is armed.
            rotor_speeds: true speed of each rotor, rad/s (n,); UNKNOWN: they turn while the vehicle is armed.
        """
        errors = self._errors
        sample_inertial(
            truth,
            self._earth,
            dt,
            armed,
            rotor_speeds,
            self._noise,
            self._warm_up,
            errors.channels,
            errors.normals.next(),
            self._state,
        )

    def _fill_biases(self) -> None:
        self._state[6:12] = self._errors.channels[:, BIAS]
        self._state[9:12] += self._state[12] * self._warm_up[0:3]


@kernel
def sample_inertial(
    truth: NDArray[np.float64],
    earth: Earth,
    dt: float,
    armed: bool,
    rotor_speeds: NDArray[np.float64],
    noise: NDArray[np.float64],
    warm_up: NDArray[np.float64],
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
    state: NDArray[np.float64],
) -> None:
    """Write one measurement into `state`: accelerometer, gyro, their biases, and the remaining share of the warm-up."""
    shaken = armed and len(rotor_speeds) == 0
    for rotor in range(len(rotor_speeds)):
        shaken = shaken or (armed and rotor_speeds[rotor] > _TURNING)
    for channel in range(6):
        channels[channel, NOISE_DENSITY] = noise[int(shaken), channel]
    advance_errors(channels, normals, dt)
    left = state[12] * math.exp(-dt / warm_up[3])
    state[12] = left
    gx, gy, gz = apparent_gravity_in_body(earth, truth)
    wx, wy, wz = earth_rate_in_body(earth, truth[3], truth[4], truth[5], truth[6])
    state[0] = truth[13] - gx + channels[0, ERROR]
    state[1] = truth[14] - gy + channels[1, ERROR]
    state[2] = truth[15] - gz + channels[2, ERROR]
    state[3], state[4], state[5] = truth[10] + wx, truth[11] + wy, truth[12] + wz
    for axis in range(3):
        state[3 + axis] = state[3 + axis] + left * warm_up[axis] + channels[3 + axis, ERROR]
        state[6 + axis] = channels[axis, BIAS]
        state[9 + axis] = left * warm_up[axis] + channels[3 + axis, BIAS]
