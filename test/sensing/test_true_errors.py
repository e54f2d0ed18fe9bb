"""The true errors of each sensor: measurement minus truth, without white noise."""

from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.physics.atmosphere import pressure
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane
from rosflight_py_sim.sensing.suite import SensorSuite

PAGE = Path(__file__).parents[2] / "docs" / "sensors.md"

ALTITUDE_M = 1387.0

# Other errors than those of the page.
OFF = {
    "baro_static_port_error": [0.0] * 6,
    "baro_propeller_wash": 0.0,
    "acc_resolution": 0.0,
    "gyro_resolution": 0.0,
    "mag_range": 0.0,
    "mag_resolution": 0.0,
    "imu_position": [0.0, 0.0, 0.0],
    "baro_resolution": 0.0,
    "airspeed_resolution": 0.0,
    "range_resolution": 0.0,
    "range_signal_noise": 0.0,
}

# Every channel has a bias and a walk, and none has white noise.
NOISELESS = {name: 0.0 for name in SENSOR_PARAMETERS.defaults() if name.endswith(("_noise_density", "_stdev"))}
BIASED = {name: 0.1 for name in SENSOR_PARAMETERS.defaults() if name.endswith("_bias_range")}
WALKING = {name: 0.01 for name in SENSOR_PARAMETERS.defaults() if name.endswith("_bias_walk_density")}


def truth_vector() -> np.ndarray:
    """At rest, level, 3 m above the ground, without a specific force."""
    truth = np.zeros(19)
    truth[2], truth[3], truth[15] = -3.0, 1.0, 9.81
    return truth


@pytest.fixture
def suite() -> SensorSuite:
    overrides = {**OFF, **NOISELESS, **BIASED, **WALKING, "magnetic_model": "fixed", "seed": 3}
    return SensorSuite({**SENSOR_PARAMETERS.checked({k: v for k, v in overrides.items() if k != "seed"}), "seed": 3})


def errors_of(suite: SensorSuite, prefix: str) -> list[float]:
    return [value for name, value in suite.true_errors().items() if name.startswith(prefix)]


def test_imu_errors_explain_the_measurement(suite):
    truth, rates, force = truth_vector(), np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -9.0])
    truth[10:13], truth[13:16] = rates, force + np.array([0.0, 0.0, 9.81])
    for _ in range(5):
        suite.inertial.sample(truth, 0.0025, temperature_k=310.0)

    def matrix(name: str) -> np.ndarray:
        return np.reshape(errors_of(suite, name), (3, 3))

    accel = matrix("acc_response") @ force + errors_of(suite, "acc_bias")
    gyro = matrix("gyro_response") @ rates + matrix("gyro_g_sensitivity") @ force + errors_of(suite, "gyro_bias")
    assert suite.inertial.accel.tolist() == pytest.approx(accel.tolist(), abs=1e-12)
    assert suite.inertial.gyro.tolist() == pytest.approx(gyro.tolist(), abs=1e-12)
    assert min(map(abs, errors_of(suite, "gyro_bias"))) > 1e-5


def test_magnetometer_error_is_measurement_minus_truth(suite):
    field = suite.magnetometer.sample(truth_vector(), 0.02)
    clean = np.reshape(errors_of(suite, "mag_response"), (3, 3)) @ suite.magnetometer.field_ned
    assert errors_of(suite, "mag_bias") == pytest.approx((field - clean).tolist(), rel=1e-9)


def test_pressure_errors_are_measurement_minus_truth(suite):
    suite.barometer.sample(truth_vector(), np.zeros(3), 0.0, 0.01)
    assert errors_of(suite, "baro_bias") == pytest.approx(
        [suite.barometer.pressure_pa - pressure(ALTITUDE_M + 3.0)], rel=1e-6
    )
    suite.pitot.sample(truth_vector(), np.zeros(3), 0.01)
    assert errors_of(suite, "airspeed") == pytest.approx([suite.pitot.differential_pressure_pa, 0.02], rel=1e-9)


def test_gnss_errors_are_report_minus_truth(suite):
    suite.gnss.sample(truth_vector(), 0.1)
    north, east, down = errors_of(suite, "gnss_position_error")
    origin = (SENSOR_PARAMETERS["origin_latitude"].default, SENSOR_PARAMETERS["origin_longitude"].default, ALTITUDE_M)
    expected = ned_to_geodetic(tangent_plane(*origin), north, east, down - 3.0)
    found = (suite.gnss.latitude_deg, suite.gnss.longitude_deg, suite.gnss.altitude_msl_m)
    assert found == pytest.approx(expected, rel=1e-12)
    assert errors_of(suite, "gnss_velocity_error") == pytest.approx(suite.gnss.velocity_ned.tolist(), rel=1e-9)


def test_errors_of_range_and_battery_are_measurement_minus_truth(suite):
    distance = suite.range_finder.sample(truth_vector(), 0.05)
    assert errors_of(suite, "range_bias") == pytest.approx([distance - 3.0])
    suite.battery.sample(12.0, 5.0, 0.005)
    measured = [suite.battery.voltage - 12.0, suite.battery.current - 5.0]
    assert errors_of(suite, "battery") == pytest.approx(measured, rel=1e-9)


def test_names_and_their_order_are_those_of_the_page(suite):
    before = list(suite.true_errors())
    suite.inertial.sample(truth_vector(), 0.0025)
    assert list(suite.true_errors()) == before
    section = PAGE.read_text(encoding="utf-8").split("## True errors")[1].split("\n## ")[0]
    rows = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ") and "`" in line]
    assert [name.strip(" `") for row in rows for name in row.split(",")] == before
