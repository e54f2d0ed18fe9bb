"""Logs of ROSflight, PX4 and ArduPilot show what was written into them, in the same units and axes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from log_writers import write_dataflash, write_recording, write_ulog

from proof.identification import flown_messages, log_of_messages
from rosflight_py_sim.identification.flight_log import CHANNELS, FlightLogError
from rosflight_py_sim.identification.log_files import read_log
from rosflight_py_sim.step.topics import (
    BATTERY,
    CORRECTED_AIRSPEED,
    CORRECTED_BATTERY,
    CORRECTED_GNSS,
    GNSS_FIX,
    IMU_DATA,
    OUTPUT_RAW,
    PWM_OUTPUT,
    STATUS,
    AirspeedSample,
    Outputs,
    StatusReport,
)
from rosflight_py_sim.vehicles.physics_model import VehicleClass

MOTORS = (0, 1, 2, 3)
ROTORCRAFT, FIXED_WING = VehicleClass.ROTORCRAFT, VehicleClass.FIXED_WING


def test_recording_shows_the_messages_that_were_recorded(tmp_path: Path) -> None:
    messages, _ = flown_messages(1, seconds=1.0)
    file = tmp_path / "flight.mcap"
    rows = {IMU_DATA: IMU_DATA, PWM_OUTPUT: PWM_OUTPUT, GNSS_FIX: CORRECTED_GNSS, BATTERY: CORRECTED_BATTERY}
    status = [StatusReport(k * 10**8, k > 2, False, 0, False, 0, 0, 0, 0) for k in range(6)]
    airspeed = [AirspeedSample(k * 10**8, 7.5 + k, 40.0, 280.0) for k in range(6)]
    write_recording(
        file,
        {rows[row]: messages[row.name] for row in rows} | {STATUS: status, CORRECTED_AIRSPEED: airspeed},
    )
    log, expected = read_log(file, MOTORS), log_of_messages("flight", messages)
    assert (log.program, log.missing) == ("ROSflight", [])
    # Some messages carry 32-bit numbers.
    # The multirotor's own pitot tube is not recorded here.
    del expected.channels["airspeed"]
    for name, series in expected.channels.items():
        np.testing.assert_allclose(log.channels[name].time_s, series.time_s, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(log.channels[name].values, series.values, rtol=1e-6, atol=1e-3, err_msg=name)
    assert log.altitude == pytest.approx(expected.altitude, abs=1e-3)
    assert log.channels["armed"].values[:, 0].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert log.channels["airspeed"].values[:, 0].tolist() == [7.5, 8.5, 9.5, 10.5, 11.5, 12.5]


def test_commands_of_a_real_board_become_pulse_widths(tmp_path: Path) -> None:
    messages, _ = flown_messages(1, seconds=0.5)
    file = tmp_path / "board.mcap"
    commands = (0.25, -0.5, *(0.0,) * 12)
    write_recording(
        file,
        {IMU_DATA: messages[IMU_DATA.name], OUTPUT_RAW: [Outputs(k * 10**7, commands) for k in range(3)]},
    )
    assert read_log(file, motors=[0]).channels["outputs"].values[0, :3].tolist() == [1250.0, 1250.0, 1500.0]


def test_px4_log_shows_rates_forces_attitude_velocity_and_outputs(tmp_path: Path) -> None:
    file = tmp_path / "flight.ulg"
    times = [1_000_000 + 20_000 * k for k in range(10)]
    half = math.sqrt(0.5)
    write_ulog(
        file,
        {
            "sensor_combined": (
                [("gyro_rad", "3f"), ("accelerometer_m_s2", "3f")],
                [(t, 0.1, 0.2, 0.3, 1.0, 2.0, -9.5) for t in times],
            ),
            "vehicle_attitude": ([("q", "4f")], [(t, half, 0.0, 0.0, half) for t in times]),
            "vehicle_local_position": (
                [(name, "f") for name in ("vx", "vy", "vz", "x", "y", "z", "ref_alt")],
                [(t, 3.0, -2.0, 0.5, 10.0, 20.0, -30.0, 488.0) for t in [*times, times[-1] + 200_000]],
            ),
            "actuator_outputs": ([("output", "16f")], [(t, 1500.0, *[1100.0] * 15) for t in times]),
            "battery_status": ([("voltage_v", "f"), ("current_a", "f")], [(t, 15.5, -1.0) for t in times]),
            "vehicle_status": (
                [("arming_state", "B"), ("vehicle_type", "B")],
                [(t, 2 if k > 4 else 1, 1) for k, t in enumerate(times)],
            ),
        },
    )
    log = read_log(file, MOTORS)
    assert (log.program, log.vehicle, log.missing) == ("PX4", "rotorcraft", ["airspeed"])
    first = {name: log.channels[name].values[0].tolist() for name in log.channels}
    assert first["gyro"] == pytest.approx([0.1, 0.2, 0.3])
    assert first["accel"] == pytest.approx([1.0, 2.0, -9.5])
    assert first["attitude"] == pytest.approx([half, 0.0, 0.0, half])
    assert first["velocity"] == pytest.approx([3.0, -2.0, 0.5])
    assert first["position"] == pytest.approx([10.0, 20.0, -30.0])
    assert first["outputs"][:2] == [1500.0, 1100.0]
    # The current of -1 is one that PX4 does not know.
    assert first["battery"][0] == pytest.approx(15.5)
    assert math.isnan(first["battery"][1])
    assert log.altitude == pytest.approx(488.0)
    assert log.channels["gyro"].time_s[:2] == pytest.approx([1.0, 1.02])
    assert log.channels["armed"].values[:, 0].tolist() == [0.0] * 5 + [1.0] * 5


def test_outputs_of_a_px4_log_are_those_that_are_logged_more_often(tmp_path: Path) -> None:
    often, seldom = [1_000_000 + 2_500 * k for k in range(40)], [1_000_000, 1_100_000]
    motors = ([("control", "12f")], [(t, 0.25, *[0.5] * 11) for t in often])
    for name, pulses in (("fast", often), ("slow", seldom)):
        file = tmp_path / f"{name}.ulg"
        outputs = ([("output", "16f")], [(t, *[1400.0] * 16) for t in pulses])
        write_ulog(file, {"actuator_outputs": outputs, "actuator_motors": motors})
    fast, slow = (read_log(tmp_path / f"{name}.ulg", MOTORS) for name in ("fast", "slow"))
    assert fast.channels["outputs"].values[0, :2].tolist() == [1400.0, 1400.0]
    assert slow.channels["outputs"].values[0, :2].tolist() == [1250.0, 1500.0]
    assert slow.notes == [
        "the outputs are those of actuator_motors and actuator_servos: pulse widths are logged less often"
    ]


@pytest.mark.parametrize(
    ("parameters", "vehicle_type", "name", "vehicle_class", "motors"),
    [
        ({"MAV_TYPE": 13, "SYS_AUTOSTART": 6001}, 1, "hexarotor (MAV_TYPE 13, SYS_AUTOSTART 6001)", ROTORCRAFT, 6),
        ({"MAV_TYPE": 1}, 2, "fixed wing (MAV_TYPE 1)", FIXED_WING, 0),
        # A VTOL aircraft that flies as a fixed wing.
        ({"MAV_TYPE": 22}, 2, "VTOL aircraft (MAV_TYPE 22)", None, 0),
        ({}, 2, "fixed wing", FIXED_WING, 0),
    ],
)
def test_px4_log_names_the_type_of_its_vehicle(
    tmp_path: Path,
    parameters: dict[str, int],
    vehicle_type: int,
    name: str,
    vehicle_class: VehicleClass | None,
    motors: int,
) -> None:
    file = tmp_path / "flight.ulg"
    status = ([("vehicle_type", "B")], [(t, vehicle_type) for t in (1000, 2000)])
    write_ulog(file, {"vehicle_status": status}, parameters)
    assert read_log(file, MOTORS).kind == (name, vehicle_class, motors)


@pytest.mark.parametrize(
    ("program", "parameters", "name", "vehicle_class", "motors"),
    [
        ("ArduCopter", {"FRAME_CLASS": 2}, "hexarotor (FRAME_CLASS 2)", ROTORCRAFT, 6),
        ("ArduCopter", {"FRAME_CLASS": 6}, "helicopter (FRAME_CLASS 6)", None, 0),
        ("ArduPlane", {}, "fixed wing", FIXED_WING, 0),
        ("ArduPlane", {"Q_ENABLE": 1}, "VTOL aircraft (Q_ENABLE 1)", None, 0),
        ("ArduRover", {}, "rover", None, 0),
        ("APM:Copter", {"FRAME_CLASS": 3}, "octorotor (FRAME_CLASS 3)", ROTORCRAFT, 8),
        ("APM:Plane", {}, "fixed wing", FIXED_WING, 0),
    ],
)
def test_ardupilot_log_names_the_type_of_its_vehicle(
    tmp_path: Path,
    program: str,
    parameters: dict[str, int],
    name: str,
    vehicle_class: VehicleClass | None,
    motors: int,
) -> None:
    file = tmp_path / "flight.bin"
    # pymavlink scales the times by those of the IMU.
    imu = [(t, 0, *[0.0] * 6) for t in (1000, 2000)]
    write_dataflash(
        file,
        {
            "PARM": ("QNf", "TimeUS,Name,Value", [(1, one.encode(), value) for one, value in parameters.items()]),
            "MSG": ("QZ", "TimeUS,Message", [(2, f"{program} V4.5.7 (2a3dc4b7)".encode())]),
            "IMU": ("QBffffff", "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ", imu),
        },
    )
    assert read_log(file, MOTORS).kind == (name, vehicle_class, motors)


def test_ardupilot_log_shows_rates_forces_attitude_velocity_and_outputs(tmp_path: Path) -> None:
    file = tmp_path / "flight.bin"
    times = [1_000_000 + 20_000 * k for k in range(60)]
    axes = "GyrX,GyrY,GyrZ,AccX,AccY,AccZ"
    write_dataflash(
        file,
        {
            "MSG": (
                "QZ",
                "TimeUS,Message",
                [(1, b"ArduCopter V4.5.7 (2a3dc4b7)"), (2, b"Frame: QUAD/X")],
            ),
            "IMU": (
                "QBffffff",
                f"TimeUS,I,{axes}",
                # A second IMU is not read.
                [(t, unit, 0.1, 0.2, 0.3, 1.0, 2.0, -9.5 + unit) for t in times for unit in (0, 1)],
            ),
            "ATT": ("Qfff", "TimeUS,Roll,Pitch,Yaw", [(t, 0.0, 0.0, 90.0) for t in times]),
            "XKF1": (
                "QBffffff",
                "TimeUS,C,VN,VE,VD,PN,PE,PD",
                [(t, core, 3.0 + core, -2.0, 0.5, 10.0, 20.0, -30.0) for t in times for core in (0, 1)],
            ),
            "RCOU": ("QHHHH", "TimeUS,C1,C2,C3,C4", [(t, 1500, 1100, 1100, 1100) for t in times]),
            "ARSP": ("QBf", "TimeUS,I,Airspeed", [(t, 0, 20.0) for t in times]),
            "BAT": ("QBff", "TimeUS,Instance,Volt,Curr", [(t, 0, 15.5, 12.0) for t in times]),
            "GPS": (
                "QBBLLf",
                "TimeUS,I,Status,Lat,Lng,Alt",
                [(t, 0, 3, 401234567, -1112345678, 488.0) for t in times[::10]],
            ),
            "ARM": ("QB", "TimeUS,ArmState", [(times[0], 0), (times[30], 1)]),
        },
    )
    log = read_log(file, MOTORS)
    assert (log.program, log.vehicle, log.missing) == ("ArduPilot", "ArduCopter, quad/x", [])
    first = {name: log.channels[name].values[0].tolist() for name in log.channels}
    assert first["gyro"] == pytest.approx([0.1, 0.2, 0.3])
    assert first["accel"] == pytest.approx([1.0, 2.0, -9.5])
    half = math.sqrt(0.5)
    assert first["attitude"] == pytest.approx([half, 0.0, 0.0, half])
    assert first["velocity"] == pytest.approx([3.0, -2.0, 0.5])
    assert first["position"] == pytest.approx([10.0, 20.0, -30.0])
    assert first["outputs"][:5] == [1500.0, 1100.0, 1100.0, 1100.0, 0.0]
    assert first["battery"] == pytest.approx([15.5, 12.0])
    # At 488 m, the density of the standard atmosphere is 0.954 times that at sea level.
    assert first["airspeed"] == pytest.approx([20.0 / math.sqrt(0.9540)], rel=1e-3)
    assert log.altitude == pytest.approx(488.0)
    assert log.channels["armed"].values[:, 0].tolist() == [0.0, 1.0]


def test_log_of_an_old_ardupilot_shows_the_same(tmp_path: Path) -> None:
    file = tmp_path / "flight.bin"
    times = [5000 + 20 * k for k in range(60)]
    write_dataflash(
        file,
        {
            "MSG": ("Z", "Message", [(1, b"APM:Copter V3.3-dev (ae3192b8)"), (2, b"Frame: HEXA"), (3, b"Frame: HEXA")]),
            "IMU": (
                "Iffffff",
                "TimeMS,GyrX,GyrY,GyrZ,AccX,AccY,AccZ",
                [(t, 0.1, 0.2, 0.3, 1.0, 2.0, -9.5) for t in times],
            ),
            "ATT": ("IccC", "TimeMS,Roll,Pitch,Yaw", [(t, 0, 0, 9000) for t in times]),
            "EKF1": ("Iffffff", "TimeMS,VN,VE,VD,PN,PE,PD", [(t, 3.0, -2.0, 0.5, 10.0, 20.0, -30.0) for t in times]),
            "RCOU": ("IHHHH", "TimeMS,Ch1,Ch2,Ch3,Ch4", [(t, 1500, 1100, 1100, 1100) for t in times]),
            # No battery monitor at first.
            "CURR": (
                "IhhhHf",
                "TimeMS,Throttle,Volt,Curr,Vcc,CurrTot",
                [(t, 0, 1550 if t > 5500 else 0, 1200, 5000, 1.0) for t in times],
            ),
            # TimeMS is the satellites' time. The first place is no fix.
            "GPS": (
                "BIILLfI",
                "Status,TimeMS,Week,Lat,Lng,Alt,T",
                [(t, 3 if t > 5200 else 1, 147_999_000, 1823, 401234567, -1112345678, 0.1 * t, t) for t in times[::5]],
            ),
            "EV": ("B", "Id", [(5600, 10)]),
        },
    )
    log = read_log(file, MOTORS)
    assert (log.program, log.vehicle) == ("ArduPilot", "APM:Copter, hexa")
    assert log.kind == ("hexarotor", ROTORCRAFT, 6)
    assert log.missing == ["airspeed"]
    first = {name: log.channels[name].values[0].tolist() for name in log.channels}
    assert first["gyro"] == pytest.approx([0.1, 0.2, 0.3])
    half = math.sqrt(0.5)
    assert first["attitude"] == pytest.approx([half, 0.0, 0.0, half])
    assert first["velocity"] == pytest.approx([3.0, -2.0, 0.5])
    assert first["outputs"][:5] == [1500.0, 1100.0, 1100.0, 1100.0, 0.0]
    assert first["battery"] == pytest.approx([15.5, 12.0])
    assert log.channels["gyro"].time_s[[0, -1]].tolist() == pytest.approx([5.0, 6.18])
    assert log.channels["battery"].time_s[0] == pytest.approx(5.52)
    assert log.altitude == pytest.approx(530.0)
    # Armed by an event that has the time of the message before it.
    assert log.channels["armed"].values[:, 0].tolist() == [0.0, 1.0]
    assert log.channels["armed"].time_s.tolist() == pytest.approx([5.0, 5.6])


def test_what_is_no_flight_log_is_refused_by_name(tmp_path: Path) -> None:
    text, damaged = tmp_path / "notes.txt", tmp_path / "broken.ulg"
    text.write_text("nothing\n")
    damaged.write_bytes(b"ULog\x01\x12\x35\x01\x00")
    for file, reason in (
        (text, "allowed: MCAP recordings, PX4 logs"),
        (damaged, "damaged ULog file"),
        (tmp_path / "absent.bin", "No such file"),
    ):
        with pytest.raises(FlightLogError, match=reason) as refused:
            read_log(file, MOTORS)
        assert str(file) in str(refused.value)


def test_log_names_all_channels_that_it_lacks(tmp_path: Path) -> None:
    messages, _ = flown_messages(1, seconds=0.5)
    file = tmp_path / "imu.mcap"
    write_recording(file, {IMU_DATA: messages[IMU_DATA.name]})
    log = read_log(file, MOTORS)
    assert log.missing == [name for name in CHANNELS if name not in ("gyro", "accel", "attitude")]
    with pytest.raises(FlightLogError, match=r"has no velocity \(velocity over the ground, NED\), outputs"):
        log.require(["gyro", "velocity", "outputs"])
