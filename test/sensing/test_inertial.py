"""Gyro and accelerometer: readings without errors, with errors, and at other rates."""

import math

import numpy as np
import pytest
from imu_errors import IDEAL_IMU

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, InertialSensor
from rosflight_py_sim.sensing.inertial import UNKNOWN

DT = 1.0 / 400.0
GRAVITY = 9.81
QUIET = {
    name: 0.0
    for name in SENSOR_PARAMETERS.defaults()
    if name.endswith(("_stdev", "_noise_density", "_bias_range", "_model_x0", "_model_y0", "_model_z0"))
}


def inertial_sensor(seed=0, **given):
    """A sensor whose only errors are noise and biases, which do not depend on the temperature."""
    return InertialSensor(SENSOR_PARAMETERS.checked(IDEAL_IMU | given), np.random.default_rng(seed))


def truth(quaternion=(1.0, 0.0, 0.0, 0.0), rates=(0.0, 0.0, 0.0), acceleration=(0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[3:7] = quaternion
    vector[10:13] = rates
    vector[13:16] = acceleration
    return vector


def recorded(sensor, state, samples, dt=DT, armed=False, speeds=UNKNOWN):
    """Accelerometer and gyro readings, (samples, 6)."""
    readings = np.empty((samples, 6))
    for reading in readings:
        sensor.sample(state, dt, armed, speeds)
        reading[:3], reading[3:] = sensor.accel, sensor.gyro
    return readings


def test_level_at_rest_measures_one_gravity_up():
    sensor = inertial_sensor(**QUIET)
    sensor.sample(truth(), DT)
    assert sensor.accel == pytest.approx([0.0, 0.0, -GRAVITY], abs=1e-12)
    assert sensor.gyro == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_noisy_sensor_at_rest_averages_one_gravity_up():
    sensor = inertial_sensor(acc_bias_range=0.0, acc_bias_walk_stdev=0.0)
    mean = recorded(sensor, truth(), 10000, armed=True)[:, :3].mean(axis=0)
    # 0.2 m/s^2 a sample: the mean of 10,000 has a standard error of 0.002; 5 of them.
    assert mean == pytest.approx([0.0, 0.0, -GRAVITY], abs=0.01)


def test_rolled_right_at_rest_measures_gravity_along_y():
    half = math.radians(45.0)
    sensor = inertial_sensor(**QUIET)
    sensor.sample(truth((math.cos(half), math.sin(half), 0.0, 0.0)), DT)
    assert sensor.accel == pytest.approx([0.0, -GRAVITY, 0.0], abs=1e-12)


def test_pitched_up_at_rest_measures_forward_specific_force():
    half = math.radians(15.0)
    sensor = inertial_sensor(**QUIET)
    sensor.sample(truth((math.cos(half), 0.0, math.sin(half), 0.0)), DT)
    expected = [GRAVITY * math.sin(math.radians(30.0)), 0.0, -GRAVITY * math.cos(math.radians(30.0))]
    assert sensor.accel == pytest.approx(expected, abs=1e-12)


def test_free_fall_measures_zero():
    half = 0.4
    quaternion = (math.cos(half), math.sin(half) * 0.6, math.sin(half) * 0.8, 0.0)
    w, x, y, z = quaternion
    gravity_body = GRAVITY * np.array([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z])
    sensor = inertial_sensor(**QUIET)
    sensor.sample(truth(quaternion, acceleration=gravity_body), DT)
    assert sensor.accel == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_gyro_measures_body_rates():
    sensor = inertial_sensor(**QUIET)
    sensor.sample(truth(rates=(0.1, -0.2, 0.3)), DT)
    assert sensor.gyro == pytest.approx([0.1, -0.2, 0.3], abs=1e-15)


def test_published_bias_equals_the_bias_in_the_measurement():
    sensor = inertial_sensor(acc_noise_density=0.0, gyro_noise_density=0.0)
    for _ in range(10):
        sensor.sample(truth(rates=(0.1, 0.2, 0.3)), DT)
        assert sensor.accel - sensor.accel_bias == pytest.approx([0.0, 0.0, -GRAVITY], abs=1e-12)
        assert sensor.gyro - sensor.gyro_bias == pytest.approx([0.1, 0.2, 0.3], abs=1e-12)


def test_bias_is_known_before_the_first_sample():
    sensor = inertial_sensor(acc_bias_walk_stdev=0.0, gyro_bias_walk_stdev=0.0, gyro_bias_model_tau=1e9)
    accel_bias, gyro_bias = sensor.accel_bias.copy(), sensor.gyro_bias.copy()
    sensor.sample(truth(), DT)
    assert sensor.accel_bias == pytest.approx(accel_bias, abs=1e-12)
    # The warm-up of 3e-3 rad/s has lost 2.5 ms of 1e9 s.
    assert sensor.gyro_bias == pytest.approx(gyro_bias, abs=1e-12)


@pytest.mark.parametrize("rate", [100.0, 400.0, 1000.0])
def test_warm_up_bias_decays_with_its_time_constant_at_any_rate(rate):
    given = {**QUIET, "gyro_bias_model_x0": 0.003, "gyro_bias_model_y0": -0.002, "gyro_bias_model_tau": 2.0}
    sensor = inertial_sensor(**given)
    recorded(sensor, truth(), round(2.0 * rate), 1.0 / rate)
    assert sensor.gyro_bias == pytest.approx(np.array([0.003, -0.002, 0.0]) / math.e, rel=1e-9)


STILL_BIASES = {"gyro_bias_walk_stdev": 0.0, "gyro_bias_model_tau": 1e9}
NO_OWN_NOISE = {"acc_noise_density": 0.0, "gyro_noise_density": 0.0}
# ICM-20689: 150 ug/sqrt(Hz) and 0.006 deg/s/sqrt(Hz), over the 2.5 ms of a sample.
DATA_SHEET = np.array([150e-6 * 9.80665, math.radians(0.006)]) * math.sqrt(400.0)
ROSFLIGHT = np.array([0.2, 0.00226])


@pytest.mark.parametrize(
    ("given", "shaken", "expected"),
    [
        ({}, False, DATA_SHEET),
        ({}, True, np.hypot(DATA_SHEET, ROSFLIGHT)),
        (NO_OWN_NOISE, False, np.zeros(2)),
        (NO_OWN_NOISE, True, ROSFLIGHT),
    ],
)
def test_sample_noise_is_datasheet_noise_at_rest_and_rosflight_noise_while_vibrating(given, shaken, expected):
    sensor = inertial_sensor(**STILL_BIASES, **given)
    deviation = recorded(sensor, truth(), 8000, armed=shaken).reshape(-1, 2, 3).std(axis=0)
    # Relative standard error of a deviation from 8,000 samples: 1 / sqrt(16000) = 0.8 %; 4.5 of them. The densities
    # are the data sheet's to three digits. 1e-5: the accelerometer's bias walk.
    assert deviation == pytest.approx(
        np.repeat(expected[:, None], 3, axis=1), rel=0.041, abs=2e-3 * (not any(expected))
    )


@pytest.mark.parametrize("seed", range(20))
def test_rosflight_calibration_succeeds_at_rest_and_fails_while_vibrating(seed):
    # Sensors::calibrate_accel: 1001 samples, and the norm of greatest less least, axis by axis, is at most 1 m/s^2.
    both = [recorded(inertial_sensor(seed), truth(), 1001, armed=armed)[:, :3] for armed in (False, True)]
    spread = [np.linalg.norm(np.ptp(readings, axis=0)) for readings in both]
    assert spread[0] < 0.5
    assert spread[1] > 2.0


def test_vibration_scales_noise_without_drawing_random_numbers():
    calm, shaken = (inertial_sensor(7, **STILL_BIASES, acc_bias_walk_stdev=0.0) for _ in range(2))
    before = recorded(calm, truth(), 300), recorded(shaken, truth(), 300)
    assert np.array_equal(*before)
    quiet, noisy = recorded(calm, truth(), 300), recorded(shaken, truth(), 300, armed=True)
    bias = np.concatenate([calm.accel_bias + np.array([0.0, 0.0, -GRAVITY]), calm.gyro_bias])
    ratio = np.repeat(np.hypot(DATA_SHEET, ROSFLIGHT) / DATA_SHEET, 3)
    # 1e-3: the densities are the data sheet's to three digits; 1e-8 rad/s: the warm-up continues.
    assert noisy - bias == pytest.approx((quiet - bias) * ratio, rel=3e-3, abs=1e-8)
    assert np.array_equal(recorded(calm, truth(), 300), recorded(shaken, truth(), 300))


@pytest.mark.parametrize(
    ("armed", "speeds", "expected"),
    [
        (True, UNKNOWN, True),
        (True, np.array([0.0, 0.0, 80.0, 0.0]), True),
        # A rotor that stops approaches 0 without reaching it.
        (True, np.array([0.0, 1e-9]), False),
        (False, np.array([400.0, 400.0]), False),
        (False, UNKNOWN, False),
    ],
)
def test_white_vibration_noise_needs_an_armed_vehicle_with_turning_rotors(armed, speeds, expected):
    readings = recorded(inertial_sensor(5), truth(), 300, armed=armed, speeds=speeds)
    assert (readings[:, :3].std(axis=0).min() > 0.1) == expected


@pytest.mark.parametrize("rate", [100.0, 400.0, 1600.0])
def test_noise_density_is_independent_of_sample_rate(rate):
    sensor = inertial_sensor(gyro_noise_density=1e-4, acc_noise_density=2e-3, gyro_bias_walk_stdev=0.0)
    readings = recorded(sensor, truth(), round(8.0 * rate), 1.0 / rate)
    # Allan deviation at 10 ms, clusters of 10 ms: N / sqrt(tau). 800 clusters a channel, three channels: the relative
    # standard error of the deviation is sqrt(3 / (8 * 2400)) = 1.25 %; 4.5 of them.
    clusters = readings.reshape(800, -1, 6).mean(axis=1)
    deviation = np.sqrt(0.5 * np.mean(np.diff(clusters, axis=0) ** 2, axis=0).reshape(2, 3).mean(axis=1))
    assert deviation == pytest.approx(np.array([2e-3, 1e-4]) / math.sqrt(0.01), rel=0.056)


@pytest.mark.parametrize("rate", [50.0, 400.0])
def test_default_gyro_bias_stays_bounded_with_rosflight_deviation(rate):
    sensor = inertial_sensor(gyro_noise_density=0.0, gyro_bias_range=0.0, gyro_bias_model_tau=1e9)
    gyro = recorded(sensor, truth(), round(60.0 * rate), 1.0 / rate)[:, 3:]
    # K / sqrt(2 k) with K = 0.033 / sqrt(400). 60 s x 3 axes hold 60 * 3 * k / 2... independent values: the relative
    # standard error is 1 / sqrt(2 * 60 * 3 * 20) = 1.2 %; 5 of them.
    expected = 0.033 / math.sqrt(400.0) / math.sqrt(2.0 * 20.0)
    deviation = math.sqrt(np.mean((gyro - [0.003, -0.002, 0.001]) ** 2))
    assert deviation == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("rate", [50.0, 400.0])
def test_default_accelerometer_bias_walks_as_in_rosflight_at_any_rate(rate):
    walks = []
    for seed in range(200):
        sensor = inertial_sensor(seed, acc_bias_walk_stdev=0.01)
        start = sensor.accel_bias.copy()
        recorded(sensor, truth(), round(0.5 * rate), 1.0 / rate)
        walks.append(sensor.accel_bias - start)
    # 200 steps of 0.01 at 400 Hz. 600 walks: relative standard error 1 / sqrt(1200) = 2.9 %; 4.5 of them.
    assert np.std(walks) == pytest.approx(0.01 * math.sqrt(200.0), rel=0.13)


def test_same_seed_yields_same_readings_and_other_seed_differs():
    first = recorded(inertial_sensor(5), truth(), 600)
    assert np.array_equal(first, recorded(inertial_sensor(5), truth(), 600))
    assert not np.any(first == recorded(inertial_sensor(6), truth(), 600))


def test_adopting_sensor_continues_from_the_previous_one():
    whole = recorded(inertial_sensor(5), truth(), 600)
    first = inertial_sensor(5)
    begin = recorded(first, truth(), 300)
    heir = inertial_sensor(77)
    heir.adopt(first)
    assert np.array_equal(heir.accel, begin[-1, :3])
    assert np.array_equal(np.concatenate([begin, recorded(heir, truth(), 300)]), whole)


def test_new_gravity_takes_effect_on_adoption():
    first = inertial_sensor(**QUIET)
    first.sample(truth(), DT)
    heir = inertial_sensor(**{**QUIET, "gravity": 1.62})
    heir.adopt(first)
    heir.sample(truth(), DT)
    assert heir.accel == pytest.approx([0.0, 0.0, -1.62], abs=1e-12)
