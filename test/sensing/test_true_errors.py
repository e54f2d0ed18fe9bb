"""The true errors of each sensor: measurement minus truth, without white noise."""

from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.physics.atmosphere import pressure
from rosflight_py_sim.sensing import SENSOR_PARAMETERS
from rosflight_py_sim.sensing.geodetic import ned_to_geodetic, tangent_plane

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
def sensors() -> ModelledSensors:
    given = {**OFF, **NOISELESS, **BIASED, **WALKING, "magnetic_model": "fixed", "seed": 3}
    return ModelledSensors(ModelledSensors.PARAMETERS.checked(given))


def errors_of(sensors: ModelledSensors, prefix: str) -> list[float]:
    return [value for name, value in sensors.true_errors().items() if name.startswith(prefix)]


def test_imu_errors_explain_the_measurement(sensors):
    truth, rates, force = truth_vector(), np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -9.0])
    truth[10:13], truth[13:16] = rates, force + np.array([0.0, 0.0, 9.81])
    for _ in range(5):
        sensors.models["imu"].sample(truth, 0.0025, temperature_k=310.0)

    def matrix(name: str) -> np.ndarray:
        return np.reshape(errors_of(sensors, name), (3, 3))

    accel = matrix("acc_response") @ force + errors_of(sensors, "acc_bias")
    gyro = matrix("gyro_response") @ rates + matrix("gyro_g_sensitivity") @ force + errors_of(sensors, "gyro_bias")
    assert sensors.models["imu"].accel.tolist() == pytest.approx(accel.tolist(), abs=1e-12)
    assert sensors.models["imu"].gyro.tolist() == pytest.approx(gyro.tolist(), abs=1e-12)
    assert min(map(abs, errors_of(sensors, "gyro_bias"))) > 1e-5


def test_magnetometer_error_is_measurement_minus_truth(sensors):
    field = sensors.models["mag"].sample(truth_vector(), 0.02)
    clean = np.reshape(errors_of(sensors, "mag_response"), (3, 3)) @ sensors.models["mag"].field_ned
    assert errors_of(sensors, "mag_bias") == pytest.approx((field - clean).tolist(), rel=1e-9)


def test_pressure_errors_are_measurement_minus_truth(sensors):
    sensors.models["baro"].sample(truth_vector(), np.zeros(3), 0.0, 0.01)
    assert errors_of(sensors, "baro_bias") == pytest.approx(
        [sensors.models["baro"].pressure_pa - pressure(ALTITUDE_M + 3.0)], rel=1e-6
    )
    sensors.models["diff_pressure"].sample(truth_vector(), np.zeros(3), 0.01)
    assert errors_of(sensors, "airspeed") == pytest.approx(
        [sensors.models["diff_pressure"].differential_pressure_pa, 0.02], rel=1e-9
    )


def test_gnss_errors_are_report_minus_truth(sensors):
    sensors.models["gnss"].sample(truth_vector(), 0.1)
    north, east, down = errors_of(sensors, "gnss_position_error")
    origin = (SENSOR_PARAMETERS["origin_latitude"].default, SENSOR_PARAMETERS["origin_longitude"].default, ALTITUDE_M)
    expected = ned_to_geodetic(tangent_plane(*origin), north, east, down - 3.0)
    found = (
        sensors.models["gnss"].latitude_deg,
        sensors.models["gnss"].longitude_deg,
        sensors.models["gnss"].altitude_msl_m,
    )
    assert found == pytest.approx(expected, rel=1e-12)
    assert errors_of(sensors, "gnss_velocity_error") == pytest.approx(
        sensors.models["gnss"].velocity_ned.tolist(), rel=1e-9
    )


def test_errors_of_range_and_battery_are_measurement_minus_truth(sensors):
    distance = sensors.models["range"].sample(truth_vector(), 0.05)
    assert errors_of(sensors, "range_bias") == pytest.approx([distance - 3.0])
    sensors.models["battery"].sample(12.0, 5.0, 0.005)
    measured = [sensors.models["battery"].voltage - 12.0, sensors.models["battery"].current - 5.0]
    assert errors_of(sensors, "battery") == pytest.approx(measured, rel=1e-9)


def test_names_and_their_order_are_those_of_the_page(sensors):
    before = list(sensors.true_errors())
    sensors.models["imu"].sample(truth_vector(), 0.0025)
    assert list(sensors.true_errors()) == before
    section = PAGE.read_text(encoding="utf-8").split("## True errors")[1].split("\n## ")[0]
    rows = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ") and "`" in line]
    assert [name.strip(" `") for row in rows for name in row.split(",")] == before
