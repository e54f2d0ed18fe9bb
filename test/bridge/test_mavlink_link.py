"""A flight controller on its MAVLink link, with a program that uses nothing of the package."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from mavlink_client import COMMANDS, MavlinkClient, frame, parameter

from rosflight_py_sim import __version__
from rosflight_py_sim.bridge.mavlink_port import MOST_PROGRAMS, MavlinkPort
from rosflight_py_sim.firmware import FirmwareParameters
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.step.ports import Output
from rosflight_py_sim.step.topics import (
    BARO,
    BATTERY,
    DIFF_PRESSURE,
    GNSS_FIX,
    IMU_TEMPERATURE,
    MAG,
    RANGE,
    AirspeedSample,
    BaroSample,
    BatterySample,
    GnssSample,
    MagSample,
    PulseWidths,
    RangeSample,
    TemperatureSample,
)
from test.bridge.board_bench import FIRST_NS, Bench

NUMBER_OF_PARAMETERS = len(FirmwareParameters().names())
SUCCESS, FAILED = 1, 0


def test_board_sends_to_its_peer_at_the_rates_of_the_firmware(bench: Bench) -> None:
    bench.run(2.0)
    messages = bench.program.messages()
    assert {(one.system, one.component) for one in messages} == {(1, 250)}
    counts: dict[str, int] = {}
    for one in messages:
        counts[one.name] = counts.get(one.name, 0) + 1
    # The status is also sent on each change.
    assert 20 <= counts.pop("ROSFLIGHT_STATUS") <= 24
    assert counts == {
        "HEARTBEAT": 2,
        "SMALL_IMU": 800,
        "ATTITUDE_QUATERNION": 800,
        "ROSFLIGHT_OUTPUT_RAW": 100,
        "RC_CHANNELS": 100,
    }


def test_streams_have_the_values_of_the_firmware_and_times_since_its_start(bench: Bench) -> None:
    bench.receive(IMU_TEMPERATURE, TemperatureSample(FIRST_NS, 20.0))
    bench.run(0.5)
    firmware = bench.part.firmware
    messages = bench.program.messages()
    last = {one.name: one.fields for one in messages}
    assert last["SMALL_IMU"]["time_boot_us"] == 497_500
    assert last["SMALL_IMU"]["zacc"] == pytest.approx(firmware.imu_accel[2], rel=1e-6)
    assert last["SMALL_IMU"]["temperature"] == pytest.approx(293.15)
    attitude = last["ATTITUDE_QUATERNION"]
    assert attitude["time_boot_ms"] == 497
    assert [attitude[f"q{k}"] for k in range(1, 5)] == pytest.approx(firmware.attitude.tolist(), abs=1e-6)
    assert last["ROSFLIGHT_OUTPUT_RAW"]["stamp"] == 480
    assert last["ROSFLIGHT_OUTPUT_RAW"]["values"] == pytest.approx(firmware.outputs.tolist())
    assert last["RC_CHANNELS"]["channels"][:8] == bench.rc
    status = last["ROSFLIGHT_STATUS"]
    assert (status["armed"], status["failsafe"], status["error_code"]) == (0, 0, 0)
    assert last["HEARTBEAT"] == {
        "custom_mode": 0,
        "type": 2,
        "autopilot": 0,
        "base_mode": 0,
        "system_status": 0,
        "mavlink_version": 3,
    }


def test_each_measurement_is_sent_as_it_arrives(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.messages()
    t = bench.time_ns
    bench.receive(MAG, MagSample(t, (2e-5, 1e-6, 4e-5)))
    bench.receive(BARO, BaroSample(t, 0.0, 86_000.0, 280.0))
    bench.receive(DIFF_PRESSURE, AirspeedSample(t, 0.0, 100.0, 281.0))
    bench.receive(RANGE, RangeSample(t, 0.1, 0.25, 8.0, 3.5))
    bench.receive(BATTERY, BatterySample(t, 16.0, 2.0))
    fix = GnssSample(t, 3, 12, 40.25, -111.65, 1390.0, 0.5, 0.75, 1.0, -2.0, 0.5, 0.1, 1_700_000_000, 250)
    bench.receive(GNSS_FIX, fix)
    firmware = bench.part.firmware
    sent = {one.name: one.fields for one in bench.program.messages()}
    assert sent["SMALL_MAG"] == pytest.approx({"xmag": 2e-5, "ymag": 1e-6, "zmag": 4e-5})
    assert sent["SMALL_BARO"] == pytest.approx(
        {"altitude": firmware.air.altitude, "pressure": 86_000.0, "temperature": 280.0}, rel=1e-6
    )
    assert sent["DIFF_PRESSURE"] == pytest.approx(
        {"velocity": firmware.air.airspeed, "diff_pressure": 100.0, "temperature": 281.0}, rel=1e-6
    )
    assert sent["SMALL_RANGE"] == {"range": 3.5, "max_range": 8.0, "min_range": 0.25, "type": 0}
    assert sent["ROSFLIGHT_BATTERY_STATUS"]["battery_voltage"] == pytest.approx(firmware.battery.voltage, rel=1e-6)
    assert sent["ROSFLIGHT_GNSS"] == pytest.approx(
        {
            "seconds": 1_700_000_000,
            "nanos": 250,
            "fix_type": 3,
            "num_sat": 12,
            "lat": 40.25,
            "lon": -111.65,
            "height": 1390.0,
            "vel_n": 1.0,
            "vel_e": -2.0,
            "vel_d": 0.5,
            "h_acc": 0.5,
            "v_acc": 0.75,
            "s_acc": 0.1,
            "rosflight_timestamp": 100_000,
        }
    )


def test_all_parameters_are_listed_one_a_pass(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("PARAM_REQUEST_LIST", target_system=1)
    listed = bench.answer("PARAM_VALUE", 0.02 + NUMBER_OF_PARAMETERS * 2.5e-3)
    assert [one["param_index"] for one in listed] == list(range(NUMBER_OF_PARAMETERS))
    assert {one["param_count"] for one in listed} == {NUMBER_OF_PARAMETERS}
    values = dict(map(parameter, listed))
    expected = bench.part.firmware.parameters.snapshot()
    assert values == pytest.approx(expected, rel=1e-6)
    assert {name for name, value in values.items() if isinstance(value, int)} == {
        name for name, value in expected.items() if isinstance(value, int)
    }


def test_parameter_is_read_by_name_and_by_index(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("PARAM_REQUEST_READ", target_system=1, param_index=-1, param_id=b"FAILSAFE_THR")
    (by_name,) = bench.answer("PARAM_VALUE")
    assert parameter(by_name) == ("FAILSAFE_THR", pytest.approx(0.3))
    bench.program.send("PARAM_REQUEST_READ", target_system=1, param_index=by_name["param_index"])
    assert bench.answer("PARAM_VALUE") == [by_name]


def test_parameter_that_is_set_is_reported_and_has_its_effect(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.set_parameter("PID_ROLL_ANG_P", 0.25)
    bench.program.set_parameter("RC_NUM_CHN", 7)
    assert list(map(parameter, bench.answer("PARAM_VALUE"))) == [("PID_ROLL_ANG_P", 0.25), ("RC_NUM_CHN", 7)]
    assert bench.part.firmware.parameters["PID_ROLL_ANG_P"] == 0.25
    # A value that is set again is reported again.
    bench.program.set_parameter("RC_NUM_CHN", 7)
    assert list(map(parameter, bench.answer("PARAM_VALUE"))) == [("RC_NUM_CHN", 7)]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("FAILSAFE_THR", 3.0, "firmware parameter 'FAILSAFE_THR': 3.0 given;"),
        ("FAILSAFE_THR", 1, "'FAILSAFE_THR': type 6 given; allowed: 9"),
        ("RC_NUM_CHN", 7.0, "'RC_NUM_CHN': type 9 given; allowed: 6"),
        ("PID_ROLL_ANG_P", math.nan, "firmware parameter 'PID_ROLL_ANG_P': nan given;"),
        ("NO_SUCH", 1.0, "there is no firmware parameter 'NO_SUCH'"),
    ],
)
def test_refused_parameter_keeps_its_value_and_the_reason_is_sent(
    bench: Bench, name: str, value: float, text: str
) -> None:
    before = bench.part.firmware.parameters.snapshot()
    bench.program.send("HEARTBEAT")
    bench.run(0.1)
    bench.program.messages()
    bench.program.set_parameter(name, value)
    bench.run(0.02)
    messages = bench.program.messages()
    kept = [parameter(one.fields) for one in messages if one.name == "PARAM_VALUE"]
    assert kept == ([(name, pytest.approx(before[name], rel=1e-6))] if name in before else [])
    sent = [one.fields["text"].rstrip(b"\0").decode() for one in messages if one.name == "STATUSTEXT"]
    assert " ".join(sent).startswith(text)
    assert bench.part.firmware.parameters.snapshot() == before
    assert bench.port.counters["refused_parameters"] == 1


def test_requests_for_another_system_are_ignored_and_counted(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench("SYS_ID 3")
    bench.run(0.1)
    assert {one.system for one in bench.program.messages()} == {3}
    bench.program.set_parameter("RC_NUM_CHN", 7)
    bench.program.send("PARAM_REQUEST_LIST", target_system=1)
    bench.program.send("PARAM_REQUEST_READ", target_system=1, param_index=0)
    assert bench.answer("PARAM_VALUE") == []
    assert bench.port.counters["other_system"] == 3
    bench.program.set_parameter("RC_NUM_CHN", 7, system=3)
    assert list(map(parameter, bench.answer("PARAM_VALUE"))) == [("RC_NUM_CHN", 7)]


def test_calibrations_are_acknowledged_and_done(bench: Bench) -> None:
    bench.run(0.1)
    bench.receive(BARO, BaroSample(bench.time_ns, 0.0, 86_000.0, 280.0))
    bench.receive(DIFF_PRESSURE, AirspeedSample(bench.time_ns, 0.0, 1.0, 280.0))
    calibrations = bench.part.firmware.calibrations
    assert bench.acknowledged("BARO_CALIBRATION") == SUCCESS and calibrations.baro.running
    assert bench.acknowledged("AIRSPEED_CALIBRATION") == SUCCESS and calibrations.airspeed.running
    assert bench.acknowledged("GYRO_CALIBRATION") == SUCCESS and calibrations.imu.running
    bench.run(3.0)
    assert not calibrations.imu.running
    assert bench.acknowledged("ACCEL_CALIBRATION") == SUCCESS and calibrations.imu.running
    bench.rc[0] = 1600
    bench.run(0.1)
    assert bench.acknowledged("RC_CALIBRATION") == SUCCESS
    assert bench.part.firmware.parameters["X_EQ_TORQUE"] != 0.0


def test_calibration_without_a_sample_fails(bench: Bench) -> None:
    bench.run(0.1)
    assert bench.acknowledged("BARO_CALIBRATION") == FAILED


def test_parameters_are_written_read_and_reset_to_defaults(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    file = tmp_path / "memory.yaml"
    bench = make_bench(param_storage_file=str(file))
    bench.run(0.1)
    assert bench.acknowledged("READ_PARAMS") == FAILED
    bench.program.set_parameter("RC_NUM_CHN", 7)
    bench.run(0.02)
    assert bench.acknowledged("WRITE_PARAMS") == SUCCESS
    assert "{name: RC_NUM_CHN, type: 6, value: 7}" in file.read_text()
    parameters = bench.part.firmware.parameters
    assert not parameters.unsaved
    assert bench.acknowledged("SET_PARAM_DEFAULTS") == SUCCESS
    assert parameters.snapshot() == FirmwareParameters().snapshot()
    assert bench.acknowledged("READ_PARAMS") == SUCCESS
    assert parameters["RC_NUM_CHN"] == 7 and not parameters.unsaved


def test_version_is_sent_on_request(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.command("SEND_VERSION")
    bench.run(0.02)
    messages = {one.name: one.fields for one in bench.program.messages()}
    assert messages["ROSFLIGHT_VERSION"]["version"].rstrip(b"\0").decode() == f"rosflight_py_sim {__version__}"
    assert messages["ROSFLIGHT_CMD_ACK"] == {"command": 10, "success": SUCCESS}


def test_reboot_is_acknowledged_and_restarts_firmware_and_time(bench: Bench) -> None:
    bench.run(0.5)
    before = bench.part.firmware
    bench.program.set_parameter("RC_NUM_CHN", 7)
    bench.run(0.02)
    assert bench.acknowledged("REBOOT") == SUCCESS
    assert bench.part.firmware is not before and bench.part.board.reboots == 1
    assert bench.part.firmware.parameters["RC_NUM_CHN"] == 8
    assert bench.answer("SMALL_IMU")[-1]["time_boot_us"] < 50_000
    # The link goes on.
    bench.program.set_parameter("RC_NUM_CHN", 6)
    assert list(map(parameter, bench.answer("PARAM_VALUE"))) == [("RC_NUM_CHN", 6)]


@pytest.mark.parametrize("command", ["REBOOT_TO_BOOTLOADER", "RESET_ORIGIN", "SEND_ALL_CONFIG_INFOS"])
def test_command_without_effect_in_simulation_fails(bench: Bench, command: str) -> None:
    before = bench.part.firmware
    bench.program.send("HEARTBEAT")
    bench.run(0.1)
    assert bench.acknowledged(command) == FAILED
    assert bench.part.firmware is before


def test_every_command_fails_while_armed(bench: Bench) -> None:
    bench.run(0.2)
    bench.arm()
    assert {bench.acknowledged(command) for command in COMMANDS} == {FAILED}
    assert bench.part.board.reboots == 0
    assert bench.port.counters["refused_commands"] == len(COMMANDS)


def test_reason_of_a_refusal_is_sent_once(bench: Bench) -> None:
    bench.program.send("HEARTBEAT")
    bench.run(0.2)
    bench.arm()
    bench.program.messages()
    bench.program.command("WRITE_PARAMS")
    bench.run(0.02)
    assert bench.texts() == ["write params: refused while armed"]


def test_offboard_command_takes_effect_after_the_latency_of_the_link(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("OFFBOARD_CONTROL", mode=2, u=[0.0, 0.0, 0.4, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0])
    active = []
    for _ in range(6):
        bench.run(2.5e-3)
        active.append(bench.part.firmware.status.offboard)
    # Sent after a pass, it takes effect in the first pass at least 6 ms later.
    assert active == [False, False, True, True, True, True]
    values, types = bench.part.firmware.command.combined
    assert values[:6] == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.2, 0.3])
    assert types[3:6].tolist() == [1.0, 1.0, 0.0]


def test_offboard_command_expires(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("OFFBOARD_CONTROL", mode=2)
    bench.run(0.05)
    assert bench.part.firmware.status.offboard
    bench.run(0.1)
    assert not bench.part.firmware.status.offboard


def test_auxiliary_command_drives_free_outputs(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("ROSFLIGHT_AUX_CMD", type_array=[1] * 14, aux_cmd_array=[0.4] * 14)
    bench.run(0.02)
    assert bench.part.firmware.outputs[9] == pytest.approx(0.7)


def test_external_attitude_corrects_the_estimate(bench: Bench) -> None:
    bench.run(0.1)
    half = math.radians(10.0) / 2.0
    for _ in range(40):
        bench.program.send("EXTERNAL_ATTITUDE", qw=math.cos(half), qz=math.sin(half))
        bench.run(0.02)
    # Only the external attitude shows the heading.
    assert math.degrees(bench.part.firmware.euler[2]) > 3.0


def test_time_synchronisation_is_answered_with_the_time_since_the_start(bench: Bench) -> None:
    bench.run(0.1)
    bench.program.send("TIMESYNC", tc1=0, ts1=123_456_789)
    (answer,) = bench.answer("TIMESYNC")
    assert answer["ts1"] == 123_456_789
    # Sent after the pass at 97.5 ms, it is answered in the pass at 105 ms.
    assert answer["tc1"] == 105_000_000
    bench.program.send("TIMESYNC", tc1=5, ts1=6)
    assert bench.answer("TIMESYNC") == []


def test_log_lines_are_kept_until_the_first_heartbeat(bench: Bench) -> None:
    bench.run(0.2)
    bench.rc[2], bench.rc[4] = 1500, 2000
    bench.run(0.1)
    assert bench.texts() == []
    bench.program.send("HEARTBEAT")
    bench.run(0.02)
    assert "cannot arm: the throttle stick is not low" in bench.texts()


def test_invalid_messages_are_counted_and_have_no_effect(bench: Bench) -> None:
    bench.program.send("HEARTBEAT")
    bench.run(0.1)
    bench.program.messages()
    bench.program.send("OFFBOARD_CONTROL", mode=5)
    bench.program.send("OFFBOARD_CONTROL", mode=2, u=[math.nan] * 10)
    bench.program.send("ROSFLIGHT_AUX_CMD", type_array=[3] * 14)
    bench.program.send("ROSFLIGHT_AUX_CMD", type_array=[1] * 14, aux_cmd_array=[math.inf] * 14)
    bench.program.send("EXTERNAL_ATTITUDE")
    bench.program.send("EXTERNAL_ATTITUDE", qw=math.nan)
    bench.run(0.02)
    assert bench.port.counters["invalid"] == 6
    assert not bench.part.firmware.status.offboard
    bench.program.send_bytes(b"\xfe" * 300)
    bench.program.send_bytes(b"no frame at all")
    bench.program.send_bytes(frame("HEARTBEAT")[:-1] + b"\0")
    bench.program.send_bytes(bytes(9000))
    bench.run(0.02)
    counters = bench.port.counters
    assert counters["stray_bytes"] and counters["wrong_checksum"] and counters["too_long"] == 1
    assert bench.acknowledged("SEND_VERSION") == SUCCESS


def test_flood_is_limited_and_another_program_is_still_served(bench: Bench) -> None:
    bench.run(0.05)
    flooding = MavlinkClient(bench.port.own[1])
    try:
        bench.program.send("HEARTBEAT")
        flooding.send("HEARTBEAT")
        bench.run(0.05)
        for _ in range(5000):
            flooding.send("OFFBOARD_CONTROL", mode=2)
        read = bench.port.counters["frames"]
        bench.run(2.5e-3)
        # One pass reads at most the burst that the inbox permits, 16 KiB with 128 bytes for each datagram.
        assert bench.port.counters["frames"] - read < 200
        bench.program.command("SEND_VERSION")
        bench.run(1.0)
        assert bench.program.received("ROSFLIGHT_VERSION")
    finally:
        flooding.close()


def test_every_program_receives_and_further_ones_than_the_limit_are_refused(bench: Bench) -> None:
    programs = [MavlinkClient(bench.port.own[1]) for _ in range(MOST_PROGRAMS + 1)]
    try:
        for one in programs:
            one.send("HEARTBEAT")
        bench.run(0.1)
        assert [bool(one.received("SMALL_IMU")) for one in programs] == [True] * MOST_PROGRAMS + [False]
        assert bench.program.received("SMALL_IMU")
        assert bench.port.counters["too_many_programs"] == 1
    finally:
        for one in programs:
            one.close()


def test_port_that_is_taken_is_refused_by_name(bench: Bench) -> None:
    with pytest.raises(ParameterError, match=r"'mavlink.address' and 'mavlink.port': 127.0.0.1:\d+ given, .* in use"):
        MavlinkPort(bench.values, bench.log)


def test_peer_that_is_the_port_itself_is_refused(bench: Bench) -> None:
    own = {**bench.values, "mavlink.peer_port": bench.port.own[1]}
    with pytest.raises(ParameterError, match=r"'mavlink.peer_port': .* given, which is the flight controller's own"):
        MavlinkPort(own, bench.log)


def test_messages_sent_between_the_same_passes_give_the_same_outputs(make_bench: Callable[..., Bench]) -> None:
    flights = []
    for _ in range(2):
        bench = make_bench()
        pulses: list[PulseWidths] = []
        vars(bench.part).update(send_pwm=pulses.append)
        bench.run(0.2)
        bench.arm()
        for k in range(50):
            bench.rc[2] = 1700
            bench.program.send("OFFBOARD_CONTROL", mode=2, u=[0.0, 0.0, 0.01 * k, 0.1, 0.0, 0.0, *[0.0] * 4])
            bench.run(0.01)
        flights.append(pulses)
    assert flights[0] == flights[1]
    assert len({one.pulse_us for one in map(_as_tuple, flights[0])}) > 10


def _as_tuple(pulses: PulseWidths) -> PulseWidths:
    return PulseWidths(pulses.time_ns, tuple(pulses.pulse_us))


def test_every_output_that_a_program_may_want_is_sent(bench: Bench) -> None:
    # Reports that are not messages of the dialect: euler angles follow from the attitude, the IMU's temperature is in
    # SMALL_IMU, the version is sent on request, errors are bits of the status, parameters have messages of their own.
    derived = {"send_pwm", "send_euler", "send_temperature", "send_version", "send_error"}
    derived |= {"send_params_changed", "send_unsaved_params"}
    assert bench.part.link is not None
    assert {one.name for one in bench.part.ports(Output)} - derived == set(bench.part.link.senders)
