"""Magnetometer: the World Magnetic Model, the fixed field, and its errors."""

import math

import numpy as np
import pytest

from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Magnetometer
from rosflight_py_sim.sensing.magnetometer import fixed_field, world_magnetic_model

# NOAA NCEI, WMM2025_TestValues: year, height (km), latitude, longitude (deg), north, east, down (nT).
PUBLISHED = [
    (2025.0, 0.0, 80.0, 0.0, 6521.6, 145.9, 54791.5),
    (2025.0, 0.0, 0.0, 120.0, 39677.8, -109.6, -10580.2),
    (2025.0, 0.0, -80.0, 240.0, 6117.5, 15751.9, -52022.5),
    (2025.0, 100.0, 80.0, 0.0, 6216.0, 92.4, 52598.8),
    (2025.0, 100.0, 0.0, 120.0, 37688.6, -96.2, -10152.1),
    (2027.5, 0.0, 80.0, 0.0, 6500.8, 294.5, 54869.4),
    (2027.5, 0.0, 0.0, 120.0, 39701.6, -167.4, -10381.8),
    (2027.5, 100.0, -80.0, 240.0, 5984.0, 14760.1, -49317.7),
]


def magnetometer(seed=0, **given):
    return Magnetometer(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def truth(quaternion=(1.0, 0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[3:7] = quaternion
    return vector


@pytest.mark.parametrize("row", PUBLISHED)
def test_world_magnetic_model_matches_published_test_values(row):
    year, height, latitude, longitude, *field = row
    # Published to 0.1 nT: half of that, and rounding where a value lies on the edge.
    computed = world_magnetic_model(latitude, longitude, height * 1000.0, year) * 1e9
    assert computed == pytest.approx(field, abs=0.051)


def test_fixed_field_follows_inclination_and_declination():
    field = fixed_field(math.radians(60.0), math.radians(90.0), 50e-6)
    assert field == pytest.approx([0.0, 25e-6, 50e-6 * math.sin(math.radians(60.0))], abs=1e-18)


def test_default_fixed_field_is_the_field_at_the_default_origin():
    fixed, modelled = magnetometer().field_ned, magnetometer(magnetic_model="wmm").field_ned
    angle = math.acos(fixed @ modelled / np.linalg.norm(fixed) / np.linalg.norm(modelled))
    # ROSflight's numbers are of about 2024: the field there turns and weakens by less than this in two years.
    assert math.degrees(angle) < 0.5
    assert np.linalg.norm(modelled) == pytest.approx(np.linalg.norm(fixed), rel=0.01)


def test_moving_the_origin_changes_the_modelled_field_but_not_the_fixed_one():
    southern = {"origin_latitude": -33.9, "origin_longitude": 151.2}
    assert magnetometer(magnetic_model="wmm", **southern).field_ned[2] < 0.0
    assert np.array_equal(magnetometer(**southern).field_ned, magnetometer().field_ned)


@pytest.mark.parametrize("date", ["2024-11-30T00:00:00Z", "2030-02-01"])
def test_date_outside_model_validity_is_rejected(date):
    with pytest.raises(ParameterError, match=r"start_date.*20(24|30).*2025.0 to 2030.0"):
        magnetometer(magnetic_model="wmm", start_date=date)


def test_sensor_heading_east_measures_north_on_its_left():
    field = magnetometer().field_ned
    half = math.radians(45.0)
    reading = magnetometer(mag_stdev=0.0).sample(truth((math.cos(half), 0.0, 0.0, math.sin(half))), 0.02)
    assert reading == pytest.approx([field[1], -field[0], field[2]], abs=1e-18)


@pytest.mark.parametrize("rate", [10.0, 50.0, 400.0])
def test_default_error_has_its_stationary_deviation_at_any_rate(rate):
    sensor = magnetometer()
    errors = np.array([sensor.sample(truth(), 1.0 / rate) - sensor.field_ned for _ in range(round(100.0 * rate))])
    # K / sqrt(2 k), K = 3e-6 / sqrt(50); 100 s x 3 axes x k = 2,100 independent values: 1.5 %; 5 of them.
    expected = 3e-6 / math.sqrt(50.0) / math.sqrt(2.0 * 7.0)
    assert math.sqrt(np.mean(errors**2)) == pytest.approx(expected, rel=0.077)


def test_white_noise_has_configured_density():
    sensor = magnetometer(mag_stdev=0.0, mag_noise_density=1e-8)
    errors = np.array([sensor.sample(truth(), 0.01) - sensor.field_ned for _ in range(5000)])
    # 15,000 values: relative standard error 0.58 %; 4.5 of them.
    assert errors.std() == pytest.approx(1e-8 / math.sqrt(0.01), rel=0.026)
