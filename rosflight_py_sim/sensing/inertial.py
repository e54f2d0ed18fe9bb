"""Gyro and accelerometer: body rate and specific force with the errors of a small MEMS unit.

The accelerometer measures the specific force f = a - g (Beard and McLain, Small Unmanned Aircraft, section 7.1): 0 in
free fall, (0, 0, -g) at rest. The gyro measures the body rate (section 7.2). The gyro's bias has a third part besides
those of `errors`: one that decays as the sensor warms up, x0 exp(-t / tau), as in ROSflight.

Each reading has the sensor's own white noise and, while the airframe vibrates, that of the vibration. ROSflight's
simulator models only the latter, and adds it while the vehicle is armed. The default densities of the former are the
typical ones of the ICM-20689 (TDK InvenSense, data sheet DS-000143): 0.006 deg/s/sqrt(Hz) and 150 ug/sqrt(Hz).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.jit import kernel
from rosflight_py_sim.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.sensing.errors import BIAS, ERROR, NOISE_DENSITY, ErrorModel, ErrorSource, advance_errors
from rosflight_py_sim.sensing.site import IMU_RATE
from rosflight_py_sim.shared_parameters import GRAVITY

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
_WARM_UP = ("gyro_bias_model_x0", "gyro_bias_model_y0", "gyro_bias_model_z0")

PARAMETERS = (
    ParameterTable(GRAVITY)
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


class InertialSensor:
    """Three-axis gyro and accelerometer at the centre of mass, aligned with the body axes.

    `vibrating`, whether the airframe vibrates, may be set before any sample. It changes the standard deviation of the
    white noise, but not the number of random draws. After `sample`: `accel` (3,) specific force (m/s^2) and `gyro` (3,)
    angular rate (rad/s) as measured, body axes; `accel_bias` and `gyro_bias` (3,) the true biases in that measurement.
    The four arrays are views of the sensor's state: the next sample overwrites them.
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        sources = [_ACCELEROMETER] * 3 + [_GYRO] * 3
        self._errors = ErrorModel([source.terms(values) for source in sources], rng)
        self._own_noise = self._errors.channels[:, NOISE_DENSITY].copy()
        self._vibrating_noise = np.array([source.vibrating_noise_density(values) for source in sources])
        self._vibrating = False
        self._gravity = number(values, "gravity")
        self._warm_up = np.array([*(number(values, name) for name in _WARM_UP), number(values, "gyro_bias_model_tau")])
        # Six measurements, six biases, and the remaining share of the warm-up.
        self._state: NDArray[np.float64] = np.zeros(13)
        self._state[12] = 1.0
        self.accel = self._state[0:3]
        self.gyro = self._state[3:6]
        self.accel_bias = self._state[6:9]
        self.gyro_bias = self._state[9:12]
        self._fill_biases()

    @property
    def vibrating(self) -> bool:
        """Whether the airframe vibrates; initially False."""
        return self._vibrating

    @vibrating.setter
    def vibrating(self, vibrating: bool) -> None:
        if vibrating is not self._vibrating:
            self._vibrating = vibrating
            self._errors.channels[:, NOISE_DENSITY] = self._vibrating_noise if vibrating else self._own_noise

    def adopt(self, other: InertialSensor) -> None:
        """Copy another sensor's errors, warm-up, vibration and last measurement."""
        self._errors.adopt(other._errors)
        self.vibrating = other.vibrating
        self._state[:] = other._state
        self._fill_biases()

    def sample(self, truth: NDArray[np.float64], dt: float) -> None:
        """Measure; `truth` is the truth vector (19,), dt the time since the last sample (s, > 0)."""
        errors = self._errors
        sample_inertial(truth, self._gravity, dt, self._warm_up, errors.channels, errors.normals.next(), self._state)

    def _fill_biases(self) -> None:
        self._state[6:12] = self._errors.channels[:, BIAS]
        self._state[9:12] += self._state[12] * self._warm_up[0:3]


@kernel
def sample_inertial(
    truth: NDArray[np.float64],
    gravity: float,
    dt: float,
    warm_up: NDArray[np.float64],
    channels: NDArray[np.float64],
    normals: NDArray[np.float64],
    state: NDArray[np.float64],
) -> None:
    """Write one measurement into `state`: accelerometer, gyro, their biases, and the remaining share of the warm-up."""
    advance_errors(channels, normals, dt)
    left = state[12] * math.exp(-dt / warm_up[3])
    state[12] = left
    gx, gy, gz = rotate_to_body(truth[3], truth[4], truth[5], truth[6], 0.0, 0.0, gravity)
    state[0] = truth[13] - gx + channels[0, ERROR]
    state[1] = truth[14] - gy + channels[1, ERROR]
    state[2] = truth[15] - gz + channels[2, ERROR]
    for axis in range(3):
        state[3 + axis] = truth[10 + axis] + left * warm_up[axis] + channels[3 + axis, ERROR]
        state[6 + axis] = channels[axis, BIAS]
        state[9 + axis] = left * warm_up[axis] + channels[3 + axis, BIAS]
