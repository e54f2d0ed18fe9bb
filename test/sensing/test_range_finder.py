"""Range finder: tilt over flat ground, and out of range by REP 117."""

import math
import re

import numpy as np
import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, RangeFinder
from rosflight_py_sim.sensing.sensor import Sensor

QUIET = {"range_stdev": 0.0, "range_field_of_view": 0.0, "range_signal_noise": 0.0, "range_resolution": 0.0}


def range_finder(seed=0, **given):
    return RangeFinder(SENSOR_PARAMETERS.checked({**QUIET, **given}), np.random.default_rng(seed))


def truth(height, roll=0.0):
    vector = np.zeros(19)
    vector[2] = -height
    vector[3], vector[4] = math.cos(0.5 * roll), math.sin(0.5 * roll)
    return vector


@pytest.mark.parametrize("roll_deg", [0.0, 20.0, -45.0, 60.0])
def test_tilted_beam_is_longer_by_one_over_cosine(roll_deg):
    reading = range_finder().sample(truth(3.0, math.radians(roll_deg)), 0.05)
    assert reading == pytest.approx(3.0 / math.cos(math.radians(roll_deg)), rel=1e-12)


def test_range_beyond_maximum_reads_plus_infinity():
    assert range_finder().sample(truth(8.001), 0.05) == math.inf
    assert range_finder().sample(truth(7.999), 0.05) == pytest.approx(7.999, rel=1e-12)


def test_range_below_minimum_reads_minus_infinity():
    assert range_finder().sample(truth(0.249), 0.05) == -math.inf
    assert range_finder().sample(truth(-0.01), 0.05) == -math.inf
    assert range_finder().sample(truth(0.251), 0.05) == pytest.approx(0.251, rel=1e-12)


def test_distance_is_to_the_ground_at_its_altitude():
    sensor = range_finder(ground_altitude=100.0)
    assert sensor.sample(truth(105.0, math.radians(20.0)), 0.05) == pytest.approx(
        5.0 / math.cos(math.radians(20.0)), rel=1e-12
    )


@pytest.mark.parametrize("roll_deg", [68.1, 90.0, 135.0, 180.0])
def test_beam_missing_the_ground_or_hitting_it_too_far_away_reads_plus_infinity(roll_deg):
    assert range_finder().sample(truth(3.0, math.radians(roll_deg)), 0.05) == math.inf


def test_reading_is_in_range_or_infinite_with_any_noise():
    sensor = range_finder(range_stdev=3.0)
    readings = [sensor.sample(truth(4.0), 0.05) for _ in range(2000)]
    assert {r for r in readings if math.isinf(r)} == {math.inf, -math.inf}
    assert all(0.25 <= r <= 8.0 for r in readings if not math.isinf(r))


@pytest.mark.parametrize("rate", [5.0, 20.0])
def test_noise_density_is_independent_of_sample_rate(rate):
    sensor = range_finder(range_stdev=0.03)
    readings = [sensor.sample(truth(4.0), 1.0 / rate) for _ in range(5000)]
    # 5,000 values: relative standard error 1 %; 4.5 of them.
    assert np.std(readings) == pytest.approx(0.03 * math.sqrt(rate / 20.0), rel=0.045)


def test_minimum_above_maximum_is_rejected():
    with pytest.raises(ParameterError, match=r"range_min_range.*9 given.*range_max_range, which is 8 m"):
        range_finder(range_min_range=9.0)


@pytest.mark.parametrize("roll_deg", [0.0, 2.0, 5.0, 20.0, -45.0])
@pytest.mark.parametrize("yaw_deg", [0.0, 77.0])
def test_wide_beam_reads_the_nearest_ground_in_its_cone(roll_deg, yaw_deg):
    roll, half_yaw = math.radians(roll_deg), math.radians(0.5 * yaw_deg)
    state = truth(3.0)
    c, s = math.cos(0.5 * roll), math.sin(0.5 * roll)
    state[3:7] = (
        math.cos(half_yaw) * c,
        math.cos(half_yaw) * s,
        math.sin(half_yaw) * s,
        math.sin(half_yaw) * c,
    )
    reading = range_finder(range_field_of_view=math.radians(10.0)).sample(state, 0.05)
    angle = max(0.0, abs(roll) - math.radians(5.0))
    assert reading == pytest.approx(3.0 / math.cos(angle), rel=1e-12)


def test_wide_beam_sees_an_object_beside_the_axis():
    # A box, 0.1 m high, stands on a platform, 0.3 m north of the axis.
    narrow, wide = (range_finder(world="pool", range_field_of_view=width) for width in (0.0, 0.42))
    state = truth(-2.0)
    state[0:2] = (-5.3, 4.5)
    assert narrow.sample(state, 0.05) == pytest.approx(1.5, rel=1e-12)
    assert wide.sample(state, 0.05) == pytest.approx(1.4 / math.cos(0.21), rel=1e-12)


def test_range_falls_with_the_square_root_of_the_reflectivity():
    dark = range_finder(range_reflectivity=0.1)
    # The TF-Luna reaches 8 m at 0.9 and 2.5 m at 0.1.
    assert dark.sample(truth(2.6), 0.05) == pytest.approx(2.6, rel=1e-12)
    assert dark.sample(truth(2.7), 0.05) == math.inf


@pytest.mark.parametrize("share", [0.8, 0.9, 0.95, 0.99])
def test_drop_outs_near_the_longest_distance_have_the_probability_of_the_detector(share):
    sensor = range_finder(range_signal_noise=0.2)
    seen = [math.isfinite(sensor.sample(truth(8.0 * share), 0.05)) for _ in range(4000)]
    detected = 0.5 * math.erfc(-(share**-2 - 1.0) / 0.2 / math.sqrt(2.0))
    # Standard error of a share of 4,000: at most 0.8 %; 4.5 of them.
    assert np.mean(seen) == pytest.approx(detected, abs=4.5 * math.sqrt(detected * (1.0 - detected) / 4000.0) + 1e-3)


def test_no_drop_outs_close_to_the_ground():
    sensor = range_finder(range_signal_noise=SENSOR_PARAMETERS["range_signal_noise"].default)
    assert all(math.isfinite(sensor.sample(truth(4.0), 0.05)) for _ in range(2000))


def over_water(roll_deg, height=2.0, **given):
    return range_finder(world="pool", **given).sample(truth(height, math.radians(roll_deg)), 0.05)


def test_water_reflects_only_near_the_vertical():
    assert over_water(0.0) == pytest.approx(2.0, rel=1e-12)
    assert over_water(20.0) == math.inf
    assert over_water(20.0, range_water_slope=0.0) == pytest.approx(2.0 / math.cos(math.radians(20.0)), rel=1e-12)
    # Rough water reflects at larger angles, calm water farther up.
    assert over_water(20.0, 1.0) == math.inf
    assert math.isfinite(over_water(20.0, 1.0, range_water_slope=0.1))
    assert over_water(0.0, 7.0) == math.inf
    assert math.isfinite(over_water(0.0, 7.0, range_water_slope=0.005))


def test_readings_are_multiples_of_the_resolution():
    sensor = range_finder(range_resolution=0.01)
    for height in np.linspace(0.3, 7.0, 60):
        reading = sensor.sample(truth(height), 0.05)
        assert reading == pytest.approx(height, abs=0.005 + 1e-9)
        assert reading * 100.0 == pytest.approx(round(reading * 100.0), abs=1e-9)


def test_beam_looks_in_its_direction_from_its_position():
    # 0.5 m ahead of the centre of mass and 0.2 m below it, 30 deg below the horizon, whatever the vector's length.
    down = math.radians(30.0)
    mount = {"range_position": [0.5, 0.0, 0.2], "range_direction": [5.0 * math.cos(down), 0.0, 5.0 * math.sin(down)]}
    sensor = range_finder(**mount)
    assert sensor.sample(truth(3.0), 0.05) == pytest.approx((3.0 - 0.2) / math.sin(down), rel=1e-12)
    # Rolled by 90 deg, the beam is level; pitched by 30 deg down, it is 60 deg below the horizon.
    assert sensor.sample(truth(3.0, math.radians(90.0)), 0.05) == math.inf
    pitched = np.zeros(19)
    pitched[2], pitched[3], pitched[5] = -3.0, math.cos(0.5 * down), -math.sin(0.5 * down)
    height = 3.0 - (0.5 * math.sin(down) + 0.2 * math.cos(down))
    assert sensor.sample(pitched, 0.05) == pytest.approx(height / math.sin(2.0 * down), rel=1e-12)


def test_direction_of_length_0_is_refused():
    with pytest.raises(ParameterError, match=r"'range_direction': \[0, 0, 0\] given; allowed: a vector that is not 0"):
        range_finder(range_direction=[0.0, 0.0, 0.0])


def sensors_with(*names, **given):
    given = {"further_sensors": list(names), **given}
    return ModelledSensors(ModelledSensors.table_for(given).checked(given))


def test_vehicle_has_the_further_range_finders_that_it_names():
    assert not [one.sensor for one in sensors_with().ports(Sensor) if one.optional]
    sensors = sensors_with("rng_2", "rng_5", rng_2_max_range=50.0)
    assert [one.sensor for one in sensors.ports(Sensor) if one.optional] == ["rng_2", "rng_5"]
    assert sensors.models["rng_2"].max_range == 50.0
    assert sensors.models["rng_5"].max_range == 8.0
    assert "rng_2_latency" in sensors.values
    assert "rng_3_latency" not in sensors.values


def test_range_finders_have_random_numbers_of_their_own():
    sensors = sensors_with("rng_2", "rng_3", rng_2_bias_range=1.0, rng_3_bias_range=1.0, range_bias_range=1.0, seed=4)
    first, second, third = (sensors.true_errors()[f"{name}_bias"] for name in ("range", "rng_2", "rng_3"))
    assert len({first, second, third}) == 3
    alone = sensors_with("rng_3", rng_3_bias_range=1.0, seed=4)
    assert alone.true_errors()["rng_3_bias"] == third


@pytest.mark.parametrize("names", [["rng_7"], ["rng_2", "rng_2"]])
def test_unknown_or_repeated_range_finders_are_refused(names):
    text = "allowed: rng_2, rng_3, rng_4, rng_5, rng_6, each once"
    with pytest.raises(ParameterError, match=rf"'further_sensors': {re.escape(str(names))} given; {text}"):
        sensors_with(*names)


def test_failure_of_a_range_finder_that_the_vehicle_lacks_is_refused():
    assert sensors_with("rng_2", failures=["rng_2 stuck at 1"]).has_failures
    with pytest.raises(
        ParameterError, match=r"failure 'rng_3 off': rng_3 given; allowed for this vehicle's sensors: gyro"
    ):
        sensors_with("rng_2", failures=["rng_3 off"])
