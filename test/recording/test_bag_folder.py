"""Folders of ros2 bag: complete, split, compressed, damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.records import Schema
from mcap.writer import CompressionType

from rosflight_py_sim.commands.cli import main
from rosflight_py_sim.commands.report_page import troubles_of
from rosflight_py_sim.interfaces.message_definitions import type_name_of
from rosflight_py_sim.recording.known_topics import KNOWN_TOPICS
from rosflight_py_sim.recording.mcap_file import NotMcapError, Recording, read_recording
from rosflight_py_sim.recording.recorded_vehicle import recorded_vehicles, unusable_states
from rosflight_py_sim.step import topics
from test.recording.bags import OTHER, Row, rows_of, write_bag


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return rows_of(OTHER)


def everything(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**6)


def assert_equal_to_the_file(recording: Recording) -> None:
    """The folder has the messages of the file, in its order."""
    expected = everything(OTHER)
    assert recording.trouble == ""
    assert recording.topics.keys() == expected.topics.keys()
    for name, topic in recording.topics.items():
        other = expected.topics[name]
        assert topic.messages == other.messages
        assert topic.places == other.places
        np.testing.assert_array_equal(topic.log_ns, other.log_ns)
    (kite,), (same,) = recorded_vehicles(recording), recorded_vehicles(expected)
    np.testing.assert_array_equal(kite.truth, same.truth)


@pytest.mark.parametrize("version", range(4, 10))
@pytest.mark.parametrize("parts", [1, 12])
def test_folder_equals_the_file_in_every_version_split_or_not(
    tmp_path: Path, rows: list[Row], version: int, parts: int
) -> None:
    # Twelve parts: the number of the last one sorts before that of the third as a text.
    recording = everything(write_bag(tmp_path / "flight", rows, parts, version))
    assert_equal_to_the_file(recording)
    assert recording.size == recording.read == sum(file.stat().st_size for file in (tmp_path / "flight").glob("*.mcap"))


@pytest.mark.parametrize("mode", ["", "FILE", "MESSAGE"])
@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD])
def test_compressed_folder_equals_the_file(
    tmp_path: Path, rows: list[Row], mode: str, compression: CompressionType
) -> None:
    assert_equal_to_the_file(everything(write_bag(tmp_path / "bag", rows, 3, mode=mode, compression=compression)))


def test_folder_of_a_killed_recorder_is_read_without_metadata(tmp_path: Path, rows: list[Row]) -> None:
    folder = write_bag(tmp_path / "bag", rows, 12)
    (folder / "metadata.yaml").unlink()
    recording = everything(folder)
    assert recording.trouble == "metadata.yaml is missing"
    recording.trouble = ""
    assert_equal_to_the_file(recording)


def test_missing_and_damaged_parts_are_named_and_the_others_read(tmp_path: Path, rows: list[Row]) -> None:
    folder = write_bag(tmp_path / "bag", rows, 4)
    (folder / "bag_1.mcap").unlink()
    cut = folder / "bag_2.mcap"
    cut.write_bytes(cut.read_bytes()[:-2000])
    (folder / "bag_3.mcap").write_bytes(b"no recording")
    recording = everything(folder)
    assert recording.trouble.split("; ") == [
        *("the file bag_1.mcap is missing", "bag_2.mcap: its end is missing", "bag_3.mcap: it is not an MCAP file")
    ]
    (text,) = troubles_of(recording)
    assert text.startswith("The recording is not complete: the file bag_1.mcap is missing; bag_2.mcap: ")
    assert len(recording.topics["/kite/sim/truth_state"].messages) > 100


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (
            "storage_identifier",
            "sqlite3",
            "a recording in the storage 'sqlite3'; allowed: mcap, to which `ros2 bag convert`",
        ),
        ("compression_mode", "FILE", "is compressed by '' (file); allowed: zstd (file, message)"),
        ("relative_file_paths", ["../secret.mcap"], "names '../secret.mcap'; allowed: files in the same folder"),
        ("relative_file_paths", ["/etc/passwd"], "names '/etc/passwd'; allowed: files in the same folder"),
        ("relative_file_paths", "bag_0.mcap", "has no list relative_file_paths"),
        ("relative_file_paths", [3], "has no list relative_file_paths"),
    ],
)
def test_other_folders_are_refused_with_the_reason(
    tmp_path: Path, rows: list[Row], key: str, value: object, text: str
) -> None:
    folder = write_bag(tmp_path / "bag", rows[:10])
    file = folder / "metadata.yaml"
    document = yaml.safe_load(file.read_text())
    document["rosbag2_bagfile_information"][key] = value
    file.write_text(yaml.safe_dump(document))
    with pytest.raises(NotMcapError) as refusal:
        everything(folder)
    assert text in str(refusal.value)


@pytest.mark.parametrize("given", ["bag_0.db3", "bag_0.db3.zstd", "."])
def test_recording_in_sqlite_without_metadata_is_refused_with_the_remedy(tmp_path: Path, given: str) -> None:
    (tmp_path / ("bag_0.db3" if given == "." else given)).write_bytes(b"SQLite format 3\0")
    text = r"is a recording in the storage 'sqlite3'; allowed: mcap, to which `ros2 bag convert` converts it"
    with pytest.raises(NotMcapError, match=text):
        everything(tmp_path / given)


# As rosbag2 of Jazzy writes it: lists of profiles instead of a text, ~ for no data of the user, and in `files` names
# without the compression's suffix.
OF_ROSBAG2 = """\
rosbag2_bagfile_information:
  version: 9
  storage_identifier: mcap
  duration:
    nanoseconds: 9980000000
  starting_time:
    nanoseconds_since_epoch: 1700000000000000000
  message_count: 950
  topics_with_message_count:
    - topic_metadata:
        name: /kite/sim/truth_state
        type: rosflight_msgs/msg/SimState
        serialization_format: cdr
        offered_qos_profiles:
          - history: unknown
            depth: 0
            reliability: reliable
            durability: volatile
            deadline:
              sec: 9223372036
              nsec: 854775807
            lifespan:
              sec: 9223372036
              nsec: 854775807
            liveliness: automatic
            liveliness_lease_duration:
              sec: 9223372036
              nsec: 854775807
            avoid_ros_namespace_conventions: false
        type_description_hash: RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18
      message_count: 475
  compression_format: zstd
  compression_mode: FILE
  relative_file_paths:
    - bag_0.mcap.zstd
    - bag_1.mcap.zstd
  files:
    - path: bag_0.mcap
      starting_time:
        nanoseconds_since_epoch: 1700000000000000000
      duration:
        nanoseconds: 4980000000
      message_count: 475
  custom_data: ~
  ros_distro: jazzy
"""


@pytest.mark.parametrize("version", [9, 12])
def test_metadata_as_rosbag2_writes_them_are_read(tmp_path: Path, rows: list[Row], version: int) -> None:
    folder = write_bag(tmp_path / "bag", rows, 2, mode="FILE")
    text = OF_ROSBAG2.replace("version: 9", f"version: {version}")
    (folder / "metadata.yaml").write_text(text, encoding="utf-8")
    assert_equal_to_the_file(everything(folder))


def test_part_of_a_folder_with_compressed_messages_names_the_folder_as_the_remedy(
    tmp_path: Path, rows: list[Row]
) -> None:
    folder = write_bag(tmp_path / "bag", rows, mode="MESSAGE")
    (text,) = unusable_states(everything(folder / "bag_0.mcap"))
    assert text.endswith(
        "a message is not plain CDR; if the file is of a folder with compressed messages, give the folder"
    )


@pytest.mark.parametrize("text", ["", "[1, 2", "- 3", "rosbag2_bagfile_information: 4", "a: &b 1\nc: *b"])
def test_damaged_metadata_is_refused_in_one_line(tmp_path: Path, rows: list[Row], text: str) -> None:
    folder = write_bag(tmp_path / "bag", rows[:10])
    (folder / "metadata.yaml").write_text(text)
    with pytest.raises(NotMcapError, match=r"bag/metadata.yaml' ") as refusal:
        everything(folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("command", ["report", "replay", "refly"])
def test_every_command_refuses_a_folder_without_a_recording(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, str(tmp_path)])
    assert end.value.code
    assert capsys.readouterr().err == (
        f"rosflight_py_sim: '{tmp_path}' is a folder without metadata.yaml and without MCAP files\n"
    )


def test_report_of_a_folder_is_written_beside_it(
    tmp_path: Path, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_bag(tmp_path / "flight.of_today", rows, 3)
    for given, at in ((folder, tmp_path), (Path(), folder), (Path("../flight.of_today"), folder)):
        monkeypatch.chdir(at)
        with pytest.raises(SystemExit) as end:
            main(["report", str(given)])
        assert end.value.code == 0
        page = tmp_path / "flight.of_today.html"
        text = page.read_text(encoding="utf-8")
        assert "Path from above" in text and "flight.of_today" in text
        page.unlink()


def test_every_known_topic_has_the_type_that_its_publisher_uses() -> None:
    published = {
        one.name: type_name_of(one.message_type) for one in vars(topics).values() if isinstance(one, topics.StepTopic)
    }
    assert {name: type_name for name, (type_name, _) in KNOWN_TOPICS.items()} == {
        name: published[name] for name in KNOWN_TOPICS
    }


def retyped(rows: list[Row], topic: str, type_name: str, text: bytes) -> list[Row]:
    """The same messages, on a topic that is stated to have another type."""
    return [
        (Schema(schema.id, text, "ros2msg", type_name) if channel.topic == topic else schema, channel, message)
        for schema, channel, message in rows
    ]


def test_topic_of_another_type_is_named_with_both_types(
    tmp_path: Path, rows: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "/kite/sim/truth_state"
    folder = write_bag(tmp_path / "bag", retyped(rows, name, "nav_msgs/msg/Odometry", b"float64 x\n"))
    text = f"{name} has the type nav_msgs/msg/Odometry; expected: rosflight_msgs/msg/SimState"
    assert unusable_states(everything(folder)) == [text]
    assert troubles_of(everything(folder)) == [f"{text}."]
    with pytest.raises(SystemExit) as end:
        main(["replay", str(folder)])
    assert end.value.code == 1
    assert capsys.readouterr().err == f"rosflight_py_sim: '{folder}' cannot be replayed: {text}\n"


def test_type_of_another_definition_is_named_with_the_missing_field(tmp_path: Path, rows: list[Row]) -> None:
    name = "/kite/sim/truth_state"
    body = rows[0][2].data[:4] + bytes(8)
    old = [
        (schema, channel, replace(message, data=body) if channel.topic == name else message)
        for schema, channel, message in retyped(rows, name, "rosflight_msgs/msg/SimState", b"float64 x\n")
    ]
    assert unusable_states(everything(write_bag(tmp_path / "bag", old))) == [
        f"{name}: its type rosflight_msgs/msg/SimState has no field pose.position.x in the recording"
    ]


def test_further_topic_of_another_type_is_noted_and_not_shown(tmp_path: Path, rows: list[Row]) -> None:
    name = "/kite/sim/pwm_output"
    folder = write_bag(tmp_path / "bag", retyped(rows, name, "std_msgs/msg/UInt16MultiArray", b"uint16[14] values\n"))
    (kite,) = recorded_vehicles(everything(folder))
    assert f"{name} has the type std_msgs/msg/UInt16MultiArray; expected: rosflight_msgs/msg/PwmOutput" in kite.missing
    assert f"no usable {name}: actuator commands are unknown" in kite.missing
