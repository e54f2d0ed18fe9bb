"""The attitude estimator against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from transforms3d.euler import euler2quat
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.firmware import FirmwareParameters, Severity
from rosflight_py_sim.firmware import estimator as e

DT = 0.0025


class Filter:
    def __init__(self, **parameters: float) -> None:
        store = FirmwareParameters()
        store.restore(parameters)
        self.settings = e.estimator_settings(store)
        self.state = e.new_estimator_state()
        self.time_s = 0.0

    def run(self, accel, gyro, seconds: float) -> None:
        accel, gyro = np.asarray(accel, dtype=float), np.asarray(gyro, dtype=float)
        for _ in range(round(seconds / DT)):
            e.estimator_step(self.settings, self.state, accel, gyro, self.time_s, DT)
            self.time_s += DT


def at_rest(q: np.ndarray) -> np.ndarray:
    return quat2mat(q).T @ np.array([0.0, 0.0, -e.STANDARD_GRAVITY])


@pytest.mark.parametrize("yaw_deg", [0, 90, 135, 180, -100])
def test_estimate_converges_to_true_tilt_at_every_heading(yaw_deg: float) -> None:
    truth = euler2quat(math.radians(20), math.radians(-15), math.radians(yaw_deg))
    filter_ = Filter(FILT_KI=0.0)
    filter_.state[:4] = euler2quat(0.0, 0.0, math.radians(yaw_deg))
    filter_.run(at_rest(truth), [0, 0, 0], 6.0)
    # Time constant 1 / (10 * 0.5) s for 3 s, then 2 s for 3 s: 25 deg * exp(-16.5) = 2e-6 deg.
    assert np.degrees(filter_.state[e.EULER : e.EULER + 2]) == pytest.approx([20, -15], abs=1e-5)


def test_correction_decays_exponentially_with_gain() -> None:
    truth = euler2quat(math.radians(1), 0, 0)
    filter_ = Filter(FILT_KI=0.0, FILT_INIT_T=0, FILT_ACC_KP=2.0, ACC_LPF=0.0)
    filter_.run(at_rest(truth), [0, 0, 0], 0.5 + DT)
    # Linear for a small angle: 1 - exp(-kp t); a sine's third order and 200 Euler steps leave 2e-3.
    assert math.degrees(filter_.state[e.EULER]) == pytest.approx(1 - math.exp(-1.0), abs=2e-3)


def test_gyro_bias_is_estimated_and_removed_from_rate() -> None:
    filter_ = Filter(FILT_KI=0.1)
    filter_.run([0, 0, -e.STANDARD_GRAVITY], [0.03, -0.02, 0.0], 200.0)
    # Slow pole of s^2 + 0.5 s + 0.1 is damped with 0.25 1/s after the start.
    assert filter_.state[e.BIAS : e.BIAS + 2] == pytest.approx([0.03, -0.02], abs=1e-9)
    assert filter_.state[e.RATE : e.RATE + 2] == pytest.approx([0, 0], abs=1e-9)
    assert filter_.state[e.EULER : e.EULER + 2] == pytest.approx([0, 0], abs=1e-9)


def test_matrix_exponential_is_exact_for_constant_rate() -> None:
    state = e.new_estimator_state()
    rate = np.array([0.7, -1.1, 0.4])
    for _ in range(400):
        e.integrate_rate(state, *rate, DT, True)
    angle = np.linalg.norm(rate) * 400 * DT
    expected = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * rate / np.linalg.norm(rate))])
    # 400 steps of rounding.
    assert state[:4] == pytest.approx(expected, abs=1e-13)


def test_euler_integration_is_first_order() -> None:
    def error(steps: int) -> float:
        state = e.new_estimator_state()
        for _ in range(steps):
            e.integrate_rate(state, 1.0, 0.0, 0.0, 1.0 / steps, False)
        return abs(2.0 * math.atan2(state[1], state[0]) - 1.0)

    # Normalised Euler turns by atan(h/2)*2 a step, so the error even falls with the square.
    assert error(100) < 1e-4
    assert error(200) == pytest.approx(error(100) / 4.0, rel=1e-2)


def test_quadratic_interpolation_is_exact_for_quadratic_rate() -> None:
    filter_ = Filter(FILT_USE_ACC=0, FILT_INIT_T=0, GYRO_XY_LPF=0.0, FILT_KI=0.0)
    times = DT * np.arange(201)
    rates = 0.3 + 0.5 * times - 2.0 * times**2
    for time_s, rate in zip(times, rates, strict=True):
        e.estimator_step(filter_.settings, filter_.state, np.zeros(3), np.array([rate, 0, 0]), time_s, DT)
        if time_s == times[3]:
            start = filter_.state[e.EULER]
    integral = lambda t: 0.3 * t + 0.25 * t**2 - 2.0 / 3.0 * t**3  # noqa: E731
    assert filter_.state[e.EULER] - start == pytest.approx(integral(times[-1]) - integral(times[3]), abs=1e-13)


def test_quaternion_stays_normalised_with_non_negative_w() -> None:
    filter_ = Filter(FILT_USE_ACC=0)
    filter_.run([0, 0, 0], [3.0, 2.0, -4.0], 3.0)
    assert np.linalg.norm(filter_.state[:4]) == pytest.approx(1.0, abs=1e-15)
    assert filter_.state[0] >= 0.0


def test_accelerometer_is_ignored_away_from_one_g() -> None:
    filter_ = Filter(FILT_ACC_MARGIN=0.1)
    tilted = at_rest(euler2quat(0.3, 0.0, 0.0))
    filter_.run(1.2 * tilted, [0, 0, 0], 1.0)
    # The low-pass passes through 1 g on its way up from level, in the first steps only.
    early = filter_.state[e.EULER]
    filter_.run(1.2 * tilted, [0, 0, 0], 3.0)
    assert filter_.state[e.EULER] == pytest.approx(early, abs=2e-3)
    assert filter_.time_s - filter_.state[e.LAST_ACCEL] > 3.9


def test_external_attitude_corrects_heading() -> None:
    filter_ = Filter(FILT_INIT_T=0, FILT_KI=0.0)
    target = euler2quat(0.0, 0.0, 0.5)
    for _ in range(200):
        filter_.state[e.EXTERNAL : e.EXTERNAL + 4] = target
        filter_.state[e.EXTERNAL_GIVEN] = 1.0
        filter_.run([0, 0, -e.STANDARD_GRAVITY], [0, 0, 0], 0.05)
    # The sum of three cross products is twice the sine of a yaw error: rate 2 * 1.5 1/s over 10 s.
    assert filter_.state[e.EULER + 2] == pytest.approx(0.5, abs=1e-9)


def test_low_pass_weights_old_value_with_its_coefficient() -> None:
    filter_ = Filter(GYRO_XY_LPF=0.8, GYRO_Z_LPF=0.5)
    filter_.run([0, 0, -e.STANDARD_GRAVITY], [1.0, 0.0, 1.0], 3 * DT)
    # The first sample only starts the clock.
    assert filter_.state[e.GYRO : e.GYRO + 3] == pytest.approx([1 - 0.8**2, 0.0, 1 - 0.5**2], abs=1e-15)


def test_multirotor_estimator_is_unhealthy_after_500_ms_without_valid_accelerometer(make_bench) -> None:
    bench = make_bench()
    bench.run(1.0)
    bench.accel = (0.0, 0.0, -20.0)
    bench.run(0.45)
    assert bench.firmware.status.error_code == 0
    bench.run(0.1)
    assert bench.firmware.status.error_code == 0x08
    bench.accel = (0.0, 0.0, -9.8)
    bench.run(0.1)
    assert bench.firmware.status.error_code == 0
    bench.parameters.restore({"FIXED_WING": 1})
    bench.accel = (0.0, 0.0, -20.0)
    bench.run(1.0)
    assert bench.firmware.status.error_code == 0


def unhealthy_lines(bench) -> list[tuple[Severity, str]]:
    return [line for line in bench.log_lines if "attitude estimate" in line[1]]


def test_unhealthy_estimator_warns_once_per_episode_with_accelerometer_reading(make_bench) -> None:
    bench = make_bench()
    bench.arm()
    for _ in range(4):
        bench.accel = (0.0, 0.0, -1.5 * e.STANDARD_GRAVITY)
        bench.run(0.7)
        assert bench.firmware.status.error_code == 0x08
        bench.accel = (0.0, 0.0, -e.STANDARD_GRAVITY)
        bench.run(9.0)
        assert bench.firmware.status.error_code == 0
    ((severity, text),) = unhealthy_lines(bench)
    assert severity is Severity.WARNING
    assert "reads 1.50 g" in text
    assert "10% (FILT_ACC_MARGIN) off 1 g for 0.5 s" in text
    bench.run(2.0)
    assert unhealthy_lines(bench)[1:] == [(Severity.INFO, "error cleared: the attitude estimate is not healthy")]
    bench.accel = (0.0, 0.0, -0.5 * e.STANDARD_GRAVITY)
    bench.run(0.7)
    assert len(unhealthy_lines(bench)) == 3
    assert "reads 0.50 g" in unhealthy_lines(bench)[2][1]


def test_firmware_rejects_invalid_external_attitude(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    for wrong in ([0, 0, 0, 0], [float("nan"), 0, 0, 1], [1, 0, 0]):
        bench.firmware.set_external_attitude(wrong)
    bench.run(0.1)
    assert bench.firmware.attitude == pytest.approx([1, 0, 0, 0], abs=1e-9)
    assert len([line for _, line in bench.log_lines if "external attitude dropped" in line]) == 3
