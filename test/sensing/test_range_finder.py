"""Range finder: tilt over flat ground, and out of range by REP 117."""

import math

import numpy as np
import pytest

from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, RangeFinder


def range_finder(seed=0, **given):
    return RangeFinder(SENSOR_PARAMETERS.checked({"range_stdev": 0.0, **given}), np.random.default_rng(seed))


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
