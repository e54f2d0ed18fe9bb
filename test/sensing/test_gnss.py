"""GNSS receiver: geodesy, velocity, the wandering error, and the loss of the fix."""

import math

import numpy as np
import pymap3d
import pytest

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, GnssReceiver

NO_NOISE = {"horizontal_gnss_noise_density": 0.0, "vertical_gnss_noise_density": 0.0}
NO_WALK = {"horizontal_gnss_stdev": 0.0, "vertical_gnss_stdev": 0.0}
QUIET = {**NO_NOISE, **NO_WALK, "gnss_velocity_stdev": 0.0}


def receiver(seed=0, **given):
    return GnssReceiver(SENSOR_PARAMETERS.checked(given), np.random.default_rng(seed))


def truth(position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0), velocity_body=(0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[0:3], vector[3:7], vector[7:10] = position, quaternion, velocity_body
    return vector


def local(sensor, values):
    """The report converted to local NED (m)."""
    origin = (values["origin_latitude"], values["origin_longitude"], values["origin_altitude"])
    return pymap3d.geodetic2ned(sensor.latitude_deg, sensor.longitude_deg, sensor.altitude_msl_m, *origin)


def test_origin_maps_to_configured_geodetic_origin():
    sensor = receiver(**QUIET)
    sensor.sample(truth(), 0.1)
    assert sensor.latitude_deg == pytest.approx(40.2463724, abs=1e-12)
    assert sensor.longitude_deg == pytest.approx(-111.6474138, abs=1e-12)
    assert sensor.altitude_msl_m == pytest.approx(1387.0, abs=1e-6)


@pytest.mark.parametrize("position", [(10.0, 0.0, -5.0), (-300.0, 800.0, -120.0), (20000.0, -15000.0, -1000.0)])
@pytest.mark.parametrize("latitude", [-75.0, 0.0, 40.2463724])
def test_position_round_trips_through_geodetic_coordinates(position, latitude):
    values = SENSOR_PARAMETERS.checked({**QUIET, "origin_latitude": latitude})
    sensor = GnssReceiver(values, np.random.default_rng(0))
    sensor.sample(truth(position), 0.1)
    # 1e-9 deg of rounding are 0.1 mm.
    assert local(sensor, values) == pytest.approx(position, abs=1e-4)


def test_degrees_follow_the_radii_of_curvature_of_the_ellipsoid():
    sensor = receiver(**QUIET, origin_altitude=0.0)
    sensor.sample(truth((30.0, 40.0, 0.0)), 0.1)
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
    sensor.sample(truth((0, 0, 0), (math.cos(half), 0, 0, math.sin(half)), (10.0, 2.0, 1.0)), 0.1)
    assert sensor.velocity_ned == pytest.approx([-2.0, 10.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("dt", [0.1, 1.0])
def test_position_error_has_reported_accuracy_at_any_rate(dt):
    values = SENSOR_PARAMETERS.checked(NO_NOISE)
    errors = []
    for seed in range(400):
        sensor = GnssReceiver(values, np.random.default_rng(seed))
        sensor.sample(truth(), dt)
        errors.append(local(sensor, values))
    # ROSflight's driving noise at 10 Hz over its time constant: 0.21 / sqrt(10) * sqrt(1100 / 2) = 1.56 m; smoothing
    # over 4 s leaves 0.998 of it.
    assert sensor.horizontal_accuracy == pytest.approx(1.554, abs=0.001)
    assert sensor.vertical_accuracy == pytest.approx(2.961, abs=0.001)
    expected = [sensor.horizontal_accuracy] * 2 + [sensor.vertical_accuracy]
    # 400 receivers: relative standard error of a deviation 3.5 %; 4.5 of them.
    assert np.std(errors, axis=0) == pytest.approx(expected, rel=0.16)


def test_position_error_drifts_slowly():
    values = SENSOR_PARAMETERS.checked({**NO_NOISE, "gnss_smoothing_time": 0.0})
    sensor = GnssReceiver(values, np.random.default_rng(4))
    errors = []
    for _ in range(600):
        sensor.sample(truth(), 0.1)
        errors.append(local(sensor, values))
    # A step has the deviation K sqrt(dt) = 0.021 m (0.04 m down). 600 steps: relative error 2.9 %; 4.5 of them.
    assert np.diff(errors, axis=0).std(axis=0) == pytest.approx([0.021, 0.021, 0.04], rel=0.13)


@pytest.mark.parametrize("dt", [0.1, 0.4])
def test_velocity_noise_has_reported_accuracy(dt):
    sensor = receiver(**NO_WALK)
    velocities = []
    for _ in range(1000):
        sensor.sample(truth(), dt)
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
    seeing.sample(truth((100.0, 0.0, -10.0), velocity_body=(5.0, 0.0, 0.0)), 0.1)
    blind = receiver(**QUIET, gnss_num_satellites=0)
    blind.adopt(seeing)
    blind.sample(truth((200.0, 0.0, -20.0), velocity_body=(9.0, 0.0, 0.0)), 0.1)
    assert blind.fix_type == 0
    assert (blind.latitude_deg, blind.altitude_msl_m) == (seeing.latitude_deg, seeing.altitude_msl_m)
    assert blind.velocity_ned == pytest.approx([5.0, 0.0, 0.0], abs=1e-12)
    again = receiver(**QUIET)
    again.adopt(blind)
    again.sample(truth((200.0, 0.0, -20.0)), 0.1)
    assert again.latitude_deg > seeing.latitude_deg


def test_two_dimensional_fix_holds_only_altitude():
    sensor = receiver(**QUIET, gnss_num_satellites=3)
    sensor.sample(truth((100.0, 0.0, -10.0)), 0.1)
    assert sensor.altitude_msl_m == 1387.0
    assert sensor.latitude_deg > 40.2463724


def flight(sensor, values, seconds, dt=0.1):
    """Position and velocity errors (n, 3) and fix types (n) of a receiver at rest."""
    positions, velocities, fixes = [], [], []
    for _ in range(round(seconds / dt)):
        sensor.sample(truth(), dt)
        positions.append(local(sensor, values))
        velocities.append(sensor.velocity_ned.copy())
        fixes.append(sensor.fix_type)
    return np.array(positions), np.array(velocities), np.array(fixes)


def test_integrated_velocity_error_is_the_change_of_the_position_error():
    values = SENSOR_PARAMETERS.checked({**NO_NOISE, "gnss_velocity_stdev": 0.0})
    positions, velocities, _ = flight(GnssReceiver(values, np.random.default_rng(2)), values, 200.0)
    # Rounding of geodetic coordinates.
    assert 0.1 * np.cumsum(velocities[1:], axis=0) == pytest.approx(positions[1:] - positions[0], abs=1e-6)


def test_half_of_the_velocity_errors_are_below_the_accuracy_of_the_data_sheet():
    values = SENSOR_PARAMETERS.checked({})
    speeds, reported = [], []
    for seed in range(60):
        sensor = GnssReceiver(values, np.random.default_rng(seed))
        _, velocities, _ = flight(sensor, values, 100.0)
        speeds.append(np.linalg.norm(velocities[200::40], axis=1))
        reported.append(np.sqrt(np.mean(velocities[200::40] ** 2)))
    # u-blox NEO-M8: 0.05 m/s. 60 x 20 values, 4 s apart: the median's standard error is 2 %.
    assert np.median(speeds) == pytest.approx(0.05, rel=0.1)
    assert np.sqrt(np.mean(np.square(reported))) == pytest.approx(sensor.speed_accuracy, rel=0.06)


def test_white_noise_on_the_position_has_its_density():
    values = SENSOR_PARAMETERS.checked(
        {**NO_WALK, "horizontal_gnss_noise_density": 0.2, "vertical_gnss_noise_density": 0.4}
    )
    for dt in (0.1, 0.4):
        positions, _, _ = flight(GnssReceiver(values, np.random.default_rng(1)), values, 1000.0 * dt, dt)
        # 1,000 values: relative standard error 2.2 %; 4.5 of them.
        assert positions.std(axis=0) == pytest.approx(np.array([0.2, 0.2, 0.4]) / math.sqrt(dt), rel=0.1)


def test_default_horizontal_errors_are_within_the_data_sheet():
    values = SENSOR_PARAMETERS.checked({})
    errors = []
    for seed in range(800):
        sensor = GnssReceiver(values, np.random.default_rng(seed))
        sensor.sample(truth(), 0.1)
        errors.append(math.hypot(*local(sensor, values)[0:2]))
    # Median of a Rayleigh distribution, 1.177 times the deviation of an axis; 800 values: standard error 3 %.
    assert np.median(errors) == pytest.approx(1.177 * sensor.horizontal_accuracy, rel=0.13)
    assert np.median(errors) < 2.5


def lengths(flags):
    """Lengths of the runs of true values that begin and end within the array."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return np.diff(edges)[::2][1:-1]


def test_outages_have_their_mean_interval_and_duration():
    values = SENSOR_PARAMETERS.checked({**QUIET, "gnss_outage_interval": 20.0, "gnss_outage_duration": 5.0})
    sensor = GnssReceiver(values, np.random.default_rng(5))
    _, _, fixes = flight(sensor, values, 10_000.0, 0.2)
    outages, between = 0.2 * lengths(fixes == 0), 0.2 * lengths(fixes == 3)
    # About 400 of each: the standard error of an exponential distribution's mean is 5 %; 4 of them, and half a sample.
    assert len(outages) > 300
    assert outages.mean() == pytest.approx(5.0 + 0.1, rel=0.2)
    assert between.mean() == pytest.approx(20.0 + 0.1, rel=0.2)
    assert outages.std() == pytest.approx(outages.mean(), rel=0.3)


def test_outage_holds_the_last_report_and_shows_no_satellites():
    values = SENSOR_PARAMETERS.checked({**QUIET, "gnss_outage_interval": 1e-3, "gnss_outage_duration": 1e6})
    sensor = GnssReceiver(values, np.random.default_rng(0))
    sensor.sample(truth((100.0, 0.0, -10.0)), 0.1)
    assert (sensor.fix_type, sensor.num_satellites) == (0, 0)
    assert sensor.latitude_deg == values["origin_latitude"]


def test_multipath_shifts_the_position_in_bursts_and_not_the_velocity():
    given = {"gnss_multipath_interval": 60.0, "gnss_multipath_duration": 30.0, "gnss_multipath_stdev": 5.0}
    values = SENSOR_PARAMETERS.checked({**QUIET, **given, "gnss_smoothing_time": 0.0})
    sensor = GnssReceiver(values, np.random.default_rng(6))
    positions, velocities, _ = flight(sensor, values, 30_000.0, 0.5)
    assert np.abs(velocities).max() == 0.0
    shifted = np.linalg.norm(positions, axis=1) > 1e-3
    bursts = 0.5 * lengths(shifted)
    # About 330 bursts: relative standard error of their mean 5.5 %; 4 of them.
    assert bursts.mean() == pytest.approx(30.0, rel=0.22)
    assert shifted.mean() == pytest.approx(1.0 / 3.0, abs=0.06)
    begins = np.flatnonzero(np.diff(shifted.astype(int)) == 1) + 1
    offsets = positions[begins]
    # About 330 offsets of three axes: relative standard error 2.2 %; 4.5 of them.
    assert offsets.std() == pytest.approx(5.0, rel=0.1)
    ends = np.flatnonzero(np.diff(shifted.astype(int)) == -1)
    first = int(ends[0] < begins[0])
    kept = ends[first : first + 100] - begins[:100]
    assert kept.min() >= 0
    # The offset stays the same to the end of the burst.
    assert positions[begins[:100] + kept] == pytest.approx(offsets[:100], abs=1e-6)


def test_receivers_filter_smooths_the_beginning_of_a_burst():
    given = {"gnss_multipath_interval": 1e-3, "gnss_multipath_duration": 1e6, "gnss_smoothing_time": 4.0}
    values = SENSOR_PARAMETERS.checked({**QUIET, **given})
    positions, _, _ = flight(GnssReceiver(values, np.random.default_rng(7)), values, 60.0)
    times = 0.1 * np.arange(1, len(positions) + 1)
    expected = np.outer(1.0 - np.exp(-times / 4.0), positions[-1])
    assert positions == pytest.approx(expected, abs=1e-4)


def test_antenna_moves_with_the_body():
    sensor = receiver(**QUIET, gnss_antenna_position=[0.5, 0.0, -0.2])
    half = math.radians(45.0)
    state = truth((10.0, 20.0, -5.0), (math.cos(half), 0, 0, math.sin(half)), (3.0, 0.0, 0.0))
    state[10:13] = (0.0, 0.0, 2.0)
    sensor.sample(state, 0.1)
    values = SENSOR_PARAMETERS.checked({})
    assert local(sensor, values) == pytest.approx([10.0, 20.5, -5.2], abs=1e-4)
    # Heading east at 3 m/s and turning right at 2 rad/s: the antenna ahead moves south at 1 m/s.
    assert sensor.velocity_ned == pytest.approx([-1.0, 3.0, 0.0], abs=1e-12)
