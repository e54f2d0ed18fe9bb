"""Barometer: the standard atmosphere with errors in pressure."""

import math

import numpy as np
import pytest

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Barometer

STILL = {
    "baro_static_port_error": [0.0] * 6,
    "baro_propeller_wash": 0.0,
    "baro_bias_temperature_range": 0.0,
    "baro_resolution": 0.0,
}
QUIET = {"baro_stdev": 0.0, "baro_bias_range": 0.0, "baro_bias_walk_stdev": 0.0, **STILL}
CALM = np.zeros(3)


def barometer(seed=0, **given):
    return Barometer(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def truth(down=0.0):
    vector = np.zeros(19)
    vector[2], vector[3] = down, 1.0
    return vector


# U.S. Standard Atmosphere 1976, table I: geometric altitude (m), temperature (K), pressure (Pa).
@pytest.mark.parametrize(
    ("altitude", "temperature", "pressure"),
    [(0.0, 288.150, 101325.0), (1000.0, 281.651, 89876.0), (5000.0, 255.676, 54048.0), (10000.0, 223.252, 26500.0)],
)
def test_barometer_reads_the_standard_atmosphere(altitude, temperature, pressure):
    sensor = barometer(**QUIET, origin_altitude=200.0)
    sensor.sample(truth(200.0 - altitude), CALM, 0.0, 0.01)
    # The table has five digits.
    assert sensor.pressure_pa == pytest.approx(pressure, rel=3e-5)
    assert sensor.temperature_k == pytest.approx(temperature, abs=1e-3)
    assert sensor.altitude_m == pytest.approx(altitude, abs=1e-6)


def test_one_metre_climb_lowers_pressure_by_the_weight_of_the_air():
    sensor = barometer(**QUIET, origin_altitude=0.0)
    sensor.sample(truth(-0.5), CALM, 0.0, 0.01)
    above = sensor.pressure_pa
    sensor.sample(truth(0.5), CALM, 0.0, 0.01)
    # rho g = 1.225 * 9.80665, symmetric difference at sea level.
    assert sensor.pressure_pa - above == pytest.approx(1.225 * 9.80665, rel=1e-4)


@pytest.mark.parametrize("density", [1000.0, 1025.0])
def test_each_metre_of_water_adds_its_weight_while_air_stays_above_it(density):
    sensor, dry = (barometer(**QUIET, origin_altitude=1387.0, water_density=rho) for rho in (density, 0.0))
    readings = []
    for down in (-5.0, 0.0, 2.0, 12.0):
        sensor.sample(truth(down), CALM, 0.0, 0.01)
        dry.sample(truth(min(down, 0.0)), CALM, 0.0, 0.01)
        readings.append(sensor.pressure_pa - dry.pressure_pa)
    # Sums of numbers of order 1e5 Pa.
    assert readings == pytest.approx([0.0, 0.0, density * 9.81 * 2.0, density * 9.81 * 12.0], abs=1e-9)


def test_pressure_altitude_includes_the_pressure_error():
    sensor = barometer(**STILL, baro_stdev=0.0, baro_bias_walk_stdev=0.0, origin_altitude=0.0)
    quiet = barometer(**QUIET, origin_altitude=0.0)
    sensor.sample(truth(), CALM, 0.0, 0.01)
    quiet.sample(truth(), CALM, 0.0, 0.01)
    bias = sensor.pressure_pa - quiet.pressure_pa
    assert 0.0 < abs(bias) <= 500.0
    # The gradient rho g changes by 0.5 % over 500 Pa.
    assert sensor.altitude_m == pytest.approx(-bias / (1.225 * 9.80665), rel=0.005)


@pytest.mark.parametrize("rate", [25.0, 100.0])
def test_noise_density_is_independent_of_sample_rate(rate):
    sensor = barometer(**STILL, baro_bias_range=0.0, baro_bias_walk_stdev=0.0)
    readings = []
    for _ in range(5000):
        sensor.sample(truth(), CALM, 0.0, 1.0 / rate)
        readings.append(sensor.pressure_pa)
    # 4 Pa a sample at 100 Hz; 5,000 values: relative standard error 1 %; 4.5 of them.
    assert np.std(readings) == pytest.approx(4.0 * math.sqrt(rate / 100.0), rel=0.045)


def test_reading_stays_positive_with_any_error():
    sensor = barometer(baro_stdev=1e6)
    for _ in range(200):
        sensor.sample(truth(), CALM, 0.0, 0.01)
        assert sensor.pressure_pa > 0.0
        assert math.isfinite(sensor.altitude_m)


def test_adopting_barometer_keeps_bias_and_last_reading():
    first = barometer(1, baro_stdev=0.0, baro_bias_walk_stdev=0.0)
    first.sample(truth(), CALM, 0.0, 0.01)
    heir = barometer(2, baro_stdev=0.0, baro_bias_walk_stdev=0.0)
    heir.adopt(first)
    assert (heir.pressure_pa, heir.altitude_m) == (first.pressure_pa, first.altitude_m)
    heir.sample(truth(), CALM, 0.0, 0.01)
    assert heir.pressure_pa == pytest.approx(first.pressure_pa, abs=1e-9)


# Directions of flight with their place in baro_static_port_error.
@pytest.mark.parametrize(
    ("place", "velocity"),
    list(enumerate([(10, 0, 0), (-10, 0, 0), (0, 10, 0), (0, -10, 0), (0, 0, -10), (0, 0, 10)])),
)
def test_static_port_error_is_a_share_of_the_dynamic_pressure_along_each_axis(place, velocity):
    shares = [0.0] * 6
    shares[place] = -0.1
    sensor = barometer(**{**QUIET, "baro_static_port_error": shares}, origin_altitude=0.0)
    still, moving = truth(), truth()
    moving[7:10] = velocity
    readings = []
    for state, wind in ((still, CALM), (moving, CALM), (still, -np.array(velocity, dtype=float))):
        sensor.sample(state, wind, 0.0, 0.01)
        readings.append(sensor.pressure_pa)
    # 1.225 kg/m^3 is the standard's density to four digits. Wind against the vehicle is as flight.
    assert np.array(readings[1:]) - readings[0] == pytest.approx([-0.1 * 0.5 * 1.225 * 100.0] * 2, rel=1e-4)


def test_pressure_under_waves_is_that_of_linear_theory():
    sensor = barometer(
        **QUIET, origin_altitude=0.0, water_density=1000.0, wave_height=1.0, wave_period=4.0, wave_components=1
    )
    omega, wavenumber, amplitude, phase = sensor.waves.components[0]

    def pressure_at(down, time_s):
        sensor.waves.move_to(truth(down), time_s)
        sensor.sample(truth(down), CALM, 0.0, 0.01)
        return sensor.pressure_pa

    crest, trough = (-phase / omega, (math.pi - phase) / omega)
    calm = pressure_at(-5.0, 0.0) - pressure_at(-5.0, 1.0)
    assert calm == 0.0
    surface = 101325.0
    for down in (0.5, 2.0, 8.0):
        change = 1000.0 * 9.81 * amplitude * math.exp(-wavenumber * down)
        for time_s, sign in ((crest, 1.0), (trough, -1.0)):
            # The air at the surface changes by 12 Pa/m.
            assert pressure_at(down, time_s) == pytest.approx(surface + 9810.0 * down + sign * change, abs=10.0)
    # A crest wets the sensor above the mean surface; a trough leaves one below it dry.
    assert pressure_at(-0.2, crest) == pytest.approx(surface + 9810.0 * (amplitude - 0.2), abs=10.0)
    assert pressure_at(0.2, trough) == pytest.approx(surface, abs=10.0)


def test_propeller_wash_is_proportional_to_the_current_and_absent_under_water():
    dry, wet = (barometer(**{**QUIET, "baro_propeller_wash": -0.3}, water_density=rho) for rho in (0.0, 1000.0))
    differences = []
    for sensor, down in ((dry, 1.0), (wet, 1.0)):
        sensor.sample(truth(down), CALM, 0.0, 0.01)
        idle = sensor.pressure_pa
        sensor.sample(truth(down), CALM, 40.0, 0.01)
        differences.append(sensor.pressure_pa - idle)
    assert differences == pytest.approx([-12.0, 0.0], abs=1e-9)


def test_bias_drifts_as_the_board_warms_up():
    given = {"baro_bias_temperature_range": 0.75, "imu_self_heating": 20.0, "imu_thermal_time_constant": 100.0}
    sensor = barometer(3, **{**QUIET, **given}, origin_altitude=0.0)
    readings = []
    for dt in (1e-6, 100.0, 2000.0):
        sensor.sample(truth(), CALM, 0.0, dt)
        readings.append(sensor.pressure_pa)
    slope = (readings[2] - readings[0]) / 20.0
    assert 0.0 < abs(slope) < 0.75
    # From 15 deg C: 10 K below the temperature without drift.
    assert readings[0] == pytest.approx(101325.0 - 10.0 * slope, abs=1e-4)
    assert readings[1] - readings[0] == pytest.approx(20.0 * (1.0 - math.exp(-1.0)) * slope, abs=1e-4)


def test_temperature_coefficients_are_uniformly_distributed():
    slopes = []
    for seed in range(400):
        sensor = barometer(seed, **{**QUIET, "baro_bias_temperature_range": 0.75}, origin_altitude=0.0)
        sensor.sample(truth(), CALM, 0.0, 1e-6)
        slopes.append((sensor.pressure_pa - 101325.0) / -10.0)
    assert max(map(abs, slopes)) < 0.75
    # Relative standard error of the deviation of 400 uniform numbers: 2.2 %; 4.5 of them.
    assert np.std(slopes) == pytest.approx(0.75 / math.sqrt(3.0), rel=0.1)


def test_readings_are_multiples_of_the_resolution():
    sensor = barometer()
    for down in range(50):
        sensor.sample(truth(float(down)), CALM, 10.0, 0.01)
        steps = sensor.pressure_pa / 0.33
        assert steps == pytest.approx(round(steps), abs=1e-6)


def test_adopting_barometer_keeps_temperature_and_coefficient():
    given = {**QUIET, "baro_bias_temperature_range": 0.75}
    first, heir = barometer(1, **given), barometer(2, **given)
    first.sample(truth(), CALM, 0.0, 500.0)
    heir.adopt(first)
    heir.sample(truth(), CALM, 0.0, 0.01)
    first.sample(truth(), CALM, 0.0, 0.01)
    assert heir.pressure_pa == first.pressure_pa
