"""GNSS receiver: geodesy, velocity, the wandering error, and the loss of the fix."""

import math

import numpy as np
import pymap3d
import pytest

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, GnssReceiver

QUIET = {"horizontal_gnss_stdev": 0.0, "vertical_gnss_stdev": 0.0, "gnss_velocity_stdev": 0.0}
TIME_NS = 1_700_000_000_123_456_789


def receiver(seed=0, **given):
    return GnssReceiver(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def truth(position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0), velocity_body=(0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[0:3], vector[3:7], vector[7:10] = position, quaternion, velocity_body
    return vector


def local(sensor, values):
    """The report back in local NED (m)."""
    origin = (values["origin_latitude"], values["origin_longitude"], values["origin_altitude"])
    return pymap3d.geodetic2ned(sensor.latitude_deg, sensor.longitude_deg, sensor.altitude_msl_m, *origin)


def test_origin_maps_to_configured_geodetic_origin():
    sensor = receiver(**QUIET)
    sensor.sample(truth(), TIME_NS, 0.1)
    assert sensor.latitude_deg == pytest.approx(40.2463724, abs=1e-12)
    assert sensor.longitude_deg == pytest.approx(-111.6474138, abs=1e-12)
    assert sensor.altitude_msl_m == pytest.approx(1387.0, abs=1e-6)


@pytest.mark.parametrize("position", [(10.0, 0.0, -5.0), (-300.0, 800.0, -120.0), (20000.0, -15000.0, -1000.0)])
@pytest.mark.parametrize("latitude", [-75.0, 0.0, 40.2463724])
def test_position_round_trips_through_geodetic_coordinates(position, latitude):
    values = SENSOR_PARAMETERS.checked({**QUIET, "origin_latitude": latitude})
    sensor = GnssReceiver(values, np.random.default_rng(0))
    sensor.sample(truth(position), TIME_NS, 0.1)
    # 1e-9 deg of rounding are 0.1 mm.
    assert local(sensor, values) == pytest.approx(position, abs=1e-4)


def test_degrees_follow_the_radii_of_curvature_of_the_ellipsoid():
    sensor = receiver(**QUIET, origin_altitude=0.0)
    sensor.sample(truth((30.0, 40.0, 0.0)), TIME_NS, 0.1)
    latitude = math.radians(40.2463724)
    squeeze = 1.0 - 0.00669437999014 * math.sin(latitude) ** 2
    meridian = 6378137.0 * (1.0 - 0.00669437999014) / squeeze**1.5
    prime_vertical = 6378137.0 / math.sqrt(squeeze)
    north = math.radians(sensor.latitude_deg - 40.2463724) * meridian
    east = math.radians(sensor.longitude_deg + 111.6474138) * prime_vertical * math.cos(latitude)
    # The meridians converge: terms of second order are d^2 / R = 0.4 mm.
    assert (north, east) == pytest.approx((30.0, 40.0), abs=5e-4)


def test_velocity_is_rotated_into_ned():
    half = math.radians(45.0)
    sensor = receiver(**QUIET)
    sensor.sample(truth((0, 0, 0), (math.cos(half), 0, 0, math.sin(half)), (10.0, 2.0, 1.0)), TIME_NS, 0.1)
    assert sensor.velocity_ned == pytest.approx([-2.0, 10.0, 1.0], abs=1e-12)


def test_time_is_split_into_seconds_and_nanoseconds():
    sensor = receiver()
    sensor.sample(truth(), TIME_NS, 0.1)
    assert (sensor.unix_seconds, sensor.unix_nanoseconds) == (1_700_000_000, 123_456_789)


@pytest.mark.parametrize("dt", [0.1, 1.0])
def test_position_error_has_reported_accuracy_at_any_rate(dt):
    values = SENSOR_PARAMETERS.checked({})
    errors = []
    for seed in range(400):
        sensor = GnssReceiver(values, np.random.default_rng(seed))
        sensor.sample(truth(), TIME_NS, dt)
        errors.append(local(sensor, values))
    # ROSflight's driving noise at 10 Hz over its time constant: 0.21 / sqrt(10) * sqrt(1100 / 2) = 1.56 m.
    assert sensor.horizontal_accuracy == pytest.approx(1.557, abs=0.001)
    assert sensor.vertical_accuracy == pytest.approx(2.966, abs=0.001)
    expected = [sensor.horizontal_accuracy] * 2 + [sensor.vertical_accuracy]
    # 400 receivers: relative standard error of a deviation 3.5 %; 4.5 of them.
    assert np.std(errors, axis=0) == pytest.approx(expected, rel=0.16)


def test_position_error_drifts_slowly():
    values = SENSOR_PARAMETERS.checked({})
    sensor = GnssReceiver(values, np.random.default_rng(4))
    errors = []
    for _ in range(600):
        sensor.sample(truth(), TIME_NS, 0.1)
        errors.append(local(sensor, values))
    # A step has the deviation K sqrt(dt) = 0.021 m (0.04 m down). 600 steps: relative error 2.9 %; 4.5 of them.
    assert np.diff(errors, axis=0).std(axis=0) == pytest.approx([0.021, 0.021, 0.04], rel=0.13)


@pytest.mark.parametrize("dt", [0.1, 0.4])
def test_velocity_noise_has_reported_accuracy(dt):
    sensor = receiver()
    velocities = []
    for _ in range(1000):
        sensor.sample(truth(), TIME_NS, dt)
        velocities.append(sensor.velocity_ned.copy())
    assert sensor.speed_accuracy == pytest.approx(0.01 * math.sqrt(0.1 / dt), rel=1e-12)
    # 3,000 values: relative standard error 1.3 %; 4.5 of them.
    assert np.std(velocities) == pytest.approx(sensor.speed_accuracy, rel=0.06)


@pytest.mark.parametrize(("satellites", "fix"), [(15, 3), (4, 3), (3, 2), (2, 0), (0, 0)])
def test_fix_type_depends_on_number_of_satellites(satellites, fix):
    sensor = receiver(gnss_num_satellites=satellites)
    assert (sensor.fix_type, sensor.num_satellites) == (fix, satellites)


def test_lost_fix_holds_last_report_and_regained_fix_continues():
    seeing = receiver(**QUIET)
    seeing.sample(truth((100.0, 0.0, -10.0), velocity_body=(5.0, 0.0, 0.0)), TIME_NS, 0.1)
    blind = receiver(**QUIET, gnss_num_satellites=0)
    blind.adopt(seeing)
    blind.sample(truth((200.0, 0.0, -20.0), velocity_body=(9.0, 0.0, 0.0)), TIME_NS + 10**8, 0.1)
    assert blind.fix_type == 0
    assert (blind.latitude_deg, blind.altitude_msl_m) == (seeing.latitude_deg, seeing.altitude_msl_m)
    assert blind.velocity_ned == pytest.approx([5.0, 0.0, 0.0], abs=1e-12)
    again = receiver(**QUIET)
    again.adopt(blind)
    again.sample(truth((200.0, 0.0, -20.0)), TIME_NS + 2 * 10**8, 0.1)
    assert again.latitude_deg > seeing.latitude_deg


def test_two_dimensional_fix_holds_only_altitude():
    sensor = receiver(**QUIET, gnss_num_satellites=3)
    sensor.sample(truth((100.0, 0.0, -10.0)), TIME_NS, 0.1)
    assert sensor.altitude_msl_m == 1387.0
    assert sensor.latitude_deg > 40.2463724
