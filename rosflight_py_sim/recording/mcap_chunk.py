"""A chunk of an MCAP file, filled by a kernel: pipe messages become message records with an index.

A message of a recording takes 4 us in Python, but a few hundred nanoseconds here.

Source of the format: MCAP specification (mcap.dev/spec), Message, Message Index and Chunk.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.jit import kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.recording.pipe_messages import HEADER_BYTES, put_integer

CHUNK_BYTES = 2 << 20
"""Size at which a chunk is complete. Each chunk has an index entry of 10 bytes per topic, so small chunks would make a
long recording's index large.
"""

# Stamps that differ from the clock by more than this come from another clock.
_STAMP_IS_NEAR_NS = NANOSECONDS

# A message record before its body, with opcode, length, channel, sequence, log time and publish time.
_RECORD_BYTES = 31
_MESSAGE, _MESSAGE_INDEX = 0x05, 0x07

# Columns of the table of channels.
KIND, CHANNEL, SEQUENCE, LAST, SIZE = range(5)

BY_PYTHON, UNSTAMPED, STAMPED, CLOCK = range(4)
"""Kinds of channels: messages left to Python, messages without a stamp, messages with a stamp, and /clock."""

NO_CLOCK = -1
"""Time of the clock before its first message, ns."""

TAKEN, IS_FULL, FOR_PYTHON = range(3)
"""Why `take_messages` has stopped: no complete message is left, the chunk is full, or a message is for Python."""


@kernel_record
class Filling:
    """How far a chunk has been filled.

    Attributes:
        size: bytes of its records.
        messages: number of its messages.
        start_ns: earliest log time, ns.
        end_ns: latest log time, ns.
        clock_ns: time of the newest clock message, ns; NO_CLOCK before the first, or without a clock.
        needs_clock: whether Python takes the messages before the first clock message.
    """

    size: int
    messages: int
    start_ns: int
    end_ns: int
    clock_ns: int
    needs_clock: bool


@kernel
def integer_at(data: NDArray[np.uint8], at: int, size: int) -> int:
    """Unsigned integer of `size` bytes at an offset, the lowest byte first."""
    value = 0
    for i in range(size):
        value += int(np.int64(data[at + i])) << (8 * i)
    return value


@kernel
def stamp_at(data: NDArray[np.uint8], at: int) -> int:
    """Stamp of the message at an offset, ns."""
    seconds = integer_at(data, at + 4, 4)
    if seconds >= 1 << 31:
        seconds -= 1 << 32
    return seconds * NANOSECONDS + integer_at(data, at + 8, 4)


@kernel
def add_record(
    data: NDArray[np.uint8],
    at: int,
    size: int,
    system_ns: int,
    number: int,
    filling: Filling,
    channels: NDArray[np.int64],
    chunk: NDArray[np.uint8],
    index: NDArray[np.int64],
) -> None:
    """Add a record of the message of `size` bytes at an offset of `data`; `number`: channel of the pipe message.

    The log time is the time of the clock, or the system time without a clock. A stamp near that time replaces it.
    """
    log_ns = system_ns if filling.clock_ns == NO_CLOCK else filling.clock_ns
    if channels[number, KIND] == STAMPED:
        own_ns = stamp_at(data, at)
        if own_ns >= 0 and -_STAMP_IS_NEAR_NS < own_ns - log_ns < _STAMP_IS_NEAR_NS:
            log_ns = own_ns
    place, channel = filling.size, channels[number, CHANNEL]
    channels[channel, SEQUENCE] += 1
    chunk[place] = _MESSAGE
    put_integer(_RECORD_BYTES - 9 + size, 8, chunk, place + 1)
    put_integer(channel, 2, chunk, place + 9)
    put_integer(channels[channel, SEQUENCE], 4, chunk, place + 11)
    put_integer(log_ns, 8, chunk, place + 15)
    put_integer(system_ns, 8, chunk, place + 23)
    for i in range(size):
        chunk[place + _RECORD_BYTES + i] = data[at + i]
    channels[number, LAST], channels[number, SIZE] = place + _RECORD_BYTES, size
    count = filling.messages
    index[count, 0], index[count, 1], index[count, 2] = channel, log_ns, place
    filling.start_ns = log_ns if count == 0 else min(filling.start_ns, log_ns)
    filling.end_ns = log_ns if count == 0 else max(filling.end_ns, log_ns)
    filling.messages = count + 1
    filling.size = place + _RECORD_BYTES + size


@kernel
def take_messages(
    data: NDArray[np.uint8],
    begin: int,
    filling: Filling,
    channels: NDArray[np.int64],
    chunk: NDArray[np.uint8],
    index: NDArray[np.int64],
) -> tuple[int, int]:
    """Add pipe messages from an offset on; return the offset of the first one not added, and why it stopped."""
    at = begin
    while at + HEADER_BYTES <= len(data):
        number, size = integer_at(data, at, 2), integer_at(data, at + 10, 4)
        body = at + HEADER_BYTES
        if body + size > len(data):
            return at, TAKEN
        kind = channels[number, KIND] if number < len(channels) else BY_PYTHON
        is_early = filling.needs_clock and filling.clock_ns == NO_CLOCK
        if kind == BY_PYTHON or is_early:
            return at, FOR_PYTHON
        if filling.size + _RECORD_BYTES + size > len(chunk) or filling.messages == len(index):
            return at, IS_FULL
        if kind == CLOCK and filling.needs_clock:
            filling.clock_ns = stamp_at(data, body)
        add_record(data, body, size, integer_at(data, at + 2, 8), number, filling, channels, chunk, index)
        at = body + size
        if filling.size >= CHUNK_BYTES:
            return at, IS_FULL
    return at, TAKEN


class Group(NamedTuple):
    """Messages of one channel in a chunk.

    Attributes:
        channel: id of the channel in the file.
        messages: number of messages.
        record: the index record.
    """

    channel: int
    messages: int
    record: bytes


class Chunk:
    """Messages that are compressed together.

    Attributes:
        filling: how far it has been filled.
        channels: table of the channels of pipe messages, and of the sequences of those in the file.
    """

    def __init__(self, *, needs_clock: bool) -> None:
        """Begin empty; `needs_clock`: whether the times of messages refer to /clock."""
        self.filling = Filling(size=0, messages=0, start_ns=0, end_ns=0, clock_ns=NO_CLOCK, needs_clock=needs_clock)
        self.channels: NDArray[np.int64] = np.zeros((64, 5), np.int64)
        self._memory: NDArray[np.uint8] = np.zeros(CHUNK_BYTES + (1 << 16), np.uint8)
        self._index: NDArray[np.int64] = np.zeros((1 << 16, 3), np.int64)

    def describe(self, number: int, kind: int, channel: int) -> None:
        """Set the kind of a channel of pipe messages, and its id in the file."""
        while max(number, channel) >= len(self.channels):
            self.channels = np.concatenate([self.channels, np.zeros_like(self.channels)])
        self.channels[number, : CHANNEL + 1] = kind, channel

    def take(self, data: NDArray[np.uint8], begin: int) -> tuple[int, int]:
        """Add pipe messages; see `take_messages`."""
        return take_messages(data, begin, self.filling, self.channels, self._memory, self._index)

    def has_room(self, size: int) -> bool:
        """Whether a message of this size fits; a chunk without messages is enlarged to hold it."""
        filling, needed = self.filling, self.filling.size + _RECORD_BYTES + size
        if filling.messages == 0:
            self._grow_to(needed)
        return needed <= len(self._memory) and filling.messages < len(self._index)

    def _grow_to(self, size: int) -> None:
        if size > len(self._memory):
            grown: NDArray[np.uint8] = np.zeros(size, np.uint8)
            grown[: self.filling.size] = self._memory[: self.filling.size]
            self._memory = grown

    def append(self, record: bytes) -> None:
        """Add a record that is not a message."""
        first, end = self.filling.size, self.filling.size + len(record)
        self._grow_to(end)
        self._memory[first:end] = np.frombuffer(record, np.uint8)
        self.filling.size = end

    def add(self, number: int, system_ns: int, body: bytes) -> None:
        """Add a message that fits; see `has_room`."""
        data = np.frombuffer(body, np.uint8)
        add_record(data, 0, len(data), system_ns, number, self.filling, self.channels, self._memory, self._index)

    def last_body(self, number: int) -> bytes | None:
        """Body of the last message of a channel in the chunk; None if there is none."""
        first, size = self.channels[number, LAST : SIZE + 1].tolist()
        return self._memory[first : first + size].tobytes() if size else None

    @property
    def records(self) -> bytes:
        """The chunk's records, uncompressed."""
        return self._memory[: self.filling.size].tobytes()

    def groups(self) -> Iterator[Group]:
        """Index record of each channel that has messages in the chunk."""
        index = self._index[: self.filling.messages]
        index = index[np.argsort(index[:, 0], kind="stable")]
        first = 0
        for after in [*(np.flatnonzero(np.diff(index[:, 0])) + 1).tolist(), len(index)]:
            channel, entries = int(index[first, 0]), index[first:after, 1:].astype("<i8").tobytes()
            head = struct.pack("<BQHI", _MESSAGE_INDEX, 6 + len(entries), channel, len(entries))
            yield Group(channel, after - first, head + entries)
            first = after

    def clear(self) -> None:
        """Begin the next chunk."""
        self.filling.size = self.filling.messages = 0
        self.channels[:, SIZE] = 0
