"""Services of the flight controller that perform actions: calibrations, memory, reboot, mixers."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rosflight_msgs.msg import Error
from rosflight_msgs.srv import ParamFile
from std_msgs.msg import Bool, String

from rosflight_py_sim.firmware import AS_ROSFLIGHT
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.step.qos import LATCHED, LATCHED_LIST
from rosflight_py_sim.step.topics import PARAMS_CHANGED
from rosflight_py_sim.vehicles import vehicle

MakeGraph = Callable[..., Any]

EXAMPLE = Path(__file__).parents[2] / "docs/examples/turn_about.py"
UNCALIBRATED = Path(__file__).parents[2] / "config/uncalibrated_magnetometer.yaml"
# A quarter of the usual number of steps, for calibrations that take a simulated time.
LONG_STEPS = ("-p", "step_size:=0.01")
CALIBRATIONS = ("calibrate_imu", "calibrate_mag", "calibrate_baro", "calibrate_airspeed", "calibrate_rc_trim")


def test_bootloader_is_unsupported(undisturbed_graph: MakeGraph) -> None:
    answer = undisturbed_graph().ready().call("reboot_to_bootloader")
    assert not answer.success
    assert "no bootloader in simulation" in answer.message


def test_mixing_matrices_are_printed(undisturbed_graph: MakeGraph) -> None:
    answer = undisturbed_graph().ready().call("print_mixing_matrix")
    assert answer.success
    lines = answer.message.splitlines()
    assert lines[0].split() == ["output", "0", "1", "2", "3"]
    assert lines[1].split() == ["type", *["motor"] * 4]
    assert lines[2] == "primary, for the pilot: PRIMARY_MIXER 11 (custom)"
    assert lines[5].split() == ["Fz", *["-5814.8"] * 4]
    assert lines[9] == "secondary, for the companion computer: SECONDARY_MIXER 255 (none, same as primary)"
    assert lines[12] == lines[5]


def test_loop_time_is_zero_in_simulated_time(undisturbed_graph: MakeGraph) -> None:
    assert undisturbed_graph().ready().status.loop_time_us == 0


def test_calibration_reboot_and_memory_services_are_rejected_while_armed(undisturbed_graph: MakeGraph) -> None:
    g = undisturbed_graph()
    g.arm(calibrate=False)
    for service in (*CALIBRATIONS, "reboot", "param_write"):
        answer = g.call(service)
        assert not answer.success, service
        assert answer.message.endswith("refused while armed"), service
    g.spin_for(0.1)
    assert g.status.armed
    assert g.call("toggle_arm").success
    g.spin_until(lambda: not g.status.armed, "disarmed")


def test_pressure_sensor_calibration_takes_simulated_time(undisturbed_graph: MakeGraph) -> None:
    g = undisturbed_graph(*LONG_STEPS).ready()
    unsaved = g.collect_messages("status/unsaved_params", Bool, LATCHED)
    g.spin_until(lambda: unsaved and not unsaved[-1].data)
    for service in ("calibrate_baro", "calibrate_airspeed"):
        answer = g.call(service)
        assert answer.success, answer.message
        assert "255 readings" in answer.message
    # The sensor has 100 Hz; the firmware takes every third reading, as they must be over 20 ms apart: 7.7 s for 255.
    # One second at a time, because each call has a time limit.
    for _ in range(7):
        g.spin_for(1.0)
    assert g.firmware("BARO_BIAS") == g.firmware("DIFF_PRESS_BIAS") == 0.0
    g.spin_for(1.0)
    assert g.firmware("DIFF_PRESS_BIAS") != 0.0
    # The default site lies at 1387 m; a bias of 500 Pa is 47 m there.
    assert g.firmware("GROUND_LEVEL") == pytest.approx(1387.0, abs=60.0)
    assert g.firmware("BARO_BIAS") == pytest.approx(85_700.0, abs=600.0)
    g.spin_until(lambda: unsaved[-1].data, "unsaved parameters")


def test_example_calibrates_magnetometer_by_rotating_vehicle(
    undisturbed_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = undisturbed_graph(*LONG_STEPS, "--params-file", str(UNCALIBRATED)).ready()
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    node = runpy.run_path(str(EXAMPLE))["TurnAbout"]()
    g.include(node)
    monkeypatch.setattr(rclpy, "spin_once", lambda node, timeout_sec: g.executor.spin_once(timeout_sec))
    node.act()
    matrix = np.array([[g.firmware(f"MAG_CAL_A{i}{j}") for j in range(3)] for i in range(3)])
    sensor = g.node("sensors").models["mag"]
    # The inverse of the soft iron, up to a common factor, and the hard iron; the noise is 0.1 in 50 uT.
    corrected = matrix @ sensor.response
    assert corrected / np.trace(corrected) * 3.0 == pytest.approx(np.eye(3), abs=0.01)
    hard_iron = [sensor.true_errors()[f"mag_bias_{axis}"] for axis in "xyz"]
    assert [g.firmware(f"MAG_{a}_BIAS") for a in "XYZ"] == pytest.approx(hard_iron, abs=1e-6)
    assert max(map(abs, hard_iron)) > 1e-6
    g.remove(node)


def test_reboot_restarts_firmware_while_simulation_continues(graph: MakeGraph) -> None:
    g = graph()
    g.arm()
    g.call("toggle_arm")
    g.spin_until(lambda: not g.status.armed, "disarmed")
    errors = g.collect_messages("status/rosflight_errors", Error, LATCHED_LIST)
    unsaved = g.collect_messages("status/unsaved_params", Bool, LATCHED)
    changed = g.collect_messages(PARAMS_CHANGED)
    version = g.collect_messages("version", String, LATCHED)
    g.spin_until(lambda: errors and unsaved and version, "the latched messages")
    assert errors[0].reset_count == 0
    assert {message.error_message for message in errors} >= {"the IMU is not calibrated"}

    g.set_firmware(PID_TAU=0.06)
    answer = g.call("param_write")
    assert answer.success
    g.set_firmware(PID_TAU=0.07, RC_MAX_ROLL=0.5)
    g.spin_until(lambda: unsaved[-1].data, "unsaved parameters")
    gyro_bias = g.firmware("GYRO_X_BIAS")
    del changed[:]
    answer = g.call("reboot")
    assert answer.success
    assert "unwritten parameters are lost" in answer.message
    g.spin_until(lambda: not unsaved[-1].data and changed, "reports after the reboot")
    assert g.firmware("PID_TAU") == 0.06
    assert g.firmware("RC_MAX_ROLL") != 0.5
    # The bias was saved with the other parameters: the gyro is calibrated after the start.
    assert g.firmware("GYRO_X_BIAS") == gyro_bias
    g.spin_for(0.2)
    assert not g.status.error_code
    g.call("toggle_arm")
    g.spin_until(lambda: g.status.armed, "armed after a reboot")


def test_reboot_without_saved_parameters_requires_recalibration(graph: MakeGraph) -> None:
    g = graph().ready()
    errors = g.collect_messages("status/rosflight_errors", Error, LATCHED_LIST)
    g.calibrate()
    assert g.call("reboot").success
    g.spin_until(lambda: g.status.error_code & 0x20, "the uncalibrated IMU")
    g.spin_until(lambda: errors and errors[-1].reset_count == 1, "the error's report")
    assert errors[-1].error_message == "the IMU is not calibrated"
    assert errors[-1].error_code & 0x20
    g.calibrate()


def test_reboot_with_corrupt_memory_changes_nothing(graph: MakeGraph, tmp_path: Path) -> None:
    memory = tmp_path / "memory.yaml"
    g = graph("-p", f"sil_board:param_storage_file:={memory}").ready()
    g.set_firmware(PID_TAU=0.06)
    assert g.call("param_write").success
    memory.write_text("- {name: PID_TAU, type: 9}\n")
    g.set_firmware(PID_TAU=0.08)
    answer = g.call("reboot")
    assert not answer.success
    assert f"{memory}, line 1: the entry lacks 'value'" in answer.message
    assert g.firmware("PID_TAU") == 0.08
    g.spin_for(0.1)


def test_loop_time_is_measured_in_wall_time(graph: MakeGraph) -> None:
    g = graph(time_mode="wall")
    g.spin_until(lambda: g.status.loop_time_us > 0, "a measured pass")


def test_corrupt_memory_aborts_start_with_file_line_and_reason(graph: MakeGraph, tmp_path: Path) -> None:
    memory = tmp_path / "memory.yaml"
    memory.write_text("- {name: PID_TAU, type: 9, value: 0.1}\n- {name: SERVO_1, type: 6, value: 1}\n")
    with pytest.raises(ParameterError, match=rf"{memory}, line 2: there is no firmware parameter 'SERVO_1'"):
        graph("-p", f"sil_board:param_storage_file:={memory}")
    assert "SERVO_1" in memory.read_text()


def test_unknown_names_in_the_initial_file_are_left_out_unless_files_are_strict(
    graph: MakeGraph, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "older.yaml"
    initial = vehicle("multirotor").firmware_file.read_text(encoding="utf-8")
    file.write_text("- {name: MIXER, type: 6, value: 2}\n- {name: ARM_CHANNEL, type: 6, value: 5}\n" + initial)
    given = ("-p", f"firmware_param_file:={file}")
    with pytest.raises(ParameterError, match=rf"{file}, line 1: there is no firmware parameter 'MIXER'"):
        graph(*given, "-p", "strict_firmware_files:=true")
    capfd.readouterr()
    g = graph(*given)
    assert g.firmware("PRIMARY_MIXER") == 11
    (line,) = (line for line in capfd.readouterr().err.splitlines() if "left out" in line)
    assert "[WARN]" in line and line.endswith("which the firmware does not have: MIXER, ARM_CHANNEL")
    # A load by a service call obeys the switch of the start, too.
    assert g.call("param_load_from_file", ParamFile, filename=str(file)).success


def test_as_rosflight_enables_quirks_and_is_fixed_at_start(graph: MakeGraph) -> None:
    g = graph("-p", "as_rosflight:=true").ready()
    board = g.node("sil_board")
    assert board.firmware.quirks is AS_ROSFLIGHT
    assert g.call("reboot").success
    assert board.firmware.quirks is AS_ROSFLIGHT
    off = [Parameter("as_rosflight", value=False).to_parameter_msg()]
    answer = g.call("sil_board/set_parameters", SetParameters, parameters=off)
    assert not answer.results[0].successful
