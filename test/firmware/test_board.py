"""The board's memory and restart."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.firmware import Board, ErrorFlag, ParameterFileError, Refused, Severity, State
from rosflight_py_sim.firmware.parameters import FirmwareParameters

CALIBRATED = (
    "- {name: PRIMARY_MIXER, type: 6, value: 2}\n- {name: FAILSAFE_THR, type: 9, value: 0.3}\n"
    "- {name: GYRO_X_BIAS, type: 9, value: 0.01}\n- {name: RC_ARM_CHN, type: 6, value: 5}\n"
)


def discard_log(severity: Severity, text: str) -> None:
    pass


@pytest.fixture
def initial(tmp_path: Path) -> Path:
    file = tmp_path / "initial.yaml"
    file.write_text(CALIBRATED)
    return file


def fly(board: Board, passes: int, start_us: int = 0) -> None:
    for k in range(passes):
        time_us = start_us + 2500 * k
        board.firmware.receive_rc(time_us, [1500, 1500, 1000, 1500, 2000, 2000, 1000, 1000])
        board.firmware.receive_imu(time_us, (0.0, 0.0, 0.5), (0.0, 0.0, -9.80665), 290.0)
        board.firmware.step(time_us)


def test_no_parameters_are_unsaved_after_start(initial: Path) -> None:
    board = Board(initial, None, discard_log)
    assert not board.firmware.parameters.unsaved
    assert board.parameters_changed
    board.parameters_changed = False
    board.firmware.parameters.set("PID_TAU", 0.06)
    assert board.firmware.parameters.unsaved
    assert board.parameters_changed


@pytest.mark.parametrize("in_file", [False, True])
def test_reboot_keeps_written_parameters_and_discards_the_rest(initial: Path, tmp_path: Path, in_file: bool) -> None:
    board = Board(initial, tmp_path / "memory.yaml" if in_file else None, discard_log)
    board.firmware.parameters.set("PID_TAU", 0.06)
    assert ("memory.yaml" if in_file else "kept while the node runs") in board.write()
    assert not board.firmware.parameters.unsaved
    board.firmware.parameters.restore({"PID_TAU": 0.07, "GYRO_X_BIAS": 0.0})
    assert board.reboot() == "rebooted; unwritten parameters are lost"
    parameters = board.firmware.parameters
    assert (parameters["PID_TAU"], parameters["GYRO_X_BIAS"], parameters["RC_ARM_CHN"]) == (0.06, 0.01, 5)
    assert not parameters.unsaved
    assert board.reboot() == "rebooted"
    assert board.reboots == 2


def test_given_parameters_override_the_file_and_saved_ones_override_both(initial: Path) -> None:
    board = Board(initial, None, discard_log, given=["FAILSAFE_THR 0.2", "RC_ARM_CHN 6", "RC_ARM_CHN 7"])
    assert [board.firmware.parameters[name] for name in ("FAILSAFE_THR", "RC_ARM_CHN", "PRIMARY_MIXER")] == [0.2, 7, 2]
    assert not board.firmware.parameters.unsaved
    board.firmware.parameters.set("FAILSAFE_THR", 0.1)
    board.reboot()
    assert board.firmware.parameters["FAILSAFE_THR"] == 0.2
    board.firmware.parameters.set("FAILSAFE_THR", 0.1)
    board.write()
    board.reboot()
    assert (board.firmware.parameters["FAILSAFE_THR"], board.firmware.parameters["RC_ARM_CHN"]) == (0.1, 7)


def test_reboot_equals_a_fresh_start(initial: Path) -> None:
    board = Board(initial, None, discard_log)
    fly(board, 400)
    old = board.firmware
    assert old.state_machine.armed
    with pytest.raises(Refused, match="reboot: refused while armed"):
        board.reboot()
    with pytest.raises(Refused, match="writing parameters: refused while armed"):
        board.write()
    assert board.firmware is old
    fly(board, 1, 1_000_000)
    old.receive_rc(1_000_000, [1500, 1500, 1000, 1500, 2000, 1000, 1000, 1000])
    old.step(1_002_500)
    assert not old.state_machine.armed
    board.reboot()
    new = board.firmware
    assert new.state_machine.state is State.PREFLIGHT
    assert new.receiver.last_frame_us is None
    assert new.euler.tolist() == [0.0, 0.0, 0.0]
    assert new.status_changed
    # In later passes, the controller behaves like a fresh one.
    fresh = Board(initial, None, discard_log)
    fly(board, 100, 1_005_000)
    fly(fresh, 100, 1_005_000)
    assert new.outputs.tolist() == fresh.firmware.outputs.tolist()
    assert new.attitude.tolist() == fresh.firmware.attitude.tolist()


def test_unsaved_imu_calibration_is_lost_on_reboot(tmp_path: Path) -> None:
    board = Board(None, None, discard_log)
    board.firmware.parameters.set("ACC_X_BIAS", 0.1)
    assert not board.firmware.state_machine.errors & ErrorFlag.UNCALIBRATED_IMU
    board.reboot()
    assert board.firmware.state_machine.errors & ErrorFlag.UNCALIBRATED_IMU


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\x00\x01binary", "not YAML"),
        (CALIBRATED + "- {name: FLAP_CHN, type: 6, value: 1}\n", "line 5.*FLAP_CHN"),
        (CALIBRATED[:-20], "line 4"),
    ],
)
def test_corrupt_or_foreign_memory_file_is_reported_and_left_untouched(tmp_path: Path, text: str, reason: str) -> None:
    memory = tmp_path / "memory.yaml"
    memory.write_text(text)
    with pytest.raises(ParameterFileError, match=rf"(?s){memory}.*{reason}"):
        Board(None, memory, discard_log)
    assert memory.read_text() == text


def test_memory_file_with_a_name_that_is_too_long_is_reported(tmp_path: Path) -> None:
    memory = tmp_path / ("x" * 300)
    with pytest.raises(ParameterFileError, match=f"{memory}: File name too long"):
        Board(None, memory, discard_log)


def test_reboot_with_corrupted_memory_file_changes_nothing(initial: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.yaml"
    board = Board(initial, memory, discard_log)
    board.write()
    memory.write_text("[")
    board.firmware.parameters.set("PID_TAU", 0.07)
    old = board.firmware
    with pytest.raises(ParameterFileError, match="not YAML"):
        board.reboot()
    assert board.firmware is old
    assert (board.reboots, old.parameters["PID_TAU"], old.parameters.unsaved) == (0, 0.07, True)


def test_failed_memory_write_leaves_parameters_unsaved(initial: Path, tmp_path: Path) -> None:
    board = Board(initial, tmp_path / "nowhere" / "memory.yaml", discard_log)
    board.firmware.parameters.set("PID_TAU", 0.07)
    with pytest.raises(OSError, match="nowhere"):
        board.write()
    assert board.firmware.parameters.unsaved


def test_rosflight_parameter_file_loads(tmp_path: Path) -> None:
    """Single-precision numbers written with seventeen digits, flow maps, sorted, no line break at the end."""
    ours = FirmwareParameters()
    file = tmp_path / "rosflight.yaml"
    lines = [
        f"- {{name: {name}, type: {6 if ours.types[name] is int else 9}, value: {float(np.float32(ours[name])):.17g}}}"
        for name in sorted(ours.names())
    ]
    assert "value: 3.1415901184082031" in "".join(lines)
    file.write_text("\n".join(lines))
    ours.load(file)
    for name in ours.names():
        assert ours[name] == pytest.approx(FirmwareParameters()[name], rel=2.0**-24, abs=0)
    with pytest.raises(ValueError, match="RC_MAX_PITCHRATE"):
        ours.set("RC_MAX_PITCHRATE", 3.1416)
    assert math.isfinite(ours["RC_MAX_PITCHRATE"])
