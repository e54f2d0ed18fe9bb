"""Calibrations of magnetometer, pressure sensors and RC trim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rosflight_py_sim.firmware import Refused
from rosflight_py_sim.firmware.ellipsoid import fit_ellipsoid
from rosflight_py_sim.firmware.mag_calibration import DIRECTIONS, covered_directions

FIELD_T = 50e-6
SOFT_IRON = np.array([[1.1, 0.08, -0.03], [0.08, 0.95, 0.05], [-0.03, 0.05, 1.0]])
HARD_IRON_T = np.array([12e-6, -20e-6, 5e-6])


def all_directions(count: int, seed: int = 1) -> NDArray[np.float64]:
    vectors = np.random.default_rng(seed).normal(size=(count, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def measured(directions: NDArray[np.float64], noise_t: float = 0.0) -> NDArray[np.float64]:
    noise = np.random.default_rng(2).normal(0.0, noise_t, directions.shape)
    return np.asarray(FIELD_T * directions @ SOFT_IRON.T + HARD_IRON_T + noise)


def feed(bench, samples: NDArray[np.float64]) -> None:
    """Feed samples at 50 Hz."""
    for sample in samples:
        if not bench.firmware.calibrations.mag.running:
            return
        bench.firmware.time_us += 20_000
        bench.firmware.receive_mag(sample.tolist())


def test_ellipsoid_fit_is_exact_without_noise() -> None:
    fit = fit_ellipsoid(measured(all_directions(200)))
    assert fit is not None
    assert fit.centre == pytest.approx(HARD_IRON_T, rel=1e-9)
    inverse = np.linalg.inv(SOFT_IRON)
    assert fit.matrix == pytest.approx(inverse / np.cbrt(np.linalg.det(inverse)), abs=1e-9)
    assert fit.radius == pytest.approx(FIELD_T * np.cbrt(np.linalg.det(SOFT_IRON)), rel=1e-9)


@pytest.mark.parametrize("samples", [np.zeros((50, 3)), np.ones((5, 3)), np.array([[1.0, 2.0, 3.0]] * 40)])
def test_ellipsoid_fit_fails_for_degenerate_points(samples: NDArray[np.float64]) -> None:
    assert fit_ellipsoid(samples) is None


def test_directions_are_evenly_distributed_and_each_needs_ten_samples() -> None:
    assert np.linalg.norm(DIRECTIONS, axis=1) == pytest.approx(np.ones(20))
    # Edges of the dodecahedron are seen from its centre under 41.81 degrees.
    angles = np.degrees(np.arccos(np.clip(DIRECTIONS @ DIRECTIONS.T, -1, 1)))
    assert np.sort(angles, axis=1)[:, 1] == pytest.approx([41.81031] * 20, abs=1e-4)
    assert covered_directions(np.repeat(DIRECTIONS, 10, axis=0)) == 20
    assert covered_directions(np.repeat(DIRECTIONS, 9, axis=0)) == 0


def test_magnetometer_calibration_finds_hard_and_soft_iron_despite_noise(make_bench) -> None:
    bench = make_bench(MAG_X_BIAS=3e-6)
    bench.firmware.receive_mag([0.0, 0.0, 0.0])
    bench.firmware.calibrate_mag()
    feed(bench, measured(all_directions(3000), noise_t=1e-6))
    assert bench.logged("magnetometer calibrated")
    # A share of 1e-6 T of noise in 50e-6 T, over some hundred samples.
    assert [bench.parameters[f"MAG_{a}_BIAS"] for a in "XYZ"] == pytest.approx(HARD_IRON_T, abs=0.5e-6)
    corrected = []
    for sample in measured(all_directions(50, seed=5)):
        bench.firmware.receive_mag(sample.tolist())
        corrected.append(np.linalg.norm(bench.firmware.magnetic_field))
    assert np.ptp(corrected) / np.mean(corrected) < 0.02
    assert bench.logged("of 20 directions")


def test_magnetometer_mounting_is_removed_before_calibration(make_bench) -> None:
    bench = make_bench(MAG_YAW=90.0)
    bench.firmware.receive_mag([0.0, 0.0, 0.0])
    bench.firmware.calibrate_mag()
    feed(bench, measured(all_directions(2000)))
    x, y, z = HARD_IRON_T
    assert [bench.parameters[f"MAG_{a}_BIAS"] for a in "XYZ"] == pytest.approx([y, -x, z], rel=1e-6)


def test_rotation_about_one_axis_is_insufficient(make_bench) -> None:
    bench = make_bench()
    bench.firmware.receive_mag([0.0, 0.0, 0.0])
    before = bench.parameters.snapshot()
    bench.firmware.calibrate_mag()
    angles = np.linspace(0.0, 200.0, 15_100)
    ring = np.stack([np.cos(angles), np.sin(angles), np.full_like(angles, 0.5)], axis=1) / math.sqrt(1.25)
    feed(bench, measured(ring, noise_t=1e-6))
    assert not bench.firmware.calibrations.mag.running
    assert bench.logged("of 20 directions covered in 300 s; the old values are kept")
    assert bench.parameters.snapshot() == before


def quiet_readings(bench, receive, mean: float, deviation: float, seconds: float = 8.0) -> None:
    """Feed readings at 100 Hz, one every 10 ms of passes."""
    generator = np.random.default_rng(6)
    for value in generator.normal(mean, deviation, round(seconds * 100)):
        receive(float(value), 290.0)
        bench.run(0.01)


def test_barometer_calibration_stores_pressure_and_altitude_of_the_ground(make_bench) -> None:
    bench = make_bench()
    bench.firmware.receive_baro(90_000.0, 290.0)
    bench.firmware.calibrate_baro()
    quiet_readings(bench, bench.firmware.receive_baro, 90_000.0, 4.0)
    assert bench.logged("barometer calibrated")
    # Five standard deviations of the mean of 127 readings.
    assert bench.parameters["BARO_BIAS"] == pytest.approx(90_000.0, abs=5 * 4.0 / math.sqrt(127))
    # 988.6 m has 900 hPa in the standard atmosphere; 1 Pa is 0.09 m.
    assert bench.parameters["GROUND_LEVEL"] == pytest.approx(988.6, abs=0.5)


def test_airspeed_calibration_removes_offset(make_bench) -> None:
    bench = make_bench(DIFF_PRESS_BIAS=1.0)
    bench.firmware.receive_diff_pressure(3.0, 290.0)
    bench.firmware.calibrate_airspeed()
    quiet_readings(bench, bench.firmware.receive_diff_pressure, 3.0, 0.5)
    assert bench.parameters["DIFF_PRESS_BIAS"] == pytest.approx(3.0, abs=5 * 0.5 / math.sqrt(127))


@pytest.mark.parametrize(
    ("mean", "deviation", "reason"), [(40.0, 0.5, "from -10 to 10"), (0.0, 15.0, "too much movement")]
)
def test_airspeed_calibration_in_wind_fails_and_keeps_old_offset(make_bench, mean, deviation, reason) -> None:
    bench = make_bench(DIFF_PRESS_BIAS=1.0)
    bench.firmware.receive_diff_pressure(mean, 290.0)
    bench.firmware.calibrate_airspeed()
    quiet_readings(bench, bench.firmware.receive_diff_pressure, mean, deviation)
    assert bench.logged(reason)
    assert bench.logged("the old value is kept")
    assert bench.parameters["DIFF_PRESS_BIAS"] == 1.0
    assert not bench.firmware.calibrations.airspeed.running


def test_calibration_without_sensor_samples_is_rejected(make_bench) -> None:
    firmware = make_bench().firmware
    for begin in (firmware.calibrate_mag, firmware.calibrate_baro, firmware.calibrate_airspeed):
        with pytest.raises(Refused, match="no sample received yet"):
            begin()


def test_failed_imu_calibration_keeps_old_biases(make_bench) -> None:
    bench = make_bench(GYRO_Y_BIAS=0.1, ACC_X_BIAS=0.2)
    bench.accel, bench.gyro = (0.0, 0.0, 9.8), (0.9, 0.9, 0.0)
    bench.firmware.calibrate_imu()
    bench.run(2.6)
    assert not bench.firmware.calibrating
    assert (bench.parameters["GYRO_Y_BIAS"], bench.parameters["ACC_X_BIAS"]) == (0.1, 0.2)


@pytest.mark.parametrize("angle_mode", [0, 1])
def test_rc_trim_makes_centred_sticks_equivalent_to_trimmed_sticks(make_bench, angle_mode: int) -> None:
    bench = make_bench(RC_ATT_MODE=angle_mode, RC_OVRD_DEV=1.0, Y_EQ_TORQUE=0.01, MOTOR_IDLE_THR=0.0)
    bench.sticks(roll=0.08, pitch=-0.06, yaw=0.04)
    bench.run(0.1)
    text = bench.firmware.calibrate_rc_trim()
    p = bench.parameters
    roll, pitch = ("RC_MAX_ROLL", "RC_MAX_PITCH") if angle_mode else ("RC_MAX_ROLLRATE", "RC_MAX_PITCHRATE")
    loop = "ANG" if angle_mode else "RATE"
    assert p["X_EQ_TORQUE"] == pytest.approx(0.08 * p[roll] * p[f"PID_ROLL_{loop}_P"])
    assert p["Y_EQ_TORQUE"] == pytest.approx(0.01 - 0.06 * p[pitch] * p[f"PID_PITCH_{loop}_P"])
    assert p["Z_EQ_TORQUE"] == pytest.approx(0.04 * p["RC_MAX_YAWRATE"] * p["PID_YAW_RATE_P"])
    assert "centre the trims" in text


def test_fixed_wing_rc_trim_equals_stick_deflection(make_bench) -> None:
    bench = make_bench(FIXED_WING=1, PRIMARY_MIXER=9, RC_F_AXIS=0)
    bench.sticks(roll=0.2, pitch=-0.1)
    with_trim = bench.run(0.1)
    bench.firmware.calibrate_rc_trim()
    bench.sticks()
    assert bench.run(0.1)[:3] == pytest.approx(with_trim[:3], abs=1e-9)


def test_rc_trim_is_rejected_without_rc_or_out_of_range(make_bench) -> None:
    bench = make_bench(PID_ROLL_ANG_P=10.0)
    with pytest.raises(Refused, match="without an RC signal"):
        bench.firmware.calibrate_rc_trim()
    bench.sticks(roll=1.0, pitch=0.1)
    bench.run(0.1)
    with pytest.raises(Refused, match=r"'X_EQ_TORQUE'.*from -1 to 1"):
        bench.firmware.calibrate_rc_trim()
    assert (bench.parameters["X_EQ_TORQUE"], bench.parameters["Y_EQ_TORQUE"]) == (0.0, 0.0)
    bench.rc = None
    bench.run(0.2)
    with pytest.raises(Refused, match="without an RC signal"):
        bench.firmware.calibrate_rc_trim()
