"""Reading recordings, complete and truncated."""

from __future__ import annotations

import io
import os
import random
import struct
from pathlib import Path

import pytest
from mcap.reader import make_reader

from rosflight_py_sim.recording.mcap_file import NotMcapError, Recording, read_recording
from rosflight_py_sim.recording.pipe_messages import Channel
from rosflight_py_sim.recording.writer_process import WriterProcess

PLAIN = Channel("/plain", "some_msgs/msg/Plain", "uint8[] data")
OTHER = Channel("/other", "some_msgs/msg/Plain", "uint8[] data")

COUNT = 6000

# Bytes at the beginning of a chunk's record, besides its messages.
CHUNK_HEAD = 64


def everything(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A recording of several chunks: its messages are numbers, followed by noise."""
    writer = WriterProcess(tmp_path_factory.mktemp("whole") / "whole.mcap", simulated=False, facts={"vehicle": "kite"})
    topics = [writer.channel(PLAIN), writer.channel(OTHER)]
    for number in range(COUNT):
        topics[number % 2](number.to_bytes(4, "little") + os.urandom(996))
    assert writer.close().messages == COUNT
    return writer.path.read_bytes()


def numbers(recording: Recording) -> list[int]:
    found = [int.from_bytes(body[:4], "little") for topic in recording.topics.values() for body in topic.messages]
    return sorted(found)


def test_complete_file_reads_all_messages_without_errors(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole.mcap"
    path.write_bytes(whole)
    recording = everything(path)
    assert (recording.trouble, recording.facts, recording.profile) == ("", {"vehicle": "kite"}, "ros2")
    assert numbers(recording) == list(range(COUNT))
    first, last = recording.span_ns
    assert 0 < first < last


def test_truncated_file_reads_up_to_any_cut_and_reports_truncation(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.mcap"
    draw = random.Random(5)
    cuts = [8, 9, 60, len(whole) - 1, len(whole) - 8, len(whole) - 9]
    cuts += [draw.randrange(8, len(whole)) for _ in range(40)]
    longest = 0
    for cut in sorted(cuts):
        path.write_bytes(whole[:cut])
        recording = everything(path)
        assert recording.trouble == "its end is missing", cut
        found = numbers(recording)
        # The first messages written, never fewer than in a shorter file.
        assert found == list(range(len(found)))
        assert len(found) >= longest
        longest = len(found)
    assert longest == COUNT


def test_mid_file_corruption_is_reported_and_earlier_messages_are_read(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.mcap"
    draw = random.Random(6)
    summary = make_reader(io.BytesIO(whole)).get_summary()
    assert summary is not None
    # Damage in the index between two chunks would lose nothing.
    chunks = [(one.chunk_start_offset, one.chunk_start_offset + one.chunk_length) for one in summary.chunk_indexes]
    for _ in range(20):
        begin, end = draw.choice(chunks[1:])
        at = draw.randrange(begin + CHUNK_HEAD, end - 64)
        path.write_bytes(whole[:at] + bytes(byte ^ 0xFF for byte in whole[at : at + 64]) + whole[at + 64 :])
        recording = everything(path)
        found = numbers(recording)
        assert recording.trouble
        assert found == list(range(len(found)))
        assert found


@pytest.mark.parametrize("content", [b"", b"\x89MCAP", b"SQLite format 3\x00" + bytes(100), b"some text\n" * 100])
def test_file_of_another_format_is_rejected_by_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(NotMcapError, match=f"'{path}' is not an MCAP file"):
        everything(path)


def test_missing_recording_is_rejected_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotMcapError, match=f"cannot read '{tmp_path / 'nothing'}': No such file"):
        everything(tmp_path / "nothing")


def test_long_topics_are_thinned_evenly_but_keep_all_timestamps(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole.mcap"
    path.write_bytes(whole)
    recording = read_recording(path, lambda topic, type_name: 100 if topic == "/plain" else 0)
    plain, other = recording.topics["/plain"], recording.topics["/other"]
    assert len(plain.log_ns) == len(other.log_ns) == COUNT // 2
    assert other.messages == []
    assert 50 <= len(plain.messages) <= 100
    steps = {after - before for before, after in zip(plain.kept, plain.kept[1:], strict=False)}
    assert steps == {32}
    assert numbers(recording) == [2 * number for number in plain.kept]


@pytest.mark.parametrize(
    ("times_s", "torn"),
    [
        ((0, 1, 2, 3), ""),
        # Set back once, as by a reset.
        ((0, 1, 0, 1), ""),
        ((), ""),
        ((0, 5, 1, 6, 2), "/clock goes back 2 times, first from 5 s to 1 s: two simulations shared the ROS domain"),
    ],
)
@pytest.mark.parametrize("simulated", [True, False], ids=["simulated time", "system time"])
def test_clock_of_two_publishers_is_named(tmp_path: Path, times_s: tuple[int, ...], torn: str, simulated: bool) -> None:
    writer = WriterProcess(tmp_path / "some.mcap", simulated=simulated, facts={})
    clock = writer.channel(Channel("/clock", "rosgraph_msgs/msg/Clock", "builtin_interfaces/Time clock"))
    for time_s in times_s:
        clock(b"\x00\x01\x00\x00" + struct.pack("<iI", time_s, 0))
    writer.close()
    assert everything(writer.path).torn == torn
