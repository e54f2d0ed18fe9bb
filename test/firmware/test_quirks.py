"""Each quirk of rosflight_firmware against its formula, taken from the original code, and each repair."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.firmware import (
    AS_ROSFLIGHT,
    REPAIRED,
    Board,
    ErrorFlag,
    FirmwareParameterOutOfRange,
    FirmwareParameters,
    Quirks,
)
from rosflight_py_sim.firmware import estimator as e
from rosflight_py_sim.sensing import SENSOR_PARAMETERS, InertialSensor

STEP_US = 2500
LEVEL = (0.0, 0.0, -9.80665)
BOTH = pytest.mark.parametrize("quirks", [REPAIRED, AS_ROSFLIGHT], ids=["repaired", "as_rosflight"])


def test_as_rosflight_enables_and_repaired_disables_every_quirk() -> None:
    for field in dataclasses.fields(Quirks):
        assert getattr(AS_ROSFLIGHT, field.name)
        assert not getattr(REPAIRED, field.name)


# Estimator.


def turbomath_product(a: Sequence[float], b: Sequence[float]) -> np.ndarray:
    """turbomath's Quaternion::operator*, which is Hamilton's product with its factors exchanged."""
    (w, x, y, z), (qw, qx, qy, qz) = a, b
    return np.array(
        [
            w * qw - x * qx - y * qy - z * qz,
            w * qx + x * qw - y * qz + z * qy,
            w * qy + x * qz + y * qw - z * qx,
            w * qz - x * qy + y * qx + z * qw,
        ]
    )


def original_correction(attitude: np.ndarray, accel: np.ndarray) -> np.ndarray:
    """Estimator::accel_correction, with Quaternion::from_two_unit_vectors(g, a)."""
    g, a = np.array([0.0, 0.0, -1.0]), accel / np.linalg.norm(accel)
    scale = 1.0 / math.sqrt(2.0 * (1.0 + g @ a))
    inverse = np.array([0.5 / scale, *(np.cross(g, a) * scale)])
    error = turbomath_product(inverse / np.linalg.norm(inverse), attitude)
    return np.array([-2.0 * error[0] * error[1], -2.0 * error[0] * error[2], 0.0])


def from_euler(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Quaternion::from_RPY."""
    cp, sp, ct, st, cs, ss = (f(a / 2) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            cs * ct * cp + ss * st * sp,
            cs * ct * sp - ss * st * cp,
            cs * st * cp + ss * ct * sp,
            ss * ct * cp - cs * st * sp,
        ]
    )


def specific_force(roll: float, pitch: float) -> np.ndarray:
    """Specific force at rest, in body axes (unit length)."""
    return -np.array([-math.sin(pitch), math.sin(roll) * math.cos(pitch), math.cos(roll) * math.cos(pitch)])


def corrections(estimate: tuple[float, float, float], true: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The repaired correction and the original's, for an estimate (roll, pitch, yaw) and the true roll and pitch."""
    state = e.new_estimator_state()
    state[:4] = from_euler(*estimate)
    state[e.ACCEL : e.ACCEL + 3] = 9.8 * specific_force(*true)
    return np.array(e.accel_correction(state)), np.array(e.accel_correction_by_heading(state))


def test_heading_dependent_correction_matches_rosflight_at_any_attitude() -> None:
    generator = np.random.default_rng(1)
    for roll, pitch, yaw in generator.uniform([-3.0, -1.5, -3.1], [3.0, 1.5, 3.1], (200, 3)):
        true = (roll + generator.normal(0.0, 0.2), pitch)
        expected = original_correction(from_euler(roll, pitch, yaw), specific_force(*true))
        assert corrections((roll, pitch, yaw), true)[1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("yaw_deg", "expected"), [(0.0, (0.0998, 0.0)), (90.0, (0.0499, -0.0499)), (180.0, (0.0, 0.0))]
)
def test_roll_error_correction_weakens_with_heading(yaw_deg: float, expected: tuple[float, float]) -> None:
    repaired, original = corrections((0.0, 0.0, math.radians(yaw_deg)), (0.1, 0.0))
    assert repaired == pytest.approx([math.sin(0.1), 0.0, 0.0], abs=1e-12)
    assert np.abs(original) == pytest.approx(np.abs([*expected, 0.0]), abs=1e-4)


def test_corrections_agree_heading_north_only_near_level() -> None:
    roll = math.radians(60.0)
    # The nose is lower by 0.1 rad than estimated: a rotation about the body's y and z axes at this roll.
    state = e.new_estimator_state()
    state[:4] = from_euler(roll, 0.0, 0.0)
    state[e.ACCEL : e.ACCEL + 3] = 9.8 * np.array([math.sin(-0.1), 0.0, 0.0]) + 9.8 * math.cos(0.1) * specific_force(
        roll, 0.0
    )
    assert e.accel_correction(state) == pytest.approx((0.0, -0.0499, 0.0865), abs=1e-4)
    # Of second order in the error: 0.003 about x.
    assert e.accel_correction_by_heading(state) == pytest.approx((0.0, -0.0998, 0.0), abs=3e-3)


def aliased_step(q: np.ndarray, rate: np.ndarray, dt: float) -> np.ndarray:
    """Estimator::integrate_angular_rate: each element is replaced in the quaternion that the next one reads."""
    length = np.linalg.norm(rate)
    t1, t2 = math.cos(length * dt / 2), math.sin(length * dt / 2) / length
    p, r1, r2 = rate
    q = q.copy()
    q[0] = t1 * q[0] + t2 * (-p * q[1] - r1 * q[2] - r2 * q[3])
    q[1] = t1 * q[1] + t2 * (p * q[0] + r2 * q[2] - r1 * q[3])
    q[2] = t1 * q[2] + t2 * (r1 * q[0] - r2 * q[1] + p * q[3])
    q[3] = t1 * q[3] + t2 * (r2 * q[0] + r1 * q[1] - p * q[2])
    return q / np.linalg.norm(q) * (1.0 if q[0] >= 0.0 else -1.0)


def test_aliased_matrix_exponential_matches_rosflight_and_drifts_from_exact() -> None:
    rate, dt = np.array([0.7, -1.1, 0.4]), 0.0025
    aliased, exact = e.new_estimator_state(), e.new_estimator_state()
    expected = np.array([1.0, 0.0, 0.0, 0.0])
    for _ in range(400):
        e.integrate_rate_aliased(aliased, *rate, dt)
        e.integrate_rate(exact, *rate, dt, True)
        expected = aliased_step(expected, rate, dt)
    assert aliased[:4] == pytest.approx(expected, abs=1e-12)
    between = 2.0 * math.acos(min(1.0, abs(float(aliased[:4] @ exact[:4]))))
    # After a second at 1.36 rad/s.
    assert 1e-4 < between < 1e-2


@BOTH
@pytest.mark.parametrize("matrix_exponential", [0, 1])
def test_firmware_estimate_shows_the_quirks(make_bench, quirks: Quirks, matrix_exponential: int) -> None:
    bench = make_bench(FILT_INIT_T=0, ACC_LPF=0.0, GYRO_XY_LPF=0.0, GYRO_Z_LPF=0.0, FILT_QUAD_INT=0, FILT_KI=0.0,
                       FILT_MAT_EXP=matrix_exponential, GYRO_X_BIAS=0.0, quirks=quirks)  # fmt: skip
    bench.run(0.0025 * 2)
    start = from_euler(0.3, -0.2, 2.0)
    bench.firmware.attitude[:] = start
    bench.accel, bench.gyro = 9.80665 * specific_force(0.2, -0.1), (0.5, -0.3, 0.8)
    bench.run(0.0025)
    if quirks is AS_ROSFLIGHT:
        rate = np.array(bench.gyro) + 0.5 * original_correction(start, np.array(bench.accel))
        if matrix_exponential:
            expected = aliased_step(start, rate, 0.0025)
            assert bench.firmware.attitude == pytest.approx(expected, abs=1e-12)
            return
    else:
        state = e.new_estimator_state()
        state[:4] = start
        state[e.ACCEL : e.ACCEL + 3] = bench.accel
        rate = np.array(bench.gyro) + 0.5 * np.array(e.accel_correction(state))
    length = np.linalg.norm(rate)
    half = 0.5 * 0.0025
    c, s = (math.cos(length * half), math.sin(length * half) / length) if matrix_exponential else (1.0, half)
    w, x, y, z = start
    p, q, r = rate
    turned = np.array([-p * x - q * y - r * z, p * w + r * y - q * z, q * w - r * x + p * z, r * w + q * x - p * y])
    expected = c * start + s * turned
    assert bench.firmware.attitude == pytest.approx(expected / np.linalg.norm(expected), abs=1e-12)


# Controller and mixer.


def original_greatest_thrust(density: float) -> float:
    """Controller::calculate_max_thrust with the default parameters."""
    resistance, kv, current, diameter, ct, cq, volts = 0.042, 0.01706, 1.5, 0.381, 0.075, 0.0045, 25.0
    a = resistance * density * diameter**5 * cq / (4 * math.pi**2 * kv)
    omega = (-kv + math.sqrt(kv**2 - 4 * a * (current * resistance - volts))) / (2 * a)
    return density * diameter**4 * ct * omega**2 / (4 * math.pi**2) * 4


@BOTH
def test_maximum_thrust_uses_density_from_last_parameter_change(make_bench, quirks: Quirks) -> None:
    bench = make_bench(USE_MOTOR_PARAM=1, quirks=quirks)
    site = 101325.0 * (1.0 - 2.25577e-5 * 1387.0) ** 5.25588
    density = 1.225 * (site / 101325.0) ** 0.80973689459645
    bench.firmware.receive_baro(site, 280.0)
    bench.arm()
    bench.sticks(throttle=0.5)
    bench.run(0.1)

    def thrust() -> float:
        return -float(bench.firmware.mixer_input[2]) / (0.5 * 0.7)

    held = quirks.held_greatest_thrust
    assert thrust() == pytest.approx(original_greatest_thrust(1.225 if held else density), rel=1e-9)
    assert original_greatest_thrust(1.225) / original_greatest_thrust(density) == pytest.approx(1.104, abs=1e-3)
    bench.parameters.set("PID_TAU", 0.06)
    bench.run(0.0025)
    assert thrust() == pytest.approx(original_greatest_thrust(density), rel=1e-9)


@BOTH
def test_rosflight_esc_calibration_mixer_yields_no_throttle(make_bench, quirks: Quirks) -> None:
    bench = make_bench(PRIMARY_MIXER=0, RC_MAX_THR=1.0, quirks=quirks)
    # The pseudo-inverse of ten elements of 0.1 in one row.
    assert bench.parameters["PRI_MIXER_2_0"] == pytest.approx(1.0 if quirks.reversed_esc_calibration else -1.0)
    bench.arm()
    bench.sticks(throttle=0.8)
    expected = 1100.0 if quirks.reversed_esc_calibration else 1800.0
    assert bench.run(0.1)[:10] == pytest.approx([expected] * 10)


@BOTH
def test_rosflight_secondary_v_tail_is_inverted(make_bench, quirks: Quirks) -> None:
    bench = make_bench(PRIMARY_MIXER=10, SECONDARY_MIXER=10, RC_F_AXIS=0, FIXED_WING=1, quirks=quirks)
    rows = [[bench.parameters[f"SEC_MIXER_{i}_{j}"] for j in (1, 2)] for i in (4, 5)]
    scale = 1.0 if quirks.inverted_secondary_mixer else 0.5
    assert rows == [pytest.approx([-scale, scale]), pytest.approx([scale, scale])]
    assert bench.parameters["PRI_MIXER_5_1"] == 0.5


@BOTH
def test_rosflight_accepts_rank_deficient_custom_mixer(make_bench, quirks: Quirks) -> None:
    bench = make_bench(PRIMARY_MIXER=11, PRI_MIXER_OUT_0=2, PRI_MIXER_2_0=-1.0, quirks=quirks)
    invalid = bool(bench.firmware.status.error_code & ErrorFlag.INVALID_MIXER)
    assert invalid is not quirks.any_custom_mixer


# Parameters and calibrations.


def test_rosflight_accepts_out_of_range_floats_but_not_integers() -> None:
    limited, unlimited = FirmwareParameters(), FirmwareParameters(unlimited_numbers=True)
    unlimited.set("PID_TAU", 5.0)
    assert unlimited["PID_TAU"] == 5.0
    refused = ((limited, "PID_TAU", 5.0), (unlimited, "PRIMARY_MIXER", 50), (unlimited, "PID_TAU", math.nan))
    for parameters, name, value in refused:
        with pytest.raises(FirmwareParameterOutOfRange):
            parameters.set(name, value)


@BOTH
def test_rosflight_stores_out_of_range_accelerometer_bias(make_bench, quirks: Quirks) -> None:
    bench = make_bench(quirks=quirks)
    bench.accel = (2.5, 0.0, -9.80665)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert bench.parameters["ACC_X_BIAS"] == pytest.approx(2.5 if quirks.unlimited_numbers else 0.0)


@BOTH
def test_rosflight_ignores_battery_filter_read_at_start(make_bench, quirks: Quirks) -> None:
    bench = make_bench(BATT_VOLT_LPF=0.5, BATT_CURR_LPF=0.0, BATT_VOLT_MAX=25.0, quirks=quirks)
    bench.firmware.receive_battery(20.0, 8.0)
    voltage, current = (0.005 * 20.0 + 0.995 * 25.0, 0.005 * 8.0) if quirks.initial_battery_filter else (22.5, 8.0)
    assert (bench.firmware.battery.voltage, bench.firmware.battery.current) == pytest.approx((voltage, current))
    bench.parameters.restore({"BATT_VOLT_LPF": 0.0, "BATT_CURR_LPF": 0.1})
    bench.firmware.receive_battery(20.0, 8.0)
    assert bench.firmware.battery.voltage == 20.0


def spread_of_calibration(bench, seed: int, vibrating: bool) -> bool:
    """Whether a calibration at rest and level passes, with the default sensor of a seed."""
    sensor = InertialSensor(SENSOR_PARAMETERS.defaults(), np.random.default_rng(seed))
    at_rest = np.zeros(19)
    at_rest[3] = 1.0
    bench.firmware.calibrate_imu()
    for _ in range(1001):
        sensor.sample(at_rest, 0.0025, vibrating)
        bench.accel, bench.gyro = sensor.accel, sensor.gyro
        bench.run(0.0025)
    assert not bench.firmware.calibrating
    return bench.logged("IMU calibrated")


def test_imu_calibration_succeeds_for_still_sensors_and_fails_for_vibrating_ones(make_bench) -> None:
    for vibrating in (False, True):
        passed = [spread_of_calibration(make_bench(), seed, vibrating) for seed in range(20)]
        assert passed == [not vibrating] * 20


@BOTH
@pytest.mark.parametrize("spread", [0.99, 1.01])
def test_single_outlier_fails_imu_calibration(make_bench, quirks: Quirks, spread: float) -> None:
    bench = make_bench(quirks=quirks)
    bench.firmware.calibrate_imu()
    bench.run(1.0)
    # Of length `spread`, over the three axes.
    bench.accel = np.array(LEVEL) + spread / math.sqrt(3.0)
    bench.run(0.0025)
    bench.accel = LEVEL
    bench.run(1.6)
    assert bench.logged("too much movement") is (spread > 1.0)


@BOTH
def test_rosflight_discards_biases_after_failed_calibration(make_bench, quirks: Quirks) -> None:
    bench = make_bench(GYRO_Y_BIAS=0.1, ACC_X_BIAS=0.2, quirks=quirks)
    bench.accel, bench.gyro = (0.0, 0.0, 9.8), (0.9, 0.9, 0.0)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    kept = (0.0, 0.0) if quirks.calibrations_forget else (0.1, 0.2)
    assert (bench.parameters["GYRO_Y_BIAS"], bench.parameters["ACC_X_BIAS"]) == kept


@BOTH
def test_rosflight_calibrates_barometer_at_start_until_it_succeeds(make_bench, quirks: Quirks) -> None:
    bench = make_bench(quirks=quirks)

    def read(pressures: Sequence[float]) -> None:
        for pressure in pressures:
            bench.firmware.receive_baro(pressure, 290.0)
            bench.run(0.025)

    read([90_000.0, 90_050.0] * 128)
    assert bench.logged("too much movement") is quirks.calibrations_forget
    read([90_000.0] * 256)
    assert bench.parameters["BARO_BIAS"] == pytest.approx(90_000.0 if quirks.calibrations_forget else 0.0)


@BOTH
def test_rosflight_keeps_calibration_error_after_setting_a_bias(make_bench, quirks: Quirks) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0, quirks=quirks)
    bench.parameters.set("ACC_X_BIAS", 0.1)
    uncalibrated = bool(bench.firmware.status.error_code & ErrorFlag.UNCALIBRATED_IMU)
    assert uncalibrated is quirks.calibration_alone_ends_its_error
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert not bench.firmware.status.error_code & ErrorFlag.UNCALIBRATED_IMU


# Board and receiver.


@BOTH
def test_rosflight_reports_no_error_on_imu_timeout(make_bench, quirks: Quirks) -> None:
    bench = make_bench(quirks=quirks)
    bench.run(0.1)
    for time_us in range(bench.time_us, bench.time_us + 2_000_000, 10_000):
        bench.firmware.receive_rc(time_us, bench.rc)
        bench.firmware.step(time_us)
    assert bool(bench.firmware.status.error_code) is not quirks.imu_is_never_missed


@BOTH
def test_rosflight_holds_last_sticks_on_rc_loss(make_bench, quirks: Quirks) -> None:
    bench = make_bench(quirks=quirks)
    bench.arm()
    bench.sticks(throttle=0.5)
    bench.run(0.1)
    bench.rc = None
    # Hands the throttle over to failsafe at 0.3, or leaves it at 0.5 of RC_MAX_THR of 0.7.
    throttle = bench.run(2.0)[0]
    assert bench.firmware.status.failsafe is not quirks.rc_is_never_missed
    assert throttle == pytest.approx(1000.0 + 1000.0 * 0.7 * (0.5 if quirks.rc_is_never_missed else 0.3))
    # A frame with invalid pulses is lost in both cases.
    bench.rc = [0] * 8
    bench.run(0.1)
    assert bench.firmware.status.failsafe


@BOTH
def test_rosflight_treats_sticks_as_moved_in_the_first_second(make_bench, quirks: Quirks) -> None:
    bench = make_bench(quirks=quirks)
    moved = []
    for _ in range(3):
        bench.run(0.4)
        moved.append(bool(bench.firmware.status.rc_override & 0x1C))
    assert moved == ([True, True, False] if quirks.sticks_moved_at_start else [False] * 3)


@BOTH
def test_rosflight_truncates_pulse_widths(make_bench, quirks: Quirks) -> None:
    bench = make_bench(MOTOR_IDLE_THR=0.1236, quirks=quirks)
    bench.arm()
    bench.run(0.05)
    # SILBoard::pwm_write: 1000 + (uint16_t) (1000 * 0.1236).
    assert bench.firmware.whole_pulse_widths.tolist()[:4] == [1123 if quirks.truncated_pwm else 1124] * 4


def test_board_reboot_keeps_the_quirks(tmp_path: Path) -> None:
    board = Board(None, None, lambda severity, text: None, AS_ROSFLIGHT)
    assert board.firmware.quirks is AS_ROSFLIGHT
    # Beyond its range of 10 Pa.
    board.firmware.parameters.set("DIFF_PRESS_BIAS", 40.0)
    board.write()
    board.reboot()
    assert board.firmware.quirks is AS_ROSFLIGHT
    assert board.firmware.parameters["DIFF_PRESS_BIAS"] == 40.0


@pytest.mark.parametrize("angle", [-90.0, 450.0])
def test_mounting_angle_is_not_limited_to_one_turn(tmp_path: Path, angle: float) -> None:
    file = tmp_path / "mounted.yaml"
    file.write_text(f"- {{name: MAG_PITCH, type: 9, value: {angle}}}\n")
    parameters = FirmwareParameters()
    parameters.load(file)
    assert parameters["MAG_PITCH"] == angle
    with pytest.raises(FirmwareParameterOutOfRange, match="a number, finite"):
        parameters.set("MAG_PITCH", math.inf)
