"""The topics and services of rosflight_io: the same inside sil_board and in a node of their own, over MAVLink."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports
from linked_vehicle import linked_multirotor
from rosflight_msgs.msg import AuxCommand, Command, Error
from rosflight_msgs.srv import ParamFile, ParamGet, ParamSet
from std_msgs.msg import Bool, String

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.rosflight_io import INSIDE, OURS, with_rosflight_io
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.step.qos import LATCHED, LATCHED_LIST
from rosflight_py_sim.step.topics import (
    ATTITUDE,
    ATTITUDE_EULER,
    CORRECTED_AIRSPEED,
    CORRECTED_BARO,
    CORRECTED_BATTERY,
    CORRECTED_GNSS,
    CORRECTED_MAG,
    CORRECTED_RANGE,
    CORRECTED_TEMPERATURE,
    IMU_DATA,
    OUTPUT_RAW,
    PARAMS_CHANGED,
    RC_RAW,
    STATUS,
)
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]

# At real time, as the programs on a link expect.
REAL_TIME = 1.0


@pytest.fixture(params=[INSIDE, OURS])
def flown(request: pytest.FixtureRequest, graph: MakeGraph) -> MakeGraph:
    """A function that makes a graph whose interface is that of the parameter; all parameters are known to it."""

    def make(*arguments: str, **options: Any) -> Any:
        g = graph(*arguments, vehicles=[linked_multirotor(request.param)], multiplier=REAL_TIME, **options).ready()
        g.spin_until(lambda: g.call("all_params_received").success, "all parameters")
        return g

    return make


def test_topics_have_the_rates_contents_and_stamps_of_the_firmware(flown: MakeGraph) -> None:
    g = flown()
    rates = {
        ATTITUDE: 400,
        ATTITUDE_EULER: 400,
        IMU_DATA: 400,
        CORRECTED_BATTERY: 200,
        CORRECTED_BARO: 100,
        CORRECTED_AIRSPEED: 100,
        CORRECTED_MAG: 50,
        OUTPUT_RAW: 50,
        RC_RAW: 50,
        CORRECTED_RANGE: 20,
        CORRECTED_GNSS: 10,
        STATUS: 10,
    }
    received = {row: g.collect_messages(row) for row in (*rates, CORRECTED_TEMPERATURE)}
    g.spin_until(lambda: all(received.values()), "a message on each topic")
    for messages in received.values():
        messages.clear()
    begin_s = g.time_s
    g.spin_for(1.0)
    # The executor delivers messages of the end later; the queues hold one message of each topic.
    for row, rate in rates.items():
        assert 0.25 * rate <= len(received[row]) <= 1.1 * rate + 2, (row, len(received[row]))
    assert received[CORRECTED_TEMPERATURE]
    for row in rates:
        stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in received[row]]
        assert all(begin_s - 0.2 <= one <= g.time_s for one in stamps), row
        assert stamps == sorted(stamps)
    firmware = g.node("sil_board").firmware
    q = received[ATTITUDE][-1].attitude
    assert [q.w, q.x, q.y, q.z] == pytest.approx(firmware.attitude.tolist(), abs=0.02)
    accel = received[IMU_DATA][-1].linear_acceleration
    assert accel.z == pytest.approx(-9.8, abs=1.0)
    baro = received[CORRECTED_BARO][-1]
    assert baro.pressure == pytest.approx(firmware.air.pressure, rel=1e-3)
    assert received[RC_RAW][-1].values.tolist() == [1500, 1500, 1000, 1500, 1000, 2000, 2000, 1500]
    fix = received[CORRECTED_GNSS][-1]
    assert (fix.fix_type, fix.lat) == (3, pytest.approx(40.2463724, abs=1e-3))


def test_stamps_of_the_estimates_are_those_of_their_steps(flown: MakeGraph) -> None:
    g = flown()
    g.spin_for(0.5)
    attitudes = g.collect_messages(ATTITUDE)
    g.spin_until(lambda: len(attitudes) > 40, "attitudes")
    ns = np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in attitudes])
    # MAVLink gives the time of the attitude in whole milliseconds.
    off = ns % 2_500_000
    assert np.minimum(off, 2_500_000 - off).max() <= 1_000_000


def test_reports_are_latched(flown: MakeGraph) -> None:
    g = flown()
    versions = g.collect_messages("version", String, LATCHED)
    unsaved = g.collect_messages("status/unsaved_params", Bool, LATCHED)
    errors = g.collect_messages("status/rosflight_errors", Error, LATCHED_LIST)
    g.spin_until(lambda: versions and unsaved and errors, "the reports")
    assert versions[-1].data.startswith("rosflight_py_sim ")
    assert not unsaved[-1].data
    assert "the IMU is not calibrated" in {one.error_message for one in errors}


def test_parameter_is_read_and_set(flown: MakeGraph) -> None:
    g = flown()
    changed = g.collect_messages(PARAMS_CHANGED)
    unsaved = g.collect_messages("status/unsaved_params", Bool, LATCHED)
    assert g.firmware("FAILSAFE_THR") == g.node("sil_board").firmware.parameters["FAILSAFE_THR"]
    assert g.call("param_set", ParamSet, name="FAILSAFE_THR", value=0.3).exists
    assert g.firmware("FAILSAFE_THR") == g.node("sil_board").firmware.parameters["FAILSAFE_THR"] == 0.3
    g.spin_until(lambda: changed and unsaved and unsaved[-1].data, "the change")
    assert not g.call("param_get", ParamGet, name="NO_SUCH").exists
    assert not g.call("param_set", ParamSet, name="NO_SUCH", value=1.0).exists
    # Out of range: the value is kept, and the name exists.
    assert g.call("param_set", ParamSet, name="FAILSAFE_THR", value=3.0).exists
    assert g.call("param_set", ParamSet, name="RC_NUM_CHN", value=6.5).exists
    assert (g.firmware("FAILSAFE_THR"), g.firmware("RC_NUM_CHN")) == (0.3, 8)
    answer = g.call("param_write")
    assert answer.success
    assert answer.message == "kept while the node runs; set param_storage_file to keep them in a file"
    g.spin_until(lambda: not unsaved[-1].data, "the end of unsaved parameters")


def test_parameters_are_saved_to_a_file_and_loaded_from_it(flown: MakeGraph, tmp_path: Path) -> None:
    g = flown("-p", f"param_file_folder:={tmp_path}")
    before = g.node("sil_board").firmware.parameters.snapshot()
    assert g.call("param_save_to_file", ParamFile, filename=str(tmp_path / "saved.yaml")).success
    text = (tmp_path / "saved.yaml").read_text()
    assert text.count("name:") == len(before)
    g.set_firmware(FAILSAFE_THR=0.35, RC_NUM_CHN=7)
    assert g.call("param_load_from_file", ParamFile, filename=str(tmp_path / "saved.yaml")).success
    assert g.node("sil_board").firmware.parameters.snapshot() == pytest.approx(before, rel=1e-6)
    (tmp_path / "bad.yaml").write_text(
        "- {name: FAILSAFE_THR, type: 9, value: 0.1}\n- {name: RC_NUM_CHN, type: 6, value: 99}\n"
    )
    assert not g.call("param_load_from_file", ParamFile, filename=str(tmp_path / "bad.yaml")).success
    assert g.firmware("FAILSAFE_THR") == pytest.approx(before["FAILSAFE_THR"], rel=1e-6)
    assert not g.call("param_load_from_file", ParamFile, filename="/etc/passwd").success


def test_calibration_and_commands_have_their_outcome(flown: MakeGraph) -> None:
    g = flown()
    answer = g.call("calibrate_imu")
    assert answer.success
    assert answer.message == "calibrating with the next 1001 samples: keep the vehicle still and level"
    assert g.node("sil_board").firmware.calibrations.imu.running
    answer = g.call("reboot_to_bootloader")
    assert not answer.success
    assert answer.message.startswith("there is no bootloader in simulation; call the service reboot")
    lines = g.call("print_mixing_matrix").message.splitlines()
    assert lines[1].split() == ["type", *["motor"] * 4]
    answer = g.call("calibrate_mag")
    assert answer.success and answer.message.startswith("calibrating: rotate the vehicle until all 20 directions")
    before = g.node("sil_board").firmware
    assert g.call("reboot").success
    g.spin_until(lambda: g.node("sil_board").firmware is not before, "the reboot")


def test_commands_are_refused_while_armed_with_the_reason(flown: MakeGraph) -> None:
    g = flown()
    g.arm(calibrate=False)
    for service in ("calibrate_imu", "calibrate_mag", "calibrate_baro", "reboot", "param_write"):
        answer = g.call(service)
        assert not answer.success, service
        assert "refused while armed" in answer.message


def test_commands_of_the_companion_computer_reach_the_firmware(flown: MakeGraph) -> None:
    g = flown()
    sent = g.tester.create_publisher(Command, "command", 1)
    auxiliary = g.tester.create_publisher(AuxCommand, "aux_command", 1)
    firmware = g.node("sil_board").firmware

    def command() -> None:
        sent.publish(Command(mode=2, u=[0.0, 0.0, 0.5, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0]))
        auxiliary.publish(AuxCommand(type_array=[1] * 14, values=[0.4] * 14))

    g.tester.create_timer(0.02, command)
    g.spin_until(lambda: firmware.status.offboard and firmware.outputs[9] > 0.69, "the commands")
    g.spin_until(lambda: g.status.offboard, "the status")


def test_flight_controller_without_a_link_is_refused() -> None:
    member = Member(vehicle("multirotor"), flight_controller="ardupilot")
    with pytest.raises(ParameterError, match=r"rosflight_io 'ours' given for vehicle 'multirotor' .* allowed: inside"):
        with_rosflight_io([member], OURS)


def test_vehicles_of_a_fleet_have_ports_of_their_own() -> None:
    members = with_rosflight_io([Member(vehicle("multirotor"), f"multirotor_{k}") for k in (1, 2)], OURS)
    ports = [(one.settings["mavlink.port"], one.settings["mavlink.peer_port"]) for one in members]
    assert ports == [(14525, 14520), (14535, 14530)]
    assert [one.settings["bind_port"] for one in members] == [14520, 14530]


def test_failure_of_the_command_topic_is_refused_where_it_does_not_exist(graph: MakeGraph) -> None:
    board_port, program_port = free_ports(2)
    ports = ("-p", f"mavlink.port:={board_port}", "-p", f"mavlink.peer_port:={program_port}")
    with pytest.raises(ParameterError, match="failure 'command lost' given with offers_rosflight_io false"):
        graph(*ports, "-p", "offers_rosflight_io:=false", "-p", "failures:=['command lost']")
