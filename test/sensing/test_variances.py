"""The variances in messages match those of the measurements."""

import math
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.parts.standalone_sensors import ModelledSensors

SAMPLES = 4000
# Relative standard error of a variance of n independent samples: sqrt(2 / n) = 2.2 %; 5 of them.
SHARE = 5.0 * math.sqrt(2.0 / SAMPLES)


def models(**given) -> dict[str, Any]:
    return ModelledSensors(ModelledSensors.PARAMETERS.checked({**given, "seed": 5})).models


def truth_vector() -> np.ndarray:
    truth = np.zeros(19)
    truth[2], truth[3] = -3.0, 1.0
    return truth


@pytest.mark.parametrize("rate", [100.0, 400.0])
@pytest.mark.parametrize("vibrating", [False, True])
def test_imu_variances_are_those_of_samples_at_the_rate(rate, vibrating):
    inertial = models(gyro_bias_walk_stdev=0.0)["imu"]
    samples = []
    for _ in range(SAMPLES):
        inertial.sample(truth_vector(), 1.0 / rate, vibrating)
        samples.append([*(inertial.accel - inertial.accel_bias), *(inertial.gyro - inertial.gyro_bias)])
    of_axes = np.var(samples, axis=0)
    accel, gyro = inertial.variances(1.0 / rate)
    assert of_axes[:3] == pytest.approx([accel] * 3, rel=SHARE)
    assert of_axes[3:] == pytest.approx([gyro] * 3, rel=SHARE)


def test_variance_contains_the_stationary_walk():
    # The walk of the magnetometer forgets within 1/7 s: samples 1 s apart are independent.
    magnetometer = models()["mag"]
    samples = [magnetometer.sample(truth_vector(), 1.0).copy() for _ in range(SAMPLES)]
    assert np.var(samples, axis=0) == pytest.approx([magnetometer.variance(1.0)] * 3, rel=SHARE)


def test_variances_of_range_and_temperature_are_those_of_white_noise_at_the_rate():
    sensors = models(range_stdev=0.03, imu_temperature_noise_density=0.01)
    assert sensors["range"].variance(0.05) == pytest.approx(0.03**2)
    assert sensors["range"].variance(0.1) == pytest.approx(0.03**2 / 2.0)
    assert sensors["imu_temperature"].variance(0.02) == pytest.approx(0.01**2 / 0.02)
