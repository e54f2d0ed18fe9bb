"""Arming by switch and by sticks, loss of the signal, and the outputs meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from rosflight_py_sim.firmware import ErrorFlag, State

STICK_ARMING = {"RC_ARM_CHN": -1}


def test_disarmed_motors_stay_at_1000_us_for_any_command(make_bench) -> None:
    bench = make_bench()
    bench.sticks(roll=1.0, throttle=1.0)
    bench.command = (2, 0, [0, 0, 0.8, 0.2, 0, 0, 0, 0, 0, 0])
    assert np.array_equal(bench.run(0.5), np.full(14, 1000.0))


def test_servos_are_centred_from_the_first_sample_on(make_bench) -> None:
    # An aeroplane: motor on output 4. At 1000 us, a servo would be at the end of its travel.
    bench = make_bench(PRIMARY_MIXER=9)
    first = bench.run(0.0025)
    assert first.tolist() == [1500.0] * 3 + [1000.0] * 11
    assert np.array_equal(bench.run(0.0025), first)


def test_arm_switch_arms_and_disarms(make_bench) -> None:
    bench = make_bench()
    bench.arm()
    assert bench.firmware.status.armed
    # MOTOR_IDLE_THR of 0.1 by default.
    assert bench.run(0.1)[:4] == pytest.approx([1100.0] * 4, abs=1e-9)
    bench.switch(4, False)
    assert np.array_equal(bench.run(0.05), np.full(14, 1000.0))
    assert bench.firmware.state_machine.state is State.PREFLIGHT


def test_high_throttle_stick_prevents_arming(make_bench) -> None:
    bench = make_bench()
    bench.sticks(throttle=0.2)
    bench.run(0.1)
    bench.switch(4, True)
    bench.run(0.1)
    assert not bench.firmware.status.armed
    assert bench.logged("throttle stick is not low")
    bench.sticks(throttle=0.1)
    bench.run(0.1)
    assert bench.firmware.status.armed


def test_arming_requires_throttle_override_unless_min_throttle_is_taken(make_bench) -> None:
    bench = make_bench(TAKE_MIN_THR=0)
    bench.run(0.1)
    bench.switch(4, True)
    bench.run(0.1)
    assert not bench.firmware.status.armed
    assert bench.logged("override switch is off")
    bench.switch(5, True)
    bench.run(0.1)
    assert bench.firmware.status.armed


NO_GUARD = "cannot arm: the throttle override switch is off (and TAKE_MIN_THR is 0)"
STICK_HIGH = "cannot arm: the throttle stick is not low"


def test_refusal_to_arm_is_logged_once_per_change_of_its_reason(make_bench) -> None:
    bench = make_bench(TAKE_MIN_THR=0)
    bench.run(0.1)

    def refusals() -> list[str]:
        return [text for _, text in bench.log_lines if "cannot arm" in text]

    bench.switch(4, True)
    bench.run(2.5)
    assert refusals() == [NO_GUARD]
    bench.sticks(throttle=0.2)
    bench.run(2.5)
    assert refusals() == [NO_GUARD, STICK_HIGH]
    bench.sticks()
    bench.run(2.5)
    assert refusals() == [NO_GUARD, STICK_HIGH, NO_GUARD]


@pytest.mark.parametrize("by_sticks", [False, True])
def test_each_request_to_arm_logs_the_reason_of_its_refusal(make_bench, by_sticks: bool) -> None:
    bench = make_bench(TAKE_MIN_THR=0, **(STICK_ARMING if by_sticks else {}))
    bench.run(0.1)
    for _ in range(2):
        for is_on in (True, False):
            if by_sticks:
                bench.sticks(yaw=1.0 if is_on else 0.0)
            else:
                bench.switch(4, is_on)
            bench.run(2.0)
    assert [text for _, text in bench.log_lines if "cannot arm" in text] == [NO_GUARD] * 2


def test_reason_that_persists_beside_one_that_ends_is_not_logged_again(make_bench) -> None:
    bench = make_bench(GYRO_X_BIAS=0.0, FAILSAFE_THR=-1.0)
    bench.switch(4, True)
    bench.run(0.5)
    bench.firmware.parameters.set("FAILSAFE_THR", 0.5)
    bench.run(0.5)
    assert sorted(text for _, text in bench.log_lines if "cannot arm" in text) == [
        "cannot arm: FAILSAFE_THR is not from 0 to 1",
        "cannot arm: the IMU is not calibrated",
    ]


def test_sticks_arm_and_disarm_after_a_second_in_opposite_corners(make_bench) -> None:
    bench = make_bench(**STICK_ARMING)
    bench.run(0.1)
    bench.sticks(yaw=1.0)
    bench.run(0.95)
    assert not bench.firmware.status.armed
    bench.run(0.15)
    assert bench.firmware.status.armed
    bench.sticks()
    bench.run(0.1)
    bench.sticks(yaw=-1.0)
    bench.run(0.95)
    assert bench.firmware.status.armed
    bench.run(0.15)
    assert not bench.firmware.status.armed


def test_leaving_the_corner_restarts_the_timer(make_bench) -> None:
    bench = make_bench(**STICK_ARMING)
    bench.sticks(yaw=1.0)
    bench.run(0.9)
    bench.sticks()
    bench.run(0.1)
    bench.sticks(yaw=1.0)
    bench.run(0.9)
    assert not bench.firmware.status.armed


@pytest.mark.parametrize(
    ("parameters", "flag", "reason"),
    [
        ({"PRIMARY_MIXER": 255}, ErrorFlag.INVALID_MIXER, "invalid mixer"),
        ({"GYRO_X_BIAS": 0.0}, ErrorFlag.UNCALIBRATED_IMU, "not calibrated"),
        ({"FAILSAFE_THR": -1.0}, ErrorFlag.INVALID_FAILSAFE, "FAILSAFE_THR"),
    ],
)
def test_invalid_configuration_is_an_error_that_prevents_arming(make_bench, parameters, flag, reason) -> None:
    bench = make_bench(**parameters)
    assert bench.firmware.status.error_code == flag
    bench.run(0.1)
    bench.switch(4, True)
    bench.run(0.1)
    assert not bench.firmware.status.armed
    assert bench.logged(reason)


def test_configuration_error_clears_once_parameters_are_corrected(make_bench) -> None:
    bench = make_bench(FAILSAFE_THR=-1.0, PRIMARY_MIXER=255, GYRO_X_BIAS=0.0)
    wrong = ErrorFlag.INVALID_FAILSAFE | ErrorFlag.INVALID_MIXER | ErrorFlag.UNCALIBRATED_IMU
    assert bench.firmware.status.error_code == wrong
    bench.parameters.set("FAILSAFE_THR", 0.2)
    bench.parameters.set("PRIMARY_MIXER", 1)
    bench.parameters.set("ACC_Z_BIAS", 0.01)
    assert bench.firmware.status.error_code == 0
    assert bench.firmware.state_machine.state is State.PREFLIGHT


def test_missing_rc_from_start_is_rc_lost(make_bench) -> None:
    bench = make_bench()
    bench.rc = None
    bench.run(0.1)
    assert bench.firmware.status.error_code == 0
    bench.run(0.01)
    assert bench.firmware.status.error_code == ErrorFlag.RC_LOST


def test_rc_lost_for_100_ms_while_armed_triggers_failsafe_until_rc_returns(make_bench) -> None:
    bench = make_bench(RC_MAX_THR=1.0)
    bench.arm()
    bench.sticks(roll=0.5, throttle=0.6)
    bench.run(0.5)
    rc, bench.rc = bench.rc, None
    bench.run(0.08)
    assert not bench.firmware.status.failsafe
    bench.run(0.04)
    status = bench.firmware.status
    assert status.failsafe
    assert status.armed
    assert status.error_code == ErrorFlag.RC_LOST
    # Level at FAILSAFE_THR: the vehicle is level and at rest, so all four motors get it.
    assert bench.run(0.1)[:4] == pytest.approx([1300.0] * 4, abs=1e-6)
    bench.rc = rc
    bench.run(0.05)
    assert not status.failsafe
    assert status.armed
    assert status.error_code == 0
    assert bench.firmware.state_machine.state is State.ARMED


def test_fixed_wing_glides_in_failsafe(make_bench) -> None:
    bench = make_bench(FIXED_WING=1, PRIMARY_MIXER=9, RC_F_AXIS=0, FAILSAFE_THR=-1, ARM_SPIN_MOTORS=0)
    assert bench.firmware.status.error_code == 0
    bench.arm()
    bench.sticks(roll=0.5, throttle=0.8)
    assert bench.run(0.1)[4] == pytest.approx(1800.0)
    bench.rc = None
    pwm = bench.run(0.2)
    assert pwm[:3] == pytest.approx([1500.0] * 3)
    assert pwm[4] == 1000.0


def test_offboard_flight_continues_in_failsafe_without_rc_when_configured(make_bench) -> None:
    wing = {"FIXED_WING": 1, "PRIMARY_MIXER": 9, "RC_F_AXIS": 0, "ARM_SPIN_MOTORS": 0, "TAKE_MIN_THR": 0}
    bench = make_bench(offboard_without_rc=True, **wing)
    bench.switch(5, True)
    bench.arm()
    bench.command = (0, 0, [0.7, 0, 0, 0.2, -0.4, 0.1, 0, 0, 0, 0])
    # The override switch gives the sticks command until their signal is lost.
    assert bench.run(0.1)[4] == 1000.0
    rc, bench.rc = bench.rc, None
    commanded = pytest.approx([1600.0, 1300.0, 1550.0, 1700.0])
    assert bench.run(0.3)[[0, 1, 2, 4]] == commanded
    status = bench.firmware.status
    assert (status.failsafe, status.armed, status.offboard, status.rc_override) == (True, True, True, 0)
    bench.command = None
    assert bench.run(0.3)[[0, 1, 2, 4]] == pytest.approx([1500.0, 1500.0, 1500.0, 1000.0])
    assert not status.offboard
    # Axes that the command ignores stay in failsafe.
    bench.command = (0, 0b10000, [0.7, 0, 0, 0.2, -0.4, 0.1, 0, 0, 0, 0])
    assert bench.run(0.3)[[0, 1, 2, 4]] == pytest.approx([1600.0, 1500.0, 1550.0, 1700.0])
    bench.rc = rc
    assert bench.run(0.1)[4] == 1000.0
    assert not status.failsafe


def test_commands_are_ignored_in_failsafe_by_default(make_bench) -> None:
    bench = make_bench(TAKE_MIN_THR=0)
    bench.switch(5, True)
    bench.arm()
    bench.command = (2, 0, [0, 0, 0.8, 0.0, 0, 0, 0, 0, 0, 0])
    bench.rc = None
    assert bench.run(0.5)[:4] == pytest.approx([1210.0] * 4, abs=1e-6)


def test_out_of_range_pulse_is_rc_lost(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    bench.rc[7] = 700
    bench.run(0.05)
    assert bench.firmware.status.error_code == ErrorFlag.RC_LOST
    bench.rc[7] = 1000
    bench.run(0.05)
    assert bench.firmware.status.error_code == 0


def test_time_going_backwards_is_an_error_until_it_advances(make_bench) -> None:
    bench = make_bench()
    bench.run(0.2)
    seen = []
    for back in (100_000, 0, 2500, 5000):
        time_us = bench.time_us - 100_000 + back if back == 100_000 else bench.time_us - 50_000 + back
        bench.firmware.receive_imu(time_us, bench.gyro, bench.accel, 290.0)
        bench.firmware.step(time_us)
        seen.append(bench.firmware.status.error_code & ErrorFlag.TIME_GOING_BACKWARDS)
    assert seen == [0, ErrorFlag.TIME_GOING_BACKWARDS, 0, 0]


def test_offboard_command_expires_when_clock_restarts(make_bench) -> None:
    bench = make_bench()
    bench.arm()
    bench.run(10.0)
    bench.command = (2, 0, [0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0])
    bench.run(0.1)
    assert bench.firmware.status.offboard
    bench.command = None
    bench.time_us = 0
    bench.run(0.2)
    assert not bench.firmware.status.offboard


def test_imu_timeout_is_an_error(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    silent_us = bench.time_us
    for time_us in range(silent_us, silent_us + 1_100_000, 10_000):
        bench.firmware.receive_rc(time_us, bench.rc)
        bench.firmware.step(time_us)
    assert bench.firmware.status.error_code == ErrorFlag.IMU_NOT_RESPONDING
    bench.time_us = silent_us + 1_100_000
    bench.run(0.1)
    assert bench.firmware.status.error_code == 0


def test_intermittent_imu_timeouts_are_logged_once_until_imu_is_steady(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)

    def lines() -> list[str]:
        return [text for _, text in bench.log_lines if "IMU does not respond" in text]

    def fall_silent(seconds: float) -> None:
        end_us = bench.time_us + round(seconds * 1e6)
        while bench.time_us < end_us:
            bench.time_us += 10_000
            bench.firmware.receive_rc(bench.time_us, bench.rc)
            bench.firmware.step(bench.time_us)

    for _ in range(5):
        fall_silent(1.2)
        assert bench.firmware.status.error_code == ErrorFlag.IMU_NOT_RESPONDING
        bench.run(3.0)
        assert bench.firmware.status.error_code == 0
    assert lines() == ["not ready to arm: the IMU does not respond"]
    bench.run(7.5)
    assert lines() == ["not ready to arm: the IMU does not respond", "error cleared: the IMU does not respond"]
    fall_silent(1.2)
    assert len(lines()) == 3


def test_error_clears_immediately_after_clock_reset(make_bench) -> None:
    bench = make_bench()
    bench.run(20.0)
    bench.accel = (0.0, 0.0, -20.0)
    bench.run(0.7)
    bench.accel = (0.0, 0.0, -9.80665)
    bench.run(0.1)
    bench.time_us = 0
    bench.run(1.0)
    assert bench.logged("error cleared: the attitude estimate is not healthy")


def test_non_finite_sample_is_rejected_and_counted(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    bench.gyro = (0.0, float("nan"), 0.0)
    bench.run(0.025)
    assert bench.firmware.status.num_errors == 10
    assert np.isfinite(bench.firmware.attitude).all()


def test_gyros_are_calibrated_on_arming_when_configured(make_bench) -> None:
    bench = make_bench(ARM_CAL_GYRO=1, ACC_X_BIAS=0.001)
    bench.gyro = (0.02, -0.01, 0.005)
    bench.run(0.1)
    bench.switch(4, True)
    bench.run(2.0)
    assert bench.firmware.state_machine.state is State.CALIBRATING
    assert bench.firmware.calibrating
    # 1001 samples at 400 Hz are 2.5 s.
    bench.run(0.6)
    assert bench.firmware.state_machine.state is State.ARMED
    found = [bench.parameters[f"GYRO_{axis}_BIAS"] for axis in "XYZ"]
    assert found == pytest.approx(bench.gyro, abs=1e-12)


def test_status_change_is_flagged_once(make_bench) -> None:
    bench = make_bench()
    bench.run(0.1)
    bench.firmware.status_changed = False
    bench.run(0.1)
    assert not bench.firmware.status_changed
    bench.arm()
    assert bench.firmware.status_changed
