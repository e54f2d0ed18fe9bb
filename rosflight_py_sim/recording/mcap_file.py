"""Reading of recordings in MCAP: topics with the times of all messages, and a selection of the messages.

A recording is a file, or a rosbag2 folder (`bag_folder.py`), whose files are read as one. Files of `ros2 bag record
-s mcap` and of any other recorder are supported. A truncated file (recorder killed, disk full) is read up to its last
complete part, and marked as truncated.
"""

from __future__ import annotations

import io
import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.ground.stamps import EPOCH, NANOSECONDS
from rosflight_py_sim.ground.topic_names import CLOCK
from rosflight_py_sim.recording.bag_folder import BagError, parts_of

Times = npt.NDArray[np.int64]

RUN = "rosflight_py_sim.run"
"""Name of the metadata about a run."""

_MAGIC = b"\x89MCAP0\r\n"

# Opcodes within a chunk, and the beginning of a message record (MCAP specification, "Records").
_SCHEMA, _CHANNEL, _MESSAGE = 0x03, 0x04, 0x05
_RECORD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<HIQQ")

# A message of /clock in CDR, by its byte order.
_CLOCK_TYPE = "rosgraph_msgs/msg/Clock"
_CLOCK_BODY = struct.Struct(">iI"), struct.Struct("<iI")
_CLOCK_SIZE = 12


class NotMcapError(ValueError):
    """A file or folder that is not an MCAP recording or cannot be read; the text gives the reason."""


@dataclass
class Topic:
    """One topic of a recording.

    Attributes:
        name: full name.
        type_name: such as `package/msg/Name`.
        encoding, schema_encoding: encodings of the messages and of `definition`.
        definition: type definition.
        log_ns: time of each message on the recorder's clock; simulated time if the simulation publishes it.
        publish_ns: time of each message by the publisher's system clock.
        clock_ns: time in each message of /clock; `log_ns` differs from it if the recorder runs on system time.
        size: total size of the messages, bytes.
        kept: indices of the kept messages.
        places: place of each kept message among all messages of the recording.
        messages: kept messages, serialised.
    """

    name: str
    type_name: str
    encoding: str
    schema_encoding: str
    definition: str
    log_ns: Times = field(default_factory=lambda: np.empty(0, np.int64))
    publish_ns: Times = field(default_factory=lambda: np.empty(0, np.int64))
    clock_ns: Times = field(default_factory=lambda: np.empty(0, np.int64))
    size: int = 0
    kept: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)

    @property
    def kept_s(self) -> npt.NDArray[np.float64]:
        """Times of the kept messages, s."""
        return np.asarray(self.log_ns[self.kept] / NANOSECONDS, np.float64)


@dataclass
class Recording:
    """A recording in memory.

    Attributes:
        path: the file or folder.
        size: size of its files, bytes.
        profile, library: as stated in the last file.
        topics: by name.
        facts: metadata of this package's recorder; empty for other recorders.
        run: metadata of the recorded run; empty unless one process recorded itself.
        trouble: why the recording is incomplete; empty if it is complete.
        read: number of bytes read.
    """

    path: Path
    size: int
    profile: str = ""
    library: str = ""
    topics: dict[str, Topic] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    run: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    read: int = 0

    @property
    def span_ns(self) -> tuple[int, int]:
        """Times of the first and last message; zeros without messages."""
        ends = [(int(t.log_ns.min()), int(t.log_ns.max())) for t in self.topics.values() if len(t.log_ns)]
        return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else (0, 0)

    @property
    def torn(self) -> str:
        """Where the recorded clock goes back again and again, as with two publishers; empty if it does not."""
        clock = self.named(CLOCK)
        if clock is None:
            return ""
        back = np.flatnonzero(np.diff(clock.clock_ns) < 0)
        # Once, the clock may have been set back.
        if len(back) < 2:
            return ""
        before_s, after_s = clock.clock_ns[back[0] : back[0] + 2] / NANOSECONDS
        return (
            f"{CLOCK} goes back {len(back)} times, first from {before_s:g} s to {after_s:g} s: two simulations shared "
            "the ROS domain"
        )

    def named(self, name: str) -> Topic | None:
        """The topic with this name, if it has messages."""
        topic = self.topics.get(name)
        return topic if topic is not None and len(topic.log_ns) else None


Limit = Callable[[str, str], int]
"""Largest number of messages of a topic to keep (its name, its type); 0: none."""


class _Kept:
    """Evenly spaced selection of a topic's messages; thinned out whenever it exceeds the limit."""

    def __init__(self, topic: Topic, limit: int) -> None:
        self.topic = topic
        self.log_ns, self.publish_ns, self.clock_ns = array("q"), array("q"), array("q")
        self._limit = limit
        self._every = 1

    def take(self, place: int, log_ns: int, publish_ns: int, body: bytes) -> None:
        topic, number = self.topic, len(self.log_ns)
        self.log_ns.append(log_ns)
        self.publish_ns.append(publish_ns)
        topic.size += len(body)
        if topic.type_name == _CLOCK_TYPE and len(body) == _CLOCK_SIZE:
            seconds, rest = _CLOCK_BODY[body[1] & 1].unpack_from(body, 4)
            self.clock_ns.append(seconds * NANOSECONDS + rest)
        if not self._limit or number % self._every:
            return
        if len(topic.kept) >= self._limit:
            del topic.kept[1::2], topic.places[1::2], topic.messages[1::2]
            self._every *= 2
            if number % self._every:
                return
        topic.kept.append(number)
        topic.places.append(place)
        topic.messages.append(body)

    def finish(self) -> None:
        self.topic.log_ns = np.array(self.log_ns, np.int64)
        self.topic.publish_ns = np.array(self.publish_ns, np.int64)
        self.topic.clock_ns = np.array(self.clock_ns, np.int64)


def read_recording(path: Path, limit: Limit) -> Recording:
    """Read a file, or all files of a rosbag2 folder; its messages count from the epoch of the recorded simulation.

    Raises:
        NotMcapError: the path does not exist, is neither an MCAP file nor a rosbag2 folder with such files, or a
            required library is not installed.
    """
    try:
        import zstandard
        from mcap import exceptions, records, stream_reader  # noqa: F401
    except ModuleNotFoundError as missing:
        raise NotMcapError(
            f"reading a recording needs mcap ({missing}): pip install 'rosflight_py_sim[record]'"
        ) from missing
    try:
        parts = parts_of(path)
        recording = Recording(path, sum(file.stat().st_size for file in parts.files))
        decompress = zstandard.ZstdDecompressor().decompress if parts.compressed_messages else None
        reader = _Reader(recording, limit, decompress)
        troubles = list(parts.trouble)
        for number, file in enumerate(parts.files):
            trouble = _read_file(file, reader, is_first=number == 0)
            if trouble:
                troubles.append(trouble if file == path else f"{file.name}: {trouble}")
        recording.trouble = "; ".join(troubles)
        reader.finish()
        EPOCH.ns = int(recording.facts.get("epoch_ns", "0"))
    except BagError as error:
        raise NotMcapError(str(error)) from error
    except OSError as error:
        raise NotMcapError(f"cannot read '{path}': {error.strerror}") from error
    return recording


def _read_file(path: Path, reader: _Reader, *, is_first: bool) -> str:
    """Add the records of a file; return why it is incomplete, or an empty text.

    Raises:
        NotMcapError: the first file is not an MCAP file.
        OSError: the file cannot be read.
    """
    import zstandard
    from mcap import exceptions, records, stream_reader

    recording, size = reader.recording, path.stat().st_size
    before, has_records = recording.read, False
    reader.begin_file()
    with path.open("rb") as file:
        # Of a compressed file, the size is not known.
        whole = zstandard.ZstdDecompressor().stream_reader(file) if path.suffix == ".zstd" else None
        source: Any = _Source(whole or file)
        limit = size if whole is None else _LARGEST_RECORD
        try:
            for record in stream_reader.StreamReader(source, emit_chunks=True, record_size_limit=limit).records:
                reader.take(record, records, stream_reader)
                has_records = True
                recording.read = before + (source.count if whole is None else file.tell())
        except exceptions.InvalidMagic as error:
            if has_records:
                return "its end is missing"
            if is_first:
                raise NotMcapError(f"'{path}' is not an MCAP file") from error
            return "it is not an MCAP file"
        except exceptions.RecordLengthLimitExceeded:
            return "its end is missing"
        except (*_BROKEN, exceptions.McapError, zstandard.ZstdError) as error:
            if is_first and source.count < len(_MAGIC):
                raise NotMcapError(f"'{path}' is not an MCAP file") from error
            damage = f"it is damaged after {recording.read - before} bytes ({error or type(error).__name__})"
            return "its end is missing" if source.ended else damage
    recording.read = before + size
    return ""


# Greatest size of a record in a compressed file, bytes.
_LARGEST_RECORD = 1 << 30

# Exceptions of the library, struct and lz4 for a truncated or damaged file.
_BROKEN = (EOFError, struct.error, ValueError, LookupError, ArithmeticError, RuntimeError, MemoryError)


class _Source:
    """A file that counts the bytes requested, and records whether they exceeded its size."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0
        self.ended = False

    def read(self, length: int) -> bytes:
        """Up to `length` bytes; fewer at the end."""
        data = self._file.read(length)
        self.count += len(data)
        self.ended = len(data) < length
        return data


class _Reader:
    """Adds the records of files to a Recording."""

    def __init__(self, recording: Recording, limit: Limit, decompress: Callable[[bytes], bytes] | None) -> None:
        self.recording = recording
        self._limit = limit
        self._decompress = decompress
        self._schemas: dict[int, Any] = {}
        self._channels: dict[int, _Kept] = {}
        self._by_name: dict[str, _Kept] = {}
        self._count = 0

    def begin_file(self) -> None:
        """Forget the numbers of schemas and channels, which each file assigns anew."""
        self._schemas.clear()
        self._channels.clear()

    def take(self, record: Any, records: Any, stream_reader: Any) -> None:
        recording = self.recording
        if isinstance(record, records.Chunk):
            stream, length = stream_reader.get_chunk_data_stream(record, validate_crc=True)
            self._take_chunk(stream.read(length), records)
        elif isinstance(record, records.Header):
            recording.profile, recording.library = record.profile, record.library
        elif isinstance(record, records.Metadata) and record.name == "rosflight_py_sim":
            recording.facts = record.metadata
        elif isinstance(record, records.Metadata) and record.name == RUN:
            recording.run = record.metadata
        elif isinstance(record, records.Schema):
            self._schemas[record.id] = record
        elif isinstance(record, records.Channel):
            self._open(record)
        elif isinstance(record, records.Message):
            self._take_message(record.channel_id, record.log_time, record.publish_time, record.data)

    def _take_chunk(self, data: bytes, records: Any) -> None:
        for opcode, at, length in _records(data):
            if opcode == _MESSAGE:
                channel, _, log_ns, publish_ns = _MESSAGE_HEAD.unpack_from(data, at)
                self._take_message(channel, log_ns, publish_ns, data[at + _MESSAGE_HEAD.size : at + length])
            elif opcode in (_SCHEMA, _CHANNEL):
                kind = records.Schema if opcode == _SCHEMA else records.Channel
                self.take(kind.read(_stream(data[at : at + length])), records, None)

    def _take_message(self, channel: int, log_ns: int, publish_ns: int, body: bytes) -> None:
        if self._decompress is not None:
            body = self._decompress(body)
        self._channels[channel].take(self._count, log_ns, publish_ns, body)
        self._count += 1

    def _open(self, channel: Any) -> None:
        if channel.id in self._channels:
            return
        if channel.topic not in self._by_name:
            schema = self._schemas.get(channel.schema_id)
            name, encoding = (schema.name, schema.encoding) if schema else ("", "")
            text = schema.data.decode(errors="replace") if schema else ""
            topic = Topic(channel.topic, name, channel.message_encoding, encoding, text)
            self.recording.topics[topic.name] = topic
            self._by_name[topic.name] = _Kept(topic, self._limit(topic.name, topic.type_name))
        self._channels[channel.id] = self._by_name[channel.topic]

    def finish(self) -> None:
        for kept in self._by_name.values():
            kept.finish()


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Opcode, position and length of a chunk's records."""
    at, end = 0, len(data)
    while at < end:
        opcode, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        yield opcode, at, length
        at += length


def _stream(data: bytes) -> Any:
    from mcap.data_stream import ReadDataStream

    return ReadDataStream(io.BytesIO(data))
