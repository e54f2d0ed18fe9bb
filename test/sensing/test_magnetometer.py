"""Magnetometer: the World Magnetic Model, the fixed field, and its errors."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from imu_errors import IDEAL_MAGNETOMETER

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, Magnetometer
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.magnetometer import fixed_field, modelled_gradient, world_magnetic_model

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
    """A sensor whose only error is the walk of the bias."""
    values = SENSOR_PARAMETERS.checked(IDEAL_MAGNETOMETER | {"mag_bias_range": 0.0} | given)
    return Magnetometer(values, np.random.default_rng(seed))


def silent(seed=0, **given):
    """A sensor with no errors but those given."""
    return magnetometer(seed, **({"mag_stdev": 0.0} | given))


def truth(quaternion=(1.0, 0.0, 0.0, 0.0), position=(0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[:3], vector[3:7] = position, quaternion
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


def test_reading_beyond_the_range_saturates():
    sensor = silent(mag_range=4e-5)
    field = sensor.field_ned
    assert sensor.sample(truth(), 0.02) == pytest.approx([field[0], field[1], 4e-5], abs=1e-18)
    assert sensor.sample(truth((0.0, 1.0, 0.0, 0.0)), 0.02)[2] == pytest.approx(-4e-5, abs=1e-18)


def test_readings_are_multiples_of_the_resolution():
    sensor, rng = silent(mag_resolution=1e-7), np.random.default_rng(2)
    for quaternion in rng.standard_normal((200, 4)):
        attitude = truth(quaternion / np.linalg.norm(quaternion))
        reading, exact = sensor.sample(attitude, 0.02).copy(), silent().sample(attitude, 0.02)
        assert reading / 1e-7 == pytest.approx(np.round(reading / 1e-7), abs=1e-6)
        assert np.abs(reading - exact).max() <= 0.5e-7 * (1.0 + 1e-9)


def test_default_range_and_resolution_are_those_of_the_data_sheet():
    values = SENSOR_PARAMETERS.defaults()
    # HMC5883L: 1.3 gauss, 0.92 milligauss per LSB.
    assert values["mag_range"] == pytest.approx(1.3e-4)
    assert values["mag_resolution"] == pytest.approx(0.92e-7, rel=3e-3)


def test_hard_iron_is_a_constant_field_in_body_axes():
    sensor = silent(3, mag_bias_range=1e-5)
    errors = []
    for quaternion in ((1.0, 0.0, 0.0, 0.0), (0.6, 0.8, 0.0, 0.0), (0.0, 0.6, 0.0, 0.8)):
        errors.append(sensor.sample(truth(quaternion), 0.02) - silent().sample(truth(quaternion), 0.02))
    assert errors == pytest.approx(np.broadcast_to(errors[0], (3, 3)), abs=1e-18)
    assert 0.0 < np.abs(errors[0]).max() <= 1e-5


def heading_errors(seed, **given):
    """Heading errors of a level vehicle at 15 A over all headings, deg, without noise."""
    values = SENSOR_PARAMETERS.checked({"mag_stdev": 0.0} | given)
    sensor = Magnetometer(values, np.random.default_rng(seed))
    field = sensor.field_ned
    errors = []
    for heading in np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False):
        seen = sensor.sample(truth((math.cos(heading / 2.0), 0.0, 0.0, math.sin(heading / 2.0))), 0.02, 15.0)
        error = math.atan2(field[1], field[0]) - math.atan2(seen[1], seen[0]) - heading
        errors.append(math.degrees(math.remainder(error, 2.0 * math.pi)))
    return np.array(errors)


def test_default_magnetometer_is_calibrated_to_1_to_3_deg_of_heading():
    worst = [np.abs(heading_errors(seed)).max() for seed in range(200)]
    assert 1.0 < np.median(worst) < 3.0
    assert np.percentile(worst, 95.0) < 3.2


def test_uncalibrated_magnetometer_of_the_file_turns_the_heading_by_tens_of_degrees():
    file = Path(__file__).parents[2] / "config" / "uncalibrated_magnetometer.yaml"
    given = yaml.safe_load(file.read_text(encoding="utf-8"))["/**/sensors"]["ros__parameters"]
    worst = [np.abs(heading_errors(seed, **given)).max() for seed in range(50)]
    assert np.median(worst) > 10.0


def test_soft_iron_is_a_symmetric_matrix_uniform_within_its_range():
    responses = np.array([silent(seed, mag_soft_iron_range=0.03).response for seed in range(400)])
    assert np.array_equal(responses, responses.transpose(0, 2, 1))
    rows, columns = np.triu_indices(3)
    elements = (responses - np.eye(3))[:, rows, columns]
    assert np.abs(elements).max() <= 0.03
    # Relative standard error of the deviation of 2,400 uniform numbers: sqrt(0.2 / 2400) = 0.9 %; 4.5 of them.
    assert elements.std() == pytest.approx(0.03 / math.sqrt(3.0), rel=0.041)
    sensor = silent(7, mag_soft_iron_range=0.03)
    assert sensor.sample(truth(), 0.02) == pytest.approx(sensor.response @ sensor.field_ned, rel=1e-12)


def test_motor_current_adds_its_field_in_body_axes():
    sensor = silent(mag_current_field=[1e-7, -2e-7, 3e-7])
    attitude = truth((0.6, 0.0, 0.8, 0.0))
    calm = sensor.sample(attitude, 0.02).copy()
    assert sensor.sample(attitude, 0.02, 40.0) - calm == pytest.approx([4e-6, -8e-6, 12e-6], abs=1e-18)


def test_fixed_field_has_its_gradient_and_no_trace():
    sensor = silent(magnetic_gradient=[1e-8, 2e-8, 3e-8, 4e-8, 5e-8])
    expected = np.array([[1e-8, 2e-8, 3e-8], [2e-8, 4e-8, 5e-8], [3e-8, 5e-8, -5e-8]])
    for place in np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [3.0, -4.0, 10.0]]):
        change = sensor.sample(truth(position=place), 0.02) - sensor.field_ned
        assert change == pytest.approx(expected @ place, abs=1e-18)


SITES = [(40.2463724, -111.6474138, 1387.0), (-33.9, 151.2, 20.0), (67.3, 179.9, 500.0)]


@pytest.mark.parametrize("site", SITES)
def test_gradient_of_the_model_is_that_of_a_field_in_air(site):
    gradient = modelled_gradient(*site, 2026.0)
    scale = np.abs(gradient).max()
    # The differences over 10 km leave (10 km / 6400 km)^2 of it, 2e-6, and the coefficients' roundings.
    assert gradient == pytest.approx(gradient.T, abs=1e-4 * scale)
    assert abs(np.trace(gradient)) < 1e-4 * scale
    # That of a dipole, 3 B / R, within a factor of 2.
    assert 0.5 < scale / (3.0 * 5e-5 / 6.4e6) < 2.0


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("place", [(20e3, 0.0, 0.0), (0.0, -20e3, 0.0), (14e3, 14e3, -3e3)])
def test_linear_field_follows_the_model_to_20_km(site, place):
    origin = dict(zip(("origin_latitude", "origin_longitude", "origin_altitude"), site, strict=True))
    sensor = silent(magnetic_model="wmm", start_date="2026-01-01", **origin)
    frame = tangent_plane(*site)
    latitude, longitude, height = ned_to_geodetic(frame, *place)
    there = tangent_plane(latitude, longitude, height)
    expected = frame[:3] @ there[:3].T @ world_magnetic_model(latitude, longitude, height, 2026.0)
    reading = sensor.sample(truth(position=place), 0.02)
    assert reading == pytest.approx(expected, abs=2.5e-9)
    # Without the gradient it would be off by tens of nT.
    assert np.abs(expected - sensor.field_ned).max() > 2e-8


def test_adopting_magnetometer_keeps_its_drawn_errors():
    first, heir = (silent(seed, mag_bias_range=1e-5, mag_soft_iron_range=0.03) for seed in (1, 2))
    heir.adopt(first)
    assert np.array_equal(heir.sample(truth(), 0.02), first.sample(truth(), 0.02))


def test_true_errors_explain_the_reading():
    sensor = magnetometer(4, mag_bias_range=1e-5, mag_soft_iron_range=0.03)
    reading = sensor.sample(truth(), 0.02)
    errors = list(sensor.true_errors().values())
    assert reading == pytest.approx(np.reshape(errors[3:], (3, 3)) @ sensor.field_ned + errors[:3], rel=1e-12)
