"""Names, defaults, ranges, and files of the flight controller's parameters."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

import pytest
import yaml

from rosflight_py_sim.firmware import (
    FirmwareParameterOutOfRange,
    FirmwareParameters,
    ParameterFileError,
    UnknownFirmwareParameter,
)
from rosflight_py_sim.firmware.parameter_table import PARAMETERS

ROOT = Path(__file__).parents[2]


def test_table_contains_every_rosflight_parameter_with_type_default_and_range() -> None:
    words = {"false": 0.0, "true": 1.0, "Mixer::INVALID_MIXER": 255.0}
    with (ROOT / "test/data/rosflight_firmware_params.csv").open() as file:
        expected = {
            row["name"]: (
                row["type"],
                words.get(row["default"]) if row["default"] in words else float(row["default"]),
                float(row["min"]),
                float(row["max"]),
            )
            for row in csv.DictReader(file)
        }
    ours = {p.name: (p.type.__name__, float(p.default), p.minimum, p.maximum) for p in PARAMETERS}
    matrices = {f"{prefix}_{i}_{j}" for prefix in ("PRI_MIXER", "SEC_MIXER") for i in range(10) for j in range(10)}
    for name in matrices:
        assert ours.pop(name) == ("float", 0.0, -math.inf, math.inf)
    assert ours == expected


def test_every_default_is_a_valid_value() -> None:
    parameters = FirmwareParameters()
    for name in parameters.names():
        assert parameters.set(name, parameters[name]) is False
    assert not parameters.unsaved


def test_set_notifies_subscribers_and_marks_unsaved_only_on_change() -> None:
    parameters = FirmwareParameters()
    notified: list[str] = []
    parameters.on_change.append(notified.append)
    assert parameters.set("PID_TAU", 0.05) is False
    assert parameters.set("PID_TAU", 0.07) is True
    assert notified == ["PID_TAU"]
    assert parameters.unsaved


def test_unknown_name_is_rejected_with_closest_match() -> None:
    parameters = FirmwareParameters()
    with pytest.raises(UnknownFirmwareParameter, match=r"PID_ROL_RATE_P.*PID_ROLL_RATE_P"):
        parameters.set("PID_ROL_RATE_P", 1.0)
    assert parameters.get("PID_ROL_RATE_P") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PID_TAU", 1.5),
        ("PID_TAU", math.nan),
        ("PRI_MIXER_0_0", math.inf),
        ("NUM_MOTORS", 2.5),
        ("RC_ARM_CHN", 3),
        ("PRIMARY_MIXER", 12),
        ("FAILSAFE_THR", -0.5),
    ],
)
def test_out_of_range_value_is_rejected_and_old_value_kept(name: str, value: float) -> None:
    parameters = FirmwareParameters()
    before = parameters.snapshot()
    with pytest.raises(FirmwareParameterOutOfRange, match=rf"'{name}'.*allowed: a"):
        parameters.set(name, value)
    assert parameters.snapshot() == before
    assert not parameters.unsaved


@pytest.mark.parametrize(
    ("name", "value"), [("RC_ATT_CTRL_CHN", 8), ("RC_ARM_CHN", -1), ("PRIMARY_MIXER", 255), ("FAILSAFE_THR", -1)]
)
def test_sentinel_values_for_none_are_accepted(name: str, value: int) -> None:
    parameters = FirmwareParameters()
    parameters.set(name, 4 if "CHN" in name else 1)
    parameters.set(name, value)
    assert parameters[name] == value
    assert type(parameters[name]) is parameters.types[name]


def test_saved_file_reloads_to_same_values(tmp_path: Path) -> None:
    parameters = FirmwareParameters()
    parameters.restore({"PID_TAU": 0.1 + 0.2, "PRI_MIXER_2_0": -1e-7, "PRIMARY_MIXER": 11})
    file = tmp_path / "parameters.yaml"
    parameters.export(file)
    assert parameters.unsaved
    parameters.save(file)
    assert not parameters.unsaved
    other = FirmwareParameters()
    other.load(file)
    assert other.snapshot() == parameters.snapshot()
    assert [file.name for file in tmp_path.iterdir()] == ["parameters.yaml"]
    assert "{name: PRIMARY_MIXER, type: 6, value: 11}" in file.read_text()


def test_saved_file_is_readable_by_rosflight(tmp_path: Path) -> None:
    """A list of maps with name, type and value in this order, sorted by name; any YAML parser reads the numbers."""
    parameters = FirmwareParameters()
    parameters.restore({"PRI_MIXER_2_0": -1e-7, "PRI_MIXER_2_1": 1e22, "MAG_X_BIAS": 1.25e-05, "GYRO_X_BIAS": 1e-12})
    file = tmp_path / "parameters.yaml"
    parameters.save(file)
    entries = yaml.safe_load(file.read_text())
    assert [entry["name"] for entry in entries] == sorted(parameters.names())
    for entry in entries:
        assert list(entry) == ["name", "type", "value"]
        kind = {6: int, 9: float}[entry["type"]]
        assert kind is parameters.types[entry["name"]]
        assert type(entry["value"]) is kind, entry
        assert entry["value"] == parameters[entry["name"]]


def test_failed_save_leaves_only_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "parameters.yaml"
    parameters = FirmwareParameters()
    parameters.save(file)
    before = file.read_text()
    parameters.set("PID_TAU", 0.5)

    def full_disk(descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        parameters.save(file)
    assert file.read_text() == before
    assert parameters.unsaved
    assert [file.name for file in tmp_path.iterdir()] == ["parameters.yaml"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {name: PID_TAU, type: 9, value: 0.2}\n- {name: [", "line 2.*not YAML"),
        ("PID_TAU: 0.2\n", "a list of"),
        ("", "a list of"),
        ("- {name: PID_TAU, type: 9, value: 0.2}\n- {name: PID_TAU, type: 9}\n", "line 2.*lacks 'value'"),
        ("- {name: PID_TAU, type: 9, value: 0.2}\n\n- {name: NO_SUCH, type: 9, value: 1}\n", "line 3.*NO_SUCH"),
        ("- {name: PID_TAU, type: 9, value: 0.2}\n- {name: NUM_MOTORS, type: 6, value: 99}\n", "line 2.*from 1 to 8"),
        ("- {name: PID_TAU, type: 6, value: 1}\n", "line 1.*has type 9"),
        ("- {name: PID_TAU, type: 9, value: fast}\n", "line 1.*not a number"),
        ("- {name: PID_TAU, type: 9, value: 0.1}\n- {name: PID_TAU, type: 9, value: 0.2}\n", "line 2.*line 1"),
        ("- PID_TAU\n", "line 1.*entry"),
    ],
)
def test_invalid_file_is_rejected_entirely_with_line_number(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    parameters = FirmwareParameters()
    before = parameters.snapshot()
    with pytest.raises(ParameterFileError, match=rf"(?s){file}.*{reason}"):
        parameters.load(file)
    assert parameters.snapshot() == before
    assert not parameters.unsaved


def test_unknown_names_are_left_out_with_one_warning_if_the_caller_takes_it(tmp_path: Path) -> None:
    # Names of an earlier release of the firmware, among present ones.
    file = tmp_path / "older.yaml"
    file.write_text(
        "- {name: MIXER, type: 6, value: 2}\n- {name: PID_TAU, type: 9, value: 0.2}\n"
        "- {name: ARM_CHANNEL, type: 8, value: fast}\n- {name: FAILSAFE_THR, type: 9, value: 0.3}\n"
    )
    parameters, warnings = FirmwareParameters(), list[str]()
    parameters.load(file, warnings.append)
    assert (parameters["PID_TAU"], parameters["FAILSAFE_THR"]) == (0.2, 0.3)
    assert warnings == [
        f"{file}: 2 of 4 parameters left out, which the firmware does not have: MIXER, ARM_CHANNEL",
    ]
    with pytest.raises(ParameterFileError, match=r"older.yaml, line 1: there is no firmware parameter 'MIXER'"):
        parameters.load(file)
    # An error in another entry still refuses the whole file.
    file.write_text(file.read_text() + "- {name: PID_TAU, type: 9, value: -1}\n")
    with pytest.raises(ParameterFileError, match="line 5: 'PID_TAU' is already in line 2"):
        parameters.load(file, warnings.append)
    assert len(warnings) == 1


def test_missing_file_is_rejected_by_name_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ParameterFileError, match="nowhere"):
        FirmwareParameters().load(tmp_path / "nowhere.yaml")


def test_multirotor_configuration_loads() -> None:
    parameters = FirmwareParameters()
    parameters.load(ROOT / "config/multirotor_firmware.yaml")
    assert parameters["PRIMARY_MIXER"] == 11
    assert parameters["PRI_MIXER_2_0"] == pytest.approx(-5814.79345703125)
