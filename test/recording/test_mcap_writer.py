"""The process that writes a recording: contents, times of writing, and behaviour on failures."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from rosflight_py_sim.recording.mcap_file import Recording, read_recording
from rosflight_py_sim.recording.mcap_writer import BufferedFile, McapRecording
from rosflight_py_sim.recording.pipe_messages import DESCRIPTIONS, PIPE_HEADER, Channel
from rosflight_py_sim.recording.writer_process import RecordingError, WriterProcess

CLOCK = Channel("/clock", "rosgraph_msgs/msg/Clock", "builtin_interfaces/Time clock", offered_qos="- history: 1")
STAMPED = Channel("/stamped", "some_msgs/msg/Stamped", "std_msgs/Header header", stamped=True)
PLAIN = Channel("/plain", "some_msgs/msg/Plain", "uint8[] data", type_hash="RIHS01_0")

TIMEOUT_S = 20.0


def clock(time_ns: int) -> bytes:
    return b"\x00\x01\x00\x00" + struct.pack("<iI", *divmod(time_ns, 10**9))


def message(tail: bytes, stamp_ns: int = 0) -> bytes:
    return clock(stamp_ns) + tail


def everything(path: Path) -> Recording:
    return read_recording(path, lambda topic, type_name: 10**6)


def log_ns(path: Path, topic: str) -> list[int]:
    times: list[int] = everything(path).topics[topic].log_ns.tolist()
    return times


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., WriterProcess]]:
    """A function that starts a recording to a file in the test's folder."""
    begun: list[WriterProcess] = []

    def make(name: str = "test.mcap", *, simulated: bool = True) -> WriterProcess:
        begun.append(WriterProcess(tmp_path / name, simulated=simulated, facts={"vehicle": "kite"}))
        return begun[-1]

    yield make
    for writer in begun:
        writer.close()


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Limit the file size, like a full disk, for processes started meanwhile."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.02)


def test_messages_round_trip_with_topic_type_and_offered_qos(
    begin: Callable[..., WriterProcess],
) -> None:
    writer = begin()
    tell_time, plain = writer.channel(CLOCK), writer.channel(PLAIN)
    sent = [bytes([number]) * number for number in range(200)]
    tell_time(clock(5))
    for body in sent:
        plain(body)
    outcome = writer.close()
    assert (outcome.messages, outcome.error) == (201, "")
    assert outcome.size == writer.path.stat().st_size
    with writer.path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None and summary.chunk_indexes
        assert summary.statistics.message_count == 201
        rows = list(reader.iter_messages(topics=["/plain"]))
        assert [record.data for _, _, record in rows] == sent
        assert [record.sequence for _, _, record in rows] == list(range(1, 201))
        schema, channel, _ = rows[0]
        assert schema is not None and (schema.name, schema.encoding) == (PLAIN.type_name, "ros2msg")
        assert channel.message_encoding == "cdr"
        assert channel.metadata == {"offered_qos_profiles": "", "topic_type_hash": "RIHS01_0"}
        assert next(iter(reader.iter_metadata())).metadata == {"vehicle": "kite"}


def test_log_time_comes_from_the_clock_or_a_nearby_stamp(begin: Callable[..., WriterProcess]) -> None:
    writer = begin()
    tell_time, stamped, plain = (writer.channel(one) for one in (CLOCK, STAMPED, PLAIN))
    plain(b"before the first tick")
    stamped(message(b"", 2_002_500_000))
    tell_time(clock(2_000_000_000))
    plain(b"at 2 s")
    stamped(message(b"", 2_500_000_000))
    stamped(message(b"stamped by the system's clock", 1_795_000_000 * 10**9))
    before = time.time_ns()
    writer.close()
    assert log_ns(writer.path, "/plain") == [2_000_000_000, 2_000_000_000]
    assert log_ns(writer.path, "/stamped") == [2_002_500_000, 2_500_000_000, 2_000_000_000]
    published = everything(writer.path).topics["/plain"].publish_ns
    assert (abs(published - before) < TIMEOUT_S * 1e9).all()


def test_log_time_without_simulated_time_is_system_time(begin: Callable[..., WriterProcess]) -> None:
    writer = begin(simulated=False)
    before = time.time_ns()
    writer.channel(CLOCK)(clock(5))
    after = time.time_ns()
    writer.close()
    assert before <= log_ns(writer.path, "/clock")[0] <= after


def test_echoed_messages_are_recorded_once_and_foreign_messages_too(
    begin: Callable[..., WriterProcess],
) -> None:
    writer = begin(simulated=False)
    own = writer.channel(PLAIN)
    own(b"latched")
    echo = writer.channel(Channel(**{**vars(PLAIN), "echo": True}))
    echo(b"latched")
    own(b"one")
    own(b"one")
    echo(b"one")
    echo(b"from elsewhere")
    echo(b"one")
    echo(b"one")
    writer.close()
    assert everything(writer.path).topics["/plain"].messages == [b"latched", b"one", b"one", b"from elsewhere", b"one"]


def test_existing_file_is_not_overwritten(begin: Callable[..., WriterProcess], tmp_path: Path) -> None:
    path = tmp_path / "test.mcap"
    path.write_bytes(b"precious")
    with pytest.raises(RecordingError, match=f"the file '{path}' already exists"):
        begin()
    assert path.read_bytes() == b"precious"


def test_unwritable_path_is_rejected_with_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    long = tmp_path / f"{'x' * 300}.mcap"
    for path in (
        Path("/proc/recording.mcap"),
        Path("/proc/folder/recording.mcap"),
        tmp_path / "file" / "one.mcap",
        long,
    ):
        with pytest.raises(RecordingError, match=f"cannot write '{path}': "):
            WriterProcess(path, simulated=True, facts={})


def test_messages_are_flushed_promptly_and_survive_a_killed_writer(
    begin: Callable[..., WriterProcess],
) -> None:
    writer = begin(simulated=False)
    plain = writer.channel(PLAIN)
    plain(b"first")
    writer.flush()
    # No further message arrives: only the elapsed time makes the process write.
    wait_until(lambda: bool(everything(writer.path).named("/plain")))
    os.kill(writer.process_id, signal.SIGKILL)
    # Wait for its end, but leave its exit code to the writer.
    os.waitid(os.P_PID, writer.process_id, os.WEXITED | os.WNOWAIT)
    plain(b"second")
    writer.flush()
    assert writer.error == "the writer process ended with -9"
    plain(b"third")
    outcome = writer.close()
    assert outcome.error == writer.error
    left = everything(writer.path)
    assert left.trouble == "its end is missing"
    assert left.topics["/plain"].messages == [b"first"]


def test_group_signal_does_not_end_writer_before_the_simulation(
    begin: Callable[..., WriterProcess],
) -> None:
    writer = begin(simulated=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(writer.process_id, number)
    writer.channel(PLAIN)(b"last words")
    assert writer.close().error == ""
    assert everything(writer.path).topics["/plain"].messages == [b"last words"]


def test_writer_completes_its_file_in_silence_if_nobody_reads_its_reports(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    path = tmp_path / "test.mcap"
    command = [sys.executable, "-m", "rosflight_py_sim.recording.mcap_writer", str(path)]
    done = subprocess.run(
        [*command, json.dumps({"simulated": True, "facts": {}})],
        input=b"",
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert everything(path).trouble == ""


def test_full_disk_is_reported_and_written_data_kept(begin: Callable[..., WriterProcess]) -> None:
    with files_limited_to(600_000):
        writer = begin(simulated=False)
    plain = writer.channel(PLAIN)
    count = 0

    def feed() -> bool:
        nonlocal count
        for _ in range(20):
            # Noise is incompressible.
            plain(os.urandom(1000))
        count += 20
        writer.flush()
        return bool(writer.error)

    wait_until(feed)
    assert writer.error == "File too large"
    outcome = writer.close()
    kept = everything(writer.path)
    assert kept.trouble == "its end is missing"
    assert 0 < len(kept.topics["/plain"].messages) == outcome.messages < count
    # Only complete parts, and nothing after the last one.
    assert kept.read == kept.size < 600_000


def test_slow_writer_throttles_the_simulation_and_loses_nothing(
    begin: Callable[..., WriterProcess],
) -> None:
    writer = begin(simulated=False)
    plain = writer.channel(PLAIN)
    os.kill(writer.process_id, signal.SIGSTOP)
    # Memory and pipe hold two of 3 MB: a timer resumes the process meanwhile.
    release = threading.Timer(0.5, os.kill, (writer.process_id, signal.SIGCONT))
    release.start()
    for number in range(3000):
        plain(struct.pack("<I", number) * 250)
    writer.flush()
    assert writer.close().messages == 3000
    release.join()
    bodies = everything(writer.path).topics["/plain"].messages
    assert [struct.unpack_from("<I", body)[0] for body in bodies] == list(range(3000))


def test_messages_after_the_end_are_dropped(begin: Callable[..., WriterProcess]) -> None:
    writer = begin(simulated=False)
    plain = writer.channel(PLAIN)
    plain(b"before")
    assert writer.close().messages == 1
    for _ in range(3000):
        plain(bytes(1000))
    writer.flush()
    assert len(everything(writer.path).topics["/plain"].messages) == 1


@pytest.mark.parametrize("size", [100_000, 5_000_000])
def test_messages_larger_than_batch_and_chunk_keep_their_place(begin: Callable[..., WriterProcess], size: int) -> None:
    writer = begin(simulated=False)
    plain = writer.channel(PLAIN)
    bodies = [b"first", bytes(size), b"between", bytes([7]) * size, b"last"]
    for body in bodies:
        plain(body)
    writer.close()
    assert everything(writer.path).topics["/plain"].messages == bodies


def test_messages_of_kernels_and_of_python_keep_their_order(begin: Callable[..., WriterProcess]) -> None:
    writer = begin(simulated=False)
    plain, data = writer.channel(PLAIN), np.zeros(400, np.uint8)
    link, expected = plain.link(data), []
    for number in range(9000):
        body = struct.pack("<I", number) * 100
        data[:] = np.frombuffer(body, np.uint8)
        if number % 3:
            plain(body)
        elif link.run():
            link.attend(0, 1)
        expected.append(body)
    assert writer.close().messages == 9000
    assert everything(writer.path).topics["/plain"].messages == expected


@pytest.mark.parametrize("size", [700_000, 3_000_000])
def test_large_messages_of_kernels_are_sent_as_the_memory_fills(begin: Callable[..., WriterProcess], size: int) -> None:
    writer = begin(simulated=False)
    data = np.zeros(size, np.uint8)
    link, expected = writer.channel(PLAIN).link(data), []
    for number in range(4):
        data[:] = number
        if link.run():
            link.attend(0, 1)
        expected.append(data.tobytes())
    assert writer.close().messages == 4
    assert everything(writer.path).topics["/plain"].messages == expected


def test_long_recording_needs_little_memory_for_its_index(tmp_path: Path) -> None:
    path, topics, chunks = tmp_path / "long.mcap", 100, 400
    file = BufferedFile(path)
    recording = McapRecording(file, simulated=False, facts={})
    for number in range(1, topics + 1):
        described = asdict(Channel(f"/plain_{number}", PLAIN.type_name, PLAIN.definition)) | {"number": number}
        body = json.dumps(described).encode()
        recording.take(PIPE_HEADER.pack(DESCRIPTIONS, 0, len(body)) + body)

    def add(count: int, system_ns: int) -> None:
        for _ in range(count):
            system_ns += 1
            recording.take(
                b"".join(PIPE_HEADER.pack(number, system_ns, 8) + bytes(8) for number in range(1, topics + 1))
            )
            recording.flush()

    add(chunks // 2, 0)
    tracemalloc.start()
    try:
        add(chunks // 2, chunks)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # An entry of the file's index has 10 bytes for each topic.
    assert grown < chunks / 2 * topics * 15
    recording.finish()
    file.close()
    with path.open("rb") as source:
        reader = make_reader(source)
        summary = reader.get_summary()
        assert summary is not None and len(summary.chunk_indexes) >= chunks
        assert len(summary.chunk_indexes[-1].message_index_offsets) == topics
        assert sum(1 for _ in reader.iter_messages(topics=["/plain_7"])) == chunks
