"""Noise of an IMU at rest and parameters of a battery: those of simulated vehicles whose values are known."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from proof.identification import log_of_messages, messages_at_rest, twin
from rosflight_py_sim.commands.identify import subject_of
from rosflight_py_sim.identification.allan_variance import allan_variance, noise_of, walk_variance
from rosflight_py_sim.identification.battery_fit import BATTERY_NAMES, battery_fit
from rosflight_py_sim.identification.flight_log import FlightLog, FlightLogError, Series
from rosflight_py_sim.identification.rest_noise import REST_NAMES, rest_noise
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(900)

# Larger bias walks than the default ones, which take an hour to show.
TRUE = {
    "gyro_noise_density": 2e-4,
    "gyro_bias_walk_density": 0.002,
    "k_gyro": 5.0,
    "acc_noise_density": 2e-3,
    "acc_bias_walk_density": 2e-3,
}

# An IMU that has warmed up.
WARM = {"gyro_bias_temperature_range": 0.0, "acc_bias_temperature_range": 0.0}


@pytest.fixture(scope="module")
def at_rest() -> FlightLog:
    return log_of_messages("rest", messages_at_rest(1, seconds=300.0, settings={**TRUE, **WARM}))


def test_noise_of_our_own_sensors_is_found(at_rest: FlightLog) -> None:
    values = subject_of(vehicle("multirotor")).sensor_values
    found = rest_noise(at_rest, REST_NAMES, SENSOR_PARAMETERS, values)
    assert not found.refused
    assert found.rest_s[1] - found.rest_s[0] > 295.0
    estimates = {one.name: one for one in found.estimates}
    for name, true in TRUE.items():
        one = estimates[name]
        assert abs(one.value - true) < 4.0 * one.standard_error + 0.01 * true, name
        assert one.value == pytest.approx(true, rel=0.05 if name.endswith("noise_density") else 0.15), name
    # The accelerometer's bias is a random walk, which does not decay.
    assert estimates["k_acc"].value == 0.0


def test_variance_of_white_noise_falls_with_the_length_and_that_of_a_walk_rises() -> None:
    rng = np.random.default_rng(1)
    allan = allan_variance(0.01 * rng.standard_normal((100_000, 3)), 0.01)
    deviations = np.sqrt(2.0 / allan.freedom)
    # Four deviations of the variance; N = 0.01 sqrt(0.01).
    assert np.all(np.abs(allan.variances * allan.lengths_s / 1e-6 - 1.0) < 4.0 * deviations)
    assert noise_of(allan).density == pytest.approx(1e-3, rel=0.01)
    walk = allan_variance(np.cumsum(rng.standard_normal((100_000, 3)), axis=0), 1.0)
    expected = walk.lengths_s / 3.0
    # Readings are samples of the walk, not its means: shorter clusters differ by design.
    rows = walk.lengths_s > 16.0
    assert np.all(np.abs(walk.variances[rows] / expected[rows] - 1.0) < 5.0 * np.sqrt(2.0 / walk.freedom[rows]))


def test_walk_that_decays_is_a_random_walk_for_short_clusters_and_white_for_long_ones() -> None:
    lengths = np.array([1e-5, 1e4])
    short, long = walk_variance(lengths, 1.0)
    assert short == pytest.approx(1e-5 / 3.0, rel=1e-4)
    assert long == pytest.approx(1e-4, rel=1e-3)


def test_log_that_moves_or_is_short_is_refused_with_the_time_it_takes(at_rest: FlightLog) -> None:
    values = subject_of(vehicle("multirotor")).sensor_values
    gyro = at_rest.channels["gyro"]
    short = dataclasses.replace(at_rest, channels=dict(at_rest.channels))
    short.channels["gyro"] = Series(gyro.time_s[:8000], gyro.values[:8000])
    with pytest.raises(
        FlightLogError, match=r"is at rest for 1[6-9] s at a stretch; allowed: at least 60 s, and for the"
    ):
        rest_noise(short, REST_NAMES, SENSOR_PARAMETERS, values)
    turned = dataclasses.replace(at_rest, channels=dict(at_rest.channels))
    turned.channels["gyro"] = Series(gyro.time_s, gyro.values + 0.3 * np.sin(0.2 * gyro.time_s)[:, None])
    with pytest.raises(FlightLogError, match=r"allowed: at least 60 s"):
        rest_noise(turned, REST_NAMES, SENSOR_PARAMETERS, values)


def test_bias_walk_that_a_short_log_does_not_show_is_refused() -> None:
    log = log_of_messages("rest", messages_at_rest(1, seconds=70.0, settings={"acc_bias_walk_density": 1e-5, **WARM}))
    values = subject_of(vehicle("multirotor")).sensor_values
    found = rest_noise(log, REST_NAMES, SENSOR_PARAMETERS, values)
    refused = {one.name: one.reason for one in found.refused}
    assert "acc_bias_walk_density" in refused
    assert "log for" in refused["acc_bias_walk_density"]


def test_bias_walk_of_an_imu_that_warms_up_is_refused() -> None:
    log = log_of_messages("rest", messages_at_rest(1, seconds=120.0))
    found = rest_noise(log, REST_NAMES, SENSOR_PARAMETERS, subject_of(vehicle("multirotor")).sensor_values)
    assert "warms up" in {one.name: one.reason for one in found.refused}["gyro_bias_walk_density"]
    # White noise does not suffer.
    noise = {one.name: one.value for one in found.estimates}
    assert noise["acc_noise_density"] == pytest.approx(0.00147, rel=0.05)


def test_battery_of_a_simulated_flight_is_found() -> None:
    true = {"V_max": 16.2, "battery_internal_resistance": 0.05, "battery_capacity_mah": 700.0}
    log = twin(2, settings={"turbulence_model": "none", "battery_stdev": 0.05, **true}).log
    subject = subject_of(vehicle("multirotor"))
    found = battery_fit(log, BATTERY_NAMES, subject.forces.PARAMETERS, subject.forces_values)
    assert not found.refused
    for one in found.estimates:
        assert abs(one.value - true[one.name]) < 4.0 * one.standard_error, one
        assert one.value == pytest.approx(true[one.name], rel=0.05)


def test_battery_of_a_short_hover_without_current_is_refused_by_name() -> None:
    log = FlightLog(Path("hover"), "PX4")
    time_s = np.arange(0.0, 40.0, 0.1)
    rng = np.random.default_rng(1)
    current = np.full(len(time_s), 10.0) + 0.1 * rng.standard_normal(len(time_s))
    log.add("battery", time_s, np.stack([16.0 + 0.01 * rng.standard_normal(len(time_s)), current], axis=1))
    subject = subject_of(vehicle("multirotor"))
    found = battery_fit(log, BATTERY_NAMES, subject.forces.PARAMETERS, subject.forces_values)
    refused = {one.name: str(one) for one in found.refused}
    assert "noise makes up" in refused["battery_internal_resistance"]
    assert "takes a flight that draws a third of the charge" in refused["battery_capacity_mah"]
    log.add("battery", time_s, np.stack([np.full(len(time_s), 16.0), np.full(len(time_s), math.nan)], axis=1))
    with pytest.raises(
        FlightLogError, match=r"shows voltage and current of the battery for 0.0 s; allowed: at least 20 s"
    ):
        battery_fit(log, BATTERY_NAMES, subject.forces.PARAMETERS, subject.forces_values)
