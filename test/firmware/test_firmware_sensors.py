"""Corrections of the sensors and the calibration of the IMU."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rosflight_py_sim.firmware import ErrorFlag, Refused
from rosflight_py_sim.firmware import sensors as s

AXES = "XYZ"


def test_imu_calibration_finds_biases_and_clears_error(make_bench) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    assert bench.firmware.status.error_code == ErrorFlag.UNCALIBRATED_IMU
    bench.accel = (0.1, -0.2, -9.80665 + 0.05)
    bench.gyro = (0.01, -0.02, 0.03)
    assert bench.firmware.calibrate_imu()
    bench.run(1000 * 0.0025)
    assert bench.firmware.calibrating
    bench.run(0.0025)
    assert not bench.firmware.calibrating
    bench.run(0.0025)
    assert [bench.parameters[f"ACC_{a}_BIAS"] for a in AXES] == pytest.approx([0.1, -0.2, 0.05], abs=1e-12)
    assert [bench.parameters[f"GYRO_{a}_BIAS"] for a in AXES] == pytest.approx(bench.gyro, abs=1e-12)
    assert bench.firmware.status.error_code == 0
    assert bench.firmware.imu_accel == pytest.approx([0, 0, -9.80665], abs=1e-12)
    assert bench.firmware.imu_gyro == pytest.approx([0, 0, 0], abs=1e-12)


def test_ideal_imu_can_be_calibrated(make_bench) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert bench.firmware.status.error_code == 0


def test_calibration_removes_temperature_dependence_from_bias(make_bench) -> None:
    bench = make_bench(ACC_X_TEMP_COMP=0.001)
    bench.accel = (0.001 * 290.0 + 0.2, 0.0, -9.80665)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert bench.parameters["ACC_X_BIAS"] == pytest.approx(0.2, abs=1e-12)
    assert bench.firmware.imu_accel[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("accel", "gyro", "reason"),
    [
        ((0.0, 0.0, 9.8), (0.0, 0.0, 0.0), "vehicle is level"),
        ((2.5, 0.0, -9.8), (0.0, 0.0, 0.0), "vehicle is level"),
        ((0.0, 0.0, -9.8), (0.9, 0.9, 0.0), "too much movement"),
    ],
)
def test_implausible_calibration_is_reported_and_leaves_biases_unchanged(make_bench, accel, gyro, reason) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    bench.accel, bench.gyro = accel, gyro
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert bench.logged(reason)
    moved = "ACC" if reason == "vehicle is level" else "GYRO"
    assert [bench.parameters[f"{moved}_{a}_BIAS"] for a in AXES] == [0.0, 0.0, 0.0]


def test_motion_fails_the_calibration(make_bench) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    bench.firmware.calibrate_imu()
    bench.run(1.0)
    bench.accel = (1.2, 0.0, -9.8)
    bench.run(0.25)
    bench.accel = (0.0, 0.0, -9.8)
    bench.run(1.6)
    assert bench.logged("too much movement")
    assert bench.firmware.status.error_code == ErrorFlag.UNCALIBRATED_IMU


def test_uncalibrated_accelerometer_remains_an_error_after_gyro_calibration(make_bench) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    bench.accel, bench.gyro = (0.0, 0.0, 9.8), (0.01, 0.0, 0.0)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert bench.parameters["GYRO_X_BIAS"] == pytest.approx(0.01)
    assert bench.firmware.status.error_code == ErrorFlag.UNCALIBRATED_IMU


@pytest.mark.parametrize(("amplitude", "passes"), [(0.45, True), (0.55, False)])
def test_rocking_beyond_allowed_spread_fails_the_calibration(make_bench, amplitude, passes) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0)
    bench.firmware.calibrate_imu()
    for k in range(1001):
        bench.accel = (0.3, 0.0, -9.80665 + amplitude * math.sin(2.0 * math.pi * 10.0 * 0.0025 * k))
        bench.run(0.0025)
    assert (bench.firmware.status.error_code == 0) is passes
    assert bench.logged("too much movement: the accelerometer spreads by 1.10 m/s^2 (allowed: 1)") is not passes
    # An incomplete period at the end, at most half: 0.45 m/s^2 / (pi 10 Hz 2.5 s).
    assert bench.parameters["ACC_Z_BIAS"] == pytest.approx(0.0, abs=0.006)


def test_calibration_is_rejected_while_armed(make_bench) -> None:
    bench = make_bench()
    bench.arm()
    with pytest.raises(Refused, match="IMU calibration: refused while armed"):
        bench.firmware.calibrate_imu()
    assert not bench.firmware.calibrating
    assert bench.logged("while armed")


def test_mounting_rotation_is_compensated(make_bench) -> None:
    bench = make_bench(IMU_YAW=90.0)
    bench.accel = (1.0, 2.0, -9.0)
    bench.gyro = (0.1, 0.2, 0.3)
    bench.run(0.01)
    # The vehicle's x axis is the sensor's y axis.
    assert bench.firmware.imu_accel == pytest.approx([2.0, -1.0, -9.0], abs=1e-12)
    assert bench.firmware.imu_gyro == pytest.approx([0.2, -0.1, 0.3], abs=1e-11)


def test_mounting_rotation_is_orthogonal_in_yaw_pitch_roll_order() -> None:
    r, p, y = 30.0, -20.0, 110.0
    full = s.mounting_rotation(r, p, y)
    parts = s.mounting_rotation(r, 0, 0) @ s.mounting_rotation(0, p, 0) @ s.mounting_rotation(0, 0, y)
    assert full == pytest.approx(parts, abs=1e-15)
    assert full @ full.T == pytest.approx(np.eye(3), abs=1e-15)


@pytest.mark.parametrize(("altitude", "pressure", "density"), [(0, 101325.0, 1.225), (2000, 79495.0, 1.00649)])
def test_barometer_yields_standard_atmosphere_altitude_and_density(make_bench, altitude, pressure, density) -> None:
    bench = make_bench()
    bench.firmware.receive_baro(pressure, 280.0)
    # Tables of the standard atmosphere have five digits, and altitude is geometric, not geopotential: 0.6 m at 2 km.
    assert bench.firmware.air.altitude == pytest.approx(altitude, abs=1.0)
    assert bench.firmware.air.density == pytest.approx(density, rel=2e-4)
    bench.firmware.receive_baro(-1.0, 280.0)
    assert bench.firmware.air.pressure == pressure


def test_differential_pressure_yields_signed_indicated_airspeed(make_bench) -> None:
    bench = make_bench(DIFF_PRESS_BIAS=5.0)
    bench.firmware.receive_diff_pressure(0.5 * 1.225 * 20.0**2 + 5.0, 290.0)
    assert bench.firmware.air.airspeed == pytest.approx(20.0, rel=1e-12)
    bench.firmware.receive_diff_pressure(5.0 - 0.5 * 1.225 * 3.0**2, 290.0)
    assert bench.firmware.air.airspeed == pytest.approx(-3.0, rel=1e-12)


def test_battery_reading_is_scaled_and_filtered_from_full_charge(make_bench) -> None:
    bench = make_bench(BATT_VOLT_MULT=2.0, BATT_VOLT_LPF=0.9, BATT_CURR_MULT=0.5, BATT_CURR_LPF=0.5, BATT_VOLT_MAX=20.0)
    assert bench.firmware.battery.voltage == 0.0
    bench.firmware.receive_battery(5.0, 8.0)
    assert bench.firmware.battery.voltage == pytest.approx(0.1 * 10.0 + 0.9 * 20.0)
    assert bench.firmware.battery.current == pytest.approx(2.0)
    bench.firmware.receive_battery(5.0, 8.0)
    assert bench.firmware.battery.voltage == pytest.approx(0.1 * 10.0 + 0.9 * 19.0)


def test_non_finite_samples_do_not_persist_in_filters(make_bench) -> None:
    bench = make_bench()
    bench.firmware.receive_battery(math.nan, 1.0)
    bench.firmware.receive_battery(20.0, math.inf)
    bench.firmware.receive_diff_pressure(math.nan, 290.0)
    bench.firmware.receive_baro(math.nan, 290.0)
    bench.firmware.receive_mag([math.nan, 0.0, 0.0])
    assert bench.firmware.magnetic_field.tolist() == [0.0, 0.0, 0.0]
    assert (bench.firmware.battery.voltage, bench.firmware.air.airspeed, bench.firmware.air.density) == (
        0.0,
        0.0,
        1.225,
    )


def test_magnetometer_removes_hard_and_soft_iron(make_bench) -> None:
    bench = make_bench(MAG_X_BIAS=1.0, MAG_CAL_A00=2.0, MAG_CAL_A01=0.5, MAG_YAW=90.0)
    bench.firmware.receive_mag([-4.0, 3.0, 7.0])
    # Turned to (3, 4, 7), offset to (2, 4, 7).
    assert bench.firmware.magnetic_field == pytest.approx([2.0 * 2.0 + 0.5 * 4.0, 4.0, 7.0], abs=1e-12)
    assert math.isfinite(bench.firmware.magnetic_field.sum())
