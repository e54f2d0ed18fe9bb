"""Source of command for each axis: scaling of the sticks, override by switch and stick, time-outs, lower throttle."""

from __future__ import annotations

import pytest

from rosflight_py_sim.firmware import CommandMode, CommandType, Override

ANGLES = CommandMode.ROLL_PITCH_YAWRATE_THROTTLE
RATES = CommandMode.ROLLRATE_PITCHRATE_YAWRATE_THROTTLE
COMMAND = [0.0, 0.0, 0.4, 0.1, -0.2, 0.3, 1.0, 2.0, 3.0, 4.0]
FX, FY, FZ, QX, QY, QZ = range(6)


def flying(make_bench, **parameters):
    """A bench under the computer's command, throttle stick at 0.8."""
    bench = make_bench(**parameters)
    bench.sticks(throttle=0.8)
    bench.command = (ANGLES, 0, COMMAND)
    bench.run(0.1)
    return bench


def values(bench):
    return bench.firmware.command.combined[0]


def test_sticks_command_angles_yaw_rate_and_throttle(make_bench) -> None:
    bench = make_bench(RC_MAX_ROLL=0.5, RC_MAX_PITCH=0.4, RC_MAX_YAWRATE=1.2)
    bench.sticks(roll=1.0, pitch=-0.5, throttle=0.25, yaw=0.5)
    bench.run(0.1)
    assert values(bench)[:6] == pytest.approx([0, 0, 0.25, 0.5, -0.2, 0.6], abs=1e-12)
    assert bench.firmware.status.control_mode == ANGLES


def test_sticks_command_rates_when_selected_by_parameter_or_switch(make_bench) -> None:
    bench = make_bench(RC_ATT_MODE=0, RC_MAX_ROLLRATE=3.0, RC_MAX_PITCHRATE=2.0)
    bench.sticks(roll=1.0, pitch=-0.5)
    bench.run(0.1)
    assert values(bench)[QX : QY + 1] == pytest.approx([3.0, -1.0], abs=1e-12)
    assert bench.firmware.status.control_mode == RATES
    bench.parameters.set("RC_ATT_CTRL_CHN", 6)
    bench.switch(6, True)
    bench.run(0.1)
    assert values(bench)[QX] == pytest.approx(0.786, abs=1e-12)
    assert bench.firmware.status.control_mode == ANGLES


def test_fixed_wing_passes_sticks_through(make_bench) -> None:
    bench = make_bench(FIXED_WING=1, PRIMARY_MIXER=9, RC_F_AXIS=0)
    bench.sticks(roll=0.5, pitch=-0.5, throttle=0.25, yaw=0.1)
    bench.run(0.1)
    assert values(bench)[:6] == pytest.approx([0.25, 0, 0, 0.5, -0.5, 0.1], abs=1e-12)
    assert set(bench.firmware.command.combined[1, :6]) == {CommandType.PASS_THROUGH}
    assert bench.firmware.status.control_mode == CommandMode.PASS_THROUGH


def test_reversed_switch_is_on_at_the_low_end(make_bench) -> None:
    bench = flying(make_bench, SWITCH_6_DIR=-1)
    assert bench.firmware.status.rc_override & Override.ATT_SWITCH
    bench.switch(5, True)
    bench.run(0.05)
    assert not bench.firmware.status.rc_override & Override.ATT_SWITCH


def test_offboard_commands_apply_without_override(make_bench) -> None:
    bench = flying(make_bench)
    assert values(bench) == pytest.approx(COMMAND)
    assert bench.firmware.status.rc_override == 0
    assert bench.firmware.status.offboard


def test_override_switches_give_the_pilot_their_axes(make_bench) -> None:
    bench = flying(make_bench, RC_THR_OVRD_CHN=6)
    bench.switch(5, True)
    bench.run(0.05)
    assert bench.firmware.status.rc_override == Override.ATT_SWITCH
    assert values(bench)[:6] == pytest.approx([0, 0, 0.4, 0, 0, 0])
    bench.switch(5, False)
    bench.switch(6, True)
    bench.run(0.05)
    assert bench.firmware.status.rc_override == Override.THR_SWITCH
    assert values(bench)[:6] == pytest.approx([0, 0, 0.8, *COMMAND[3:6]])


@pytest.mark.parametrize(
    ("stick", "axis", "flag"), [("roll", QX, Override.X), ("pitch", QY, Override.Y), ("yaw", QZ, Override.Z)]
)
def test_moved_stick_overrides_only_its_axis_until_lag_expires(make_bench, stick, axis, flag) -> None:
    bench = flying(make_bench, RC_OVRD_LAG_T=500)
    bench.sticks(throttle=0.8, **{stick: 0.2})
    bench.run(0.05)
    assert bench.firmware.status.rc_override == flag
    others = [i for i in (QX, QY, QZ) if i != axis]
    assert values(bench)[others] == pytest.approx([COMMAND[i] for i in others])
    assert values(bench)[axis] != COMMAND[axis]
    bench.sticks(throttle=0.8)
    # The lag counts from the last deviation checked, up to 500 ms before the stick returned.
    bench.run(0.02)
    assert bench.firmware.status.rc_override == flag
    bench.run(0.51)
    assert bench.firmware.status.rc_override == 0
    assert values(bench)[axis] == COMMAND[axis]


def test_small_deflection_does_not_override(make_bench) -> None:
    bench = flying(make_bench, RC_OVRD_DEV=0.1)
    bench.sticks(roll=0.09, throttle=0.8)
    bench.run(0.1)
    assert bench.firmware.status.rc_override == 0


def test_stick_scale_takes_effect_without_a_new_frame(make_bench) -> None:
    bench = flying(make_bench, RC_OVRD_LAG_T=500, RC_MAX_ROLL=0.4)
    bench.sticks(roll=0.5, throttle=0.8)
    bench.run(0.05)
    assert values(bench)[QX] == pytest.approx(0.2)
    bench.rc = None
    bench.parameters.set("RC_MAX_ROLL", 0.8)
    bench.run(0.02)
    assert values(bench)[QX] == pytest.approx(0.4)


def test_command_times_out_without_new_messages(make_bench) -> None:
    bench = make_bench(OFFBOARD_TIMEOUT=50)
    bench.sticks(throttle=0.8)
    bench.run(0.1)
    bench.firmware.set_command(bench.time_us, ANGLES, 0, COMMAND)
    last_us = bench.time_us
    inactive = 0x40 | 0x80 | 0x100 | 0x200
    bench.run(0.05)
    assert bench.firmware.status.rc_override == 0
    bench.rc = None
    bench.run(0.0025)
    assert bench.time_us - last_us == 52_500
    assert bench.firmware.status.rc_override == inactive
    assert not bench.firmware.status.offboard


def test_ignored_fields_stay_under_pilot_control(make_bench) -> None:
    bench = flying(make_bench)
    bench.command = (ANGLES, 1 << QY | 1 << FZ, COMMAND)
    bench.run(0.05)
    assert bench.firmware.status.rc_override == Override.OFFBOARD_Y_INACTIVE | Override.OFFBOARD_T_INACTIVE
    assert values(bench)[:6] == pytest.approx([0, 0, 0.8, COMMAND[3], 0, COMMAND[5]])


def test_lower_throttle_wins_when_configured(make_bench) -> None:
    bench = flying(make_bench, TAKE_MIN_THR=1)
    bench.sticks(throttle=0.3)
    bench.run(0.05)
    assert values(bench)[FZ] == pytest.approx(0.3)
    assert bench.firmware.status.rc_override == Override.T
    bench.parameters.set("TAKE_MIN_THR", 0)
    bench.run(0.05)
    assert values(bench)[FZ] == pytest.approx(0.4)


def test_pass_through_uses_all_ten_values(make_bench) -> None:
    bench = flying(make_bench)
    bench.command = (CommandMode.PASS_THROUGH, 0, COMMAND)
    bench.run(0.05)
    assert values(bench) == pytest.approx(COMMAND)
    assert set(bench.firmware.command.combined[1]) == {CommandType.PASS_THROUGH}
    assert bench.firmware.status.control_mode == CommandMode.PASS_THROUGH


@pytest.mark.parametrize(
    ("mode", "command"), [(7, COMMAND), (ANGLES, COMMAND[:9]), (ANGLES, [float("nan"), *COMMAND[1:]])]
)
def test_invalid_command_is_dropped_with_warning_and_previous_one_times_out(make_bench, mode, command) -> None:
    bench = flying(make_bench)
    bench.command = (mode, 0, command)
    bench.run(0.05)
    assert values(bench) == pytest.approx(COMMAND)
    assert bench.logged("command dropped")
    bench.run(0.1)
    assert not bench.firmware.status.offboard
