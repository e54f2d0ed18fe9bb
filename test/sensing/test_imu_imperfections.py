"""Imperfections of the IMU, each alone: range, resolution, scale, axes, mounting, g-sensitivity, vibration, drift."""

import math

import numpy as np
import pytest
from imu_errors import IDEAL_IMU

from rosflight_py_sim.sensing import SENSOR_PARAMETERS, InertialSensor
from rosflight_py_sim.sensing.inertial import UNKNOWN

RATE = 400.0
DT = 1.0 / RATE
G = 9.81
SILENT = IDEAL_IMU | {
    name: 0.0
    for name in SENSOR_PARAMETERS.defaults()
    if name.endswith(("_stdev", "_density", "_bias_range", "_model_x0", "_model_y0", "_model_z0"))
}
COLD_K = 298.15


def sensor(seed=0, **given):
    """A sensor with no errors but those given."""
    return InertialSensor(SENSOR_PARAMETERS.checked(SILENT | given), np.random.default_rng(seed))


def truth(rates=(0.0, 0.0, 0.0), acceleration=(0.0, 0.0, 0.0), angular_acceleration=(0.0, 0.0, 0.0)):
    vector = np.zeros(19)
    vector[3] = 1.0
    vector[10:13], vector[13:16], vector[16:19] = rates, acceleration, angular_acceleration
    return vector


def reading(imu, state, speeds=UNKNOWN, temperature=COLD_K, armed=False):
    """Accelerometer and gyro (6,)."""
    imu.sample(state, DT, armed, speeds, temperature)
    return np.concatenate([imu.accel, imu.gyro])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_readings_beyond_the_range_saturate(sign):
    imu = sensor(acc_range=156.9, gyro_range=34.9)
    beyond = truth(sign * np.array([40.0, 10.0, -35.0]), sign * np.array([200.0, -100.0, 0.0]))
    seen = reading(imu, beyond)
    assert seen == pytest.approx(sign * np.array([156.9, -100.0, 0.0, 34.9, 10.0, -34.9]) + [0, 0, -G, 0, 0, 0])


def test_default_ranges_are_those_of_the_converter():
    imu = InertialSensor(SENSOR_PARAMETERS.checked({}), np.random.default_rng(0))
    seen = reading(imu, truth((1e3, 1e3, -1e3), (1e4, -1e4, 1e4)))
    # 16 g at 2048 LSB/g and 2000 deg/s at 16.4 LSB/(deg/s).
    assert np.abs(seen[:3]) == pytest.approx(16.0 * 9.80665, rel=1e-12)
    assert np.abs(seen[3:]) == pytest.approx(math.radians(2000.0), rel=1e-12)


def test_readings_are_multiples_of_the_resolution_with_uniform_errors():
    steps = np.array([0.005, 0.001])
    imu = sensor(acc_resolution=steps[0], gyro_resolution=steps[1])
    rng = np.random.default_rng(3)
    true = rng.uniform(-20.0, 20.0, (5000, 2, 3))
    seen = np.array([reading(imu, truth(rates, accel)) for accel, rates in true]).reshape(-1, 2, 3)
    counts = seen / steps[:, None]
    # Multiples, except for the rounding of the product.
    assert counts == pytest.approx(np.round(counts), abs=1e-9)
    errors = (seen - true + [[0.0, 0.0, G], [0.0, 0.0, 0.0]]) / steps[:, None]
    assert np.abs(errors).max() <= 0.5 + 1e-9
    # Variance 1/12 of a step squared; that of 30,000 values has a relative standard error of sqrt(0.8 / 30000) = 0.5 %.
    assert errors.var() == pytest.approx(1.0 / 12.0, rel=0.023)


def matrices(**given):
    """Responses of accelerometer and gyro of 400 sensors, (400, 2, 3, 3)."""
    imus = [sensor(seed, **given) for seed in range(400)]
    return np.array([[imu.accel_response, imu.gyro_response] for imu in imus])


def hold_uniform(values, bound):
    """Uniform within the bound: largest value, mean and deviation, within 4.5 standard errors."""
    assert np.abs(values).max() <= bound
    count, deviation = values.size, bound / math.sqrt(3.0)
    assert abs(values.mean()) < 4.5 * deviation / math.sqrt(count)
    # Kurtosis 9/5: the relative standard error of a deviation is sqrt(0.8 / (4 n)).
    assert values.std() == pytest.approx(deviation, rel=4.5 * math.sqrt(0.2 / count))


def test_scale_factors_are_uniform_within_their_range_and_scale_the_reading():
    errors = matrices(acc_scale_range=0.03, gyro_scale_range=0.05) - np.eye(3)
    diagonal = np.einsum("nkii->nki", errors)
    hold_uniform(diagonal[:, 0], 0.03)
    hold_uniform(diagonal[:, 1], 0.05)
    assert np.count_nonzero(errors) == diagonal.size
    imu = sensor(5, acc_scale_range=0.03, gyro_scale_range=0.05)
    seen = reading(imu, truth((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    diagonal = np.concatenate([np.diag(imu.accel_response), np.diag(imu.gyro_response)])
    assert seen == pytest.approx(diagonal * [4.0, 5.0, 6.0 - G, 1.0, 2.0, 3.0], rel=1e-12)


def test_cross_axis_sensitivity_is_uniform_within_its_range_and_mixes_the_axes():
    errors = matrices(acc_cross_axis_range=0.02, gyro_cross_axis_range=0.01) - np.eye(3)
    off = ~np.eye(3, dtype=bool)
    assert np.all(np.einsum("nkii->nki", errors) == 0.0)
    hold_uniform(errors[:, 0, off], 0.02)
    hold_uniform(errors[:, 1, off], 0.01)
    imu = sensor(5, acc_cross_axis_range=0.02, gyro_cross_axis_range=0.01)
    seen = reading(imu, truth((7.0, 0.0, 0.0), (0.0, 0.0, 2.0 * G)))
    assert seen[:3] == pytest.approx(imu.accel_response[:, 2] * G, rel=1e-12)
    assert seen[3:] == pytest.approx(imu.gyro_response[:, 0] * 7.0, rel=1e-12)


def test_misalignment_turns_accelerometer_and_gyro_alike():
    turns = matrices(imu_misalignment_range=0.01)
    assert np.array_equal(turns[:, 0], turns[:, 1])
    assert turns[:, 0] @ turns[:, 0].transpose(0, 2, 1) == pytest.approx(np.broadcast_to(np.eye(3), (400, 3, 3)))
    # Of a small turn, the off-diagonal elements are the angles, to 1e-4 rad.
    angles = np.stack([turns[:, 0, 1, 2], turns[:, 0, 2, 0], turns[:, 0, 0, 1]])
    assert np.abs(angles).max() <= 0.01 + 1e-4
    assert angles.std() == pytest.approx(0.01 / math.sqrt(3.0), rel=4.5 * math.sqrt(0.2 / 1200))


def test_steady_turn_adds_the_centripetal_acceleration_at_the_imu():
    imu = sensor(imu_position=[0.1, -0.2, 0.3])
    # About z with 2 rad/s: -w^2 r towards the axis.
    assert reading(imu, truth((0.0, 0.0, 2.0)))[:3] == pytest.approx([-0.4, 0.8, -G], abs=1e-12)


def test_angular_acceleration_adds_the_euler_term_at_the_imu():
    imu = sensor(imu_position=[0.1, -0.2, 0.3])
    # About x with 5 rad/s^2: w' x r = 5 * (0, -z, y).
    seen = reading(imu, truth(angular_acceleration=(5.0, 0.0, 0.0)))[:3]
    assert seen == pytest.approx([0.0, -1.5, -1.0 - G], abs=1e-12)


def test_lever_arm_in_a_tumble_is_the_second_derivative_of_the_imus_path():
    arm, rng = np.array([0.1, -0.2, 0.3]), np.random.default_rng(2)
    rates, turning = rng.standard_normal((2, 3))
    expected = np.cross(turning, arm) + np.cross(rates, np.cross(rates, arm)) + [0.0, 0.0, -G]
    seen = reading(sensor(imu_position=arm.tolist()), truth(rates, angular_acceleration=turning))
    assert seen[:3] == pytest.approx(expected, abs=1e-12)
    assert seen[3:] == pytest.approx(rates, abs=1e-15)


def test_gyro_reads_the_specific_force_by_its_g_sensitivity():
    bound = 1.78e-4
    imus = [sensor(seed, gyro_g_sensitivity_range=bound) for seed in range(400)]
    hold_uniform(np.array([imu.g_sensitivity for imu in imus]), bound)
    seen = reading(imus[3], truth(acceleration=(4.0, 5.0, 6.0)))
    assert seen[3:] == pytest.approx(imus[3].g_sensitivity @ [4.0, 5.0, 6.0 - G], rel=1e-12)
    # 0.1 deg/s/g.
    assert SENSOR_PARAMETERS["gyro_g_sensitivity_range"].default == pytest.approx(math.radians(0.1) / 9.80665, rel=2e-3)


def spectrum(imu, speeds, samples=4000):
    """Amplitude of each line at rest, (samples / 2 + 1, 6), and the frequencies, Hz."""
    readings = np.array([reading(imu, truth(), speeds) for _ in range(samples)])
    readings -= readings.mean(axis=0)
    return 2.0 / samples * np.abs(np.fft.rfft(readings, axis=0)), np.fft.rfftfreq(samples, DT)


# Whole numbers of periods in 10 s, so that each line falls on one frequency.
@pytest.mark.parametrize(("turns_per_s", "seen_hz"), [(80.0, 80.0), (150.0, 150.0), (250.0, 150.0), (410.0, 10.0)])
def test_rotor_vibrates_the_imu_at_its_frequency_or_the_alias(turns_per_s, seen_hz):
    imu = sensor(vibration_displacement=1e-6, vibration_angle=2e-6, vibration_harmonics=[1.0, 0.0, 0.0, 0.0])
    speed = 2.0 * math.pi * turns_per_s
    lines, frequencies = spectrum(imu, np.array([speed]))
    line = np.argmin(np.abs(frequencies - seen_hz))
    # w^2 times the displacement, w times the angle; the first rounding of 4,000 phases.
    expected = [1e-6 * speed**2] * 3 + [2e-6 * speed] * 3
    assert lines[line] == pytest.approx(expected, rel=1e-9)
    lines[line] = 0.0
    assert np.all(lines < 1e-9 * np.array(expected))


def test_harmonics_appear_with_their_shares_at_their_aliases():
    imu = sensor(vibration_displacement=1e-6, vibration_harmonics=[1.0, 0.5, 0.2, 0.1])
    speed = 2.0 * math.pi * 70.0
    lines, frequencies = spectrum(imu, np.array([speed]))
    amplitude = 1e-6 * speed**2
    # 70, 140, 210 and 280 Hz; at 400 Hz the last two appear at 190 and 120 Hz.
    for seen_hz, share in ((70.0, 1.0), (140.0, 0.5), (190.0, 0.2), (120.0, 0.1)):
        line = np.argmin(np.abs(frequencies - seen_hz))
        assert lines[line, :3] == pytest.approx([share * amplitude] * 3, rel=1e-9)
        lines[line] = 0.0
    assert np.all(lines < 1e-9 * amplitude)


def test_rotors_of_different_speed_have_lines_of_their_own():
    imu = sensor(vibration_displacement=1e-6, vibration_harmonics=[1.0, 0.0, 0.0, 0.0])
    speeds = 2.0 * math.pi * np.array([60.0, 0.0, 75.0, 90.0])
    lines, frequencies = spectrum(imu, speeds)
    assert frequencies[lines[:, 0] > 1e-3] == pytest.approx([60.0, 75.0, 90.0])


def test_phase_is_the_integral_of_a_changing_speed():
    imu = sensor(vibration_displacement=1e-6, vibration_harmonics=[1.0, 0.0, 0.0, 0.0])
    phase, seen, phases = 0.0, [], []
    for step in range(400):
        speed = 300.0 + step
        phase += speed * DT
        seen.append(reading(imu, truth(), np.array([speed]))[0] / (1e-6 * speed**2))
        phases.append(phase)
    # One wave of unit amplitude in the phase, with a phase of its own.
    waves = np.stack([np.cos(phases), np.sin(phases)], axis=1)
    (cosine, sine), residual, *_ = np.linalg.lstsq(waves, np.array(seen), rcond=None)
    assert residual < 1e-18
    assert math.hypot(cosine, sine) == pytest.approx(1.0, rel=1e-9)


def test_still_or_unknown_rotors_do_not_vibrate():
    imu = sensor(vibration_displacement=1e-6, vibration_angle=1e-6)
    for speeds in (UNKNOWN, np.zeros(14)):
        assert np.array_equal(reading(imu, truth(), speeds, armed=True), [0.0, 0.0, -G, 0.0, 0.0, 0.0])


def test_vibration_of_the_default_rotors_is_about_that_of_rosflight():
    values = SENSOR_PARAMETERS.checked(
        SILENT | {n: SENSOR_PARAMETERS[n].default for n in ("vibration_displacement", "vibration_angle")}
    )
    imu = InertialSensor(values, np.random.default_rng(1))
    readings = np.array([reading(imu, truth(), np.array([480.0, 500.0, 510.0, 530.0])) for _ in range(4000)])
    # Estimates, to a factor of 1.5: acc_stdev and gyro_stdev of ROSflight.
    assert readings[:, :3].std(axis=0) == pytest.approx([0.2] * 3, rel=0.5)
    assert readings[:, 3:].std(axis=0) == pytest.approx([0.00226] * 3, rel=0.5)


def test_biases_drift_in_proportion_to_the_temperature():
    bounds = {"acc_bias_temperature_range": 0.0049, "gyro_bias_temperature_range": 0.0028}
    imus = [sensor(seed, **bounds) for seed in range(400)]
    at_rest = np.array([0.0, 0.0, -G, 0.0, 0.0, 0.0])
    warm = np.array([reading(imu, truth(), temperature=COLD_K + 20.0) for imu in imus]) - at_rest
    cold = np.array([reading(imu, truth(), temperature=COLD_K - 10.0) for imu in imus]) - at_rest
    assert cold == pytest.approx(-0.5 * warm, abs=1e-14)
    hold_uniform(warm[:, :3] / 20.0, 0.0049)
    hold_uniform(warm[:, 3:] / 20.0, 0.0028)
    published = np.array([np.concatenate([imu.accel_bias, imu.gyro_bias]) for imu in imus])
    assert published == pytest.approx(cold, abs=1e-14)
    for temperature in (COLD_K, math.nan):
        assert np.array_equal(reading(imus[0], truth(), temperature=temperature), at_rest)


def test_published_bias_explains_the_reading_of_a_sensor_with_all_errors_but_noise():
    given = dict.fromkeys(("acc_noise_density", "gyro_noise_density", "acc_resolution", "gyro_resolution"), 0.0)
    imu = InertialSensor(
        SENSOR_PARAMETERS.checked({**given, "imu_position": [0.0, 0.0, 0.0]}), np.random.default_rng(4)
    )
    rates, force = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0 - G])
    seen = reading(imu, truth(rates, (4.0, 5.0, 6.0)), temperature=320.0)
    assert seen[:3] - imu.accel_bias == pytest.approx(imu.accel_response @ force, rel=1e-12)
    expected = imu.gyro_response @ rates + imu.g_sensitivity @ force
    assert seen[3:] - imu.gyro_bias == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rate", [100.0, 400.0, 1600.0])
def test_allan_deviation_of_the_default_sensor_is_the_data_sheets_at_rest(rate):
    readings = np.empty((round(8.0 * rate), 6))
    values = SENSOR_PARAMETERS.checked({"gyro_bias_walk_stdev": 0.0})
    imu = InertialSensor(values, np.random.default_rng(0))
    for sample in readings:
        imu.sample(truth(), 1.0 / rate)
        sample[:3], sample[3:] = imu.accel, imu.gyro
    # Clusters of 10 ms. 800 a channel, three channels: relative standard error 1.25 %; 4.5 of them. The resolution
    # adds a variance of 1/12 of a step squared to each sample.
    clusters = readings.reshape(800, -1, 6).mean(axis=1)
    deviation = np.sqrt(0.5 * np.mean(np.diff(clusters, axis=0) ** 2, axis=0).reshape(2, 3).mean(axis=1))
    density = np.array([150e-6 * 9.80665, math.radians(0.006)])
    steps = np.array([9.80665 / 2048.0, math.radians(1.0 / 16.4)])
    expected = np.sqrt(density**2 / 0.01 + steps**2 / 12.0 / (0.01 * rate))
    assert deviation == pytest.approx(expected, rel=0.056)


def test_adopting_sensor_keeps_its_drawn_errors_and_phases():
    def run(imu, samples):
        return np.array(
            [reading(imu, truth((0.1, 0.2, 0.3)), np.array([500.0] * 4), 310.0, True) for _ in range(samples)]
        )

    values = SENSOR_PARAMETERS.checked({})
    first, whole = (InertialSensor(values, np.random.default_rng(5)) for _ in range(2))
    heir = InertialSensor(values, np.random.default_rng(77))
    begin = run(first, 300)
    heir.adopt(first)
    assert np.array_equal(np.concatenate([begin, run(heir, 300)]), run(whole, 600))


def test_changed_parameter_scales_the_drawn_error():
    small, large = sensor(5, acc_scale_range=0.01), sensor(6, acc_scale_range=0.03)
    large.adopt(small)
    assert large.accel_response - np.eye(3) == pytest.approx(3.0 * (small.accel_response - np.eye(3)), rel=1e-12)


def test_further_errors_leave_the_noise_of_a_seed_unchanged():
    ideal = InertialSensor(SENSOR_PARAMETERS.checked(IDEAL_IMU), np.random.default_rng(9))
    lever = InertialSensor(SENSOR_PARAMETERS.checked(IDEAL_IMU | {"acc_scale_range": 0.03}), np.random.default_rng(9))
    still = truth(acceleration=(0.0, 0.0, G))
    assert np.array_equal(reading(ideal, still), reading(lever, still))


def test_new_parameters_keep_the_bias_of_a_warm_sensor():
    values = SENSOR_PARAMETERS.checked({})
    first, heir = (InertialSensor(values, np.random.default_rng(seed)) for seed in (5, 6))
    first.sample(truth(), DT, temperature_k=310.0)
    heir.adopt(first)
    assert np.array_equal([heir.accel_bias, heir.gyro_bias], [first.accel_bias, first.gyro_bias])
