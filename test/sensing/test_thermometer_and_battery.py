"""IMU temperature and battery monitor."""

import math

import numpy as np
import pytest

from rosflight_py_sim.physics.atmosphere import temperature
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, BatteryMonitor, Thermometer

QUIET = {"imu_temperature_noise_density": 0.0, "imu_temperature_bias_range": 0.0}


def at(height):
    """Truth state at a height above the origin, which is at 1387 m."""
    truth = np.zeros(19)
    truth[2:4] = -height, 1.0
    return truth


def thermometer(seed=0, **given):
    return Thermometer(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def battery_monitor(seed=0, **given):
    return BatteryMonitor(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


@pytest.mark.parametrize("dt", [0.0025, 0.1, 12.0])
def test_imu_warms_up_from_ambient_with_its_time_constant_at_any_rate(dt):
    sensor = thermometer(**QUIET)
    for _ in range(round(120.0 / dt)):
        reading = sensor.sample(at(1000.0), dt)
    assert reading == pytest.approx(temperature(2387.0) + 21.0 * (1.0 - math.exp(-1.0)), rel=1e-9)


def test_warm_imu_at_default_origin_reads_the_rosflight_constant():
    reading = thermometer(**QUIET).sample(at(0.0), 1e6)
    assert reading == pytest.approx(273.15 + 27.0, abs=0.1)


def test_temperature_noise_and_bias_match_parameters():
    sensor = thermometer(imu_self_heating=0.0, origin_altitude=0.0)
    readings = np.array([sensor.sample(at(0.0), 0.0025) for _ in range(5000)]) - 288.15
    # 5,000 values: relative standard error 1 %; 4.5 of them.
    assert readings.std() == pytest.approx(0.0025 * 20.0, rel=0.045)
    assert 0.0 < abs(readings.mean()) <= 1.0


def test_adopting_thermometer_stays_warm():
    first = thermometer(**QUIET)
    warm = first.sample(at(0.0), 1e6)
    heir = thermometer(**QUIET)
    heir.adopt(first)
    assert heir.sample(at(0.0), 0.0025) == pytest.approx(warm, abs=1e-9)


def test_noise_free_battery_monitor_reads_the_truth():
    sensor = battery_monitor(battery_stdev=0.0, battery_bias_range=0.0)
    sensor.sample(22.2, 13.5, 0.005)
    assert sensor.voltage == 22.2
    # The current's noise has no ROSflight name: its density of 0.007 A/sqrt(Hz) is 0.1 A at 200 Hz; 6 of them.
    assert sensor.current == pytest.approx(13.5, abs=0.6)


@pytest.mark.parametrize("rate", [50.0, 200.0])
def test_battery_noise_density_is_independent_of_sample_rate(rate):
    sensor = battery_monitor()
    readings = []
    for _ in range(5000):
        sensor.sample(22.2, 13.5, 1.0 / rate)
        readings.append((sensor.voltage, sensor.current))
    # 5,000 values: relative standard error 1 %; 4.5 of them.
    expected = [0.3 * math.sqrt(rate / 200.0), 0.007 * math.sqrt(rate)]
    assert np.std(readings, axis=0) == pytest.approx(expected, rel=0.045)
    assert np.mean(readings, axis=0) == pytest.approx([22.2, 13.5], abs=0.02)


def test_adopting_monitor_keeps_last_reading():
    first = battery_monitor()
    first.sample(22.2, 13.5, 0.005)
    heir = battery_monitor(9)
    heir.adopt(first)
    assert (heir.voltage, heir.current) == (first.voltage, first.current)
