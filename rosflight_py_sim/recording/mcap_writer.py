"""Writer process of a recording: converts pipe messages from standard input to an MCAP file.

It is a separate process because compression and indexes would slow the simulation down. It prints lines of JSON on
standard output: first that the file is open, at the end the number of messages or the error. When its input ends, it
completes the file.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
from mcap import __version__ as mcap_version
from mcap.well_known import MessageEncoding, Profile, SchemaEncoding

from rosflight_py_sim import __version__
from rosflight_py_sim.ground import topic_names
from rosflight_py_sim.ground.stamps import stamp_ns
from rosflight_py_sim.recording.chunked_file import ChunkedFile
from rosflight_py_sim.recording.mcap_chunk import (
    BY_PYTHON,
    CLOCK,
    IS_FULL,
    NO_CLOCK,
    STAMPED,
    TAKEN,
    UNSTAMPED,
    Chunk,
)
from rosflight_py_sim.recording.pipe_messages import DESCRIPTIONS, METADATA, PIPE_HEADER, Channel

FLUSH_S = 0.4
"""Age at which messages are flushed to disk; a kill loses at most one second."""

_BLOCK = 1 << 20

# Greatest number of messages of a topic in transit between a publisher and a subscription of the same process.
_ECHOES = 4096


class BufferedFile:
    """A new file that grows only by complete flushes."""

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            OSError: the file exists, or cannot be created.
        """
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        self._parts: list[bytes] = []
        self._written = self._end = 0

    @property
    def unwritten(self) -> int:
        """Bytes since the last flush."""
        return self._end - self._written

    def tell(self) -> int:
        """Number of bytes so far."""
        return self._end

    def write(self, data: bytes) -> None:
        """Append bytes to the next flush."""
        self._parts.append(data)
        self._end += len(data)

    def flush(self) -> None:
        """Write the bytes since the last flush.

        Raises:
            OSError: not everything was written; the file is then cut back to its previous end.
        """
        data = memoryview(b"".join(self._parts))
        self._parts.clear()
        try:
            while data:
                count = os.write(self._descriptor, data)
                if count == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                data = data[count:]
        except OSError:
            os.ftruncate(self._descriptor, self._written)
            raise
        self._written = self._end

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class McapRecording:
    """Writes pipe messages as messages of an MCAP file.

    Attributes:
        messages: number of messages in the file, as of the last flush.
    """

    def __init__(self, file: BufferedFile, simulated: bool, facts: dict[str, str]) -> None:
        """Start the file; `simulated`: whether time comes from /clock; `facts` become metadata."""
        self.messages = self._taken = 0
        self._file = file
        self._chunk = Chunk(needs_clock=simulated)
        library = f"rosflight_py_sim {__version__}, mcap {mcap_version}"
        self._written = ChunkedFile(file, self._chunk, Profile.ROS2, library)
        self._written.add_metadata("rosflight_py_sim", facts)
        self._waiting: list[tuple[int, int, bytes]] = []
        self._channels: dict[int, Channel] = {}
        self._ids: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        # For each topic, the last message from its directly recorded publishers, and the messages whose echoes are
        # still to come.
        self._newest: dict[str, bytes] = {}
        self._echoes: dict[str, deque[bytes]] = {}

    def take(self, data: bytes) -> int:
        """Process the complete pipe messages at the beginning of `data`; return their size in bytes."""
        numbers, at = np.frombuffer(data, np.uint8), 0
        while True:
            at, why = self._chunk.take(numbers, at)
            if why == TAKEN:
                return at
            if why == IS_FULL:
                self.flush()
            if at + PIPE_HEADER.size > len(data):
                return at
            number, system_ns, length = PIPE_HEADER.unpack_from(data, at)
            if why == IS_FULL:
                self._chunk.has_room(length)
            else:
                at += PIPE_HEADER.size
                self._take(number, system_ns, data[at : at + length])
                at += length

    def _take(self, number: int, system_ns: int, body: bytes) -> None:
        """Process a pipe message that the kernel leaves to Python."""
        if number == DESCRIPTIONS:
            self._describe(body)
        elif number == METADATA:
            described = json.loads(body)
            self._written.add_metadata(described["name"], described["metadata"])
            self._file.flush()
        elif not self._is_echo(self._channels[number], body):
            self._take_message(number, system_ns, body)

    def _describe(self, body: bytes) -> None:
        fields = json.loads(body)
        number = fields.pop("number")
        channel = Channel(**fields)
        if channel.topic not in self._ids:
            metadata = {"offered_qos_profiles": channel.offered_qos, "topic_type_hash": channel.type_hash}
            self._ids[channel.topic] = self._written.add_channel(
                channel.topic, MessageEncoding.CDR, self._schema(channel), metadata
            )
        self._channels[number] = channel
        if channel.echo:
            self._keep_newest()
            self._echoes[channel.topic] = deque(filter(None, [self._newest.get(channel.topic)]), _ECHOES)
        for other, one in self._channels.items():
            if one.topic == channel.topic:
                kind = CLOCK if one.topic == topic_names.CLOCK else STAMPED if one.stamped else UNSTAMPED
                kind = BY_PYTHON if one.topic in self._echoes else kind
                self._chunk.describe(other, kind, self._ids[one.topic])

    def _schema(self, channel: Channel) -> int:
        name = channel.type_name
        if name not in self._schemas:
            self._schemas[name] = self._written.add_schema(name, SchemaEncoding.ROS2, channel.definition)
        return self._schemas[name]

    def _is_echo(self, channel: Channel, body: bytes) -> bool:
        echoes = self._echoes.get(channel.topic)
        if not channel.echo:
            self._newest[channel.topic] = body
            if echoes is not None:
                echoes.append(body)
        elif echoes is not None and body in echoes:
            echoes.remove(body)
            return True
        return False

    def _keep_newest(self) -> None:
        """Keep the last message of each topic whose publishers are recorded directly."""
        for number, channel in self._channels.items():
            body = None if channel.echo else self._chunk.last_body(number)
            if body is not None:
                self._newest[channel.topic] = body

    def _take_message(self, number: int, system_ns: int, body: bytes) -> None:
        filling = self._chunk.filling
        if filling.needs_clock:
            if self._channels[number].topic == topic_names.CLOCK:
                self._set_time(stamp_ns(body))
            elif filling.clock_ns == NO_CLOCK:
                self._waiting.append((number, system_ns, body))
                return
        self._add(number, system_ns, body)

    def _set_time(self, clock_ns: int) -> None:
        self._chunk.filling.clock_ns = clock_ns
        waiting, self._waiting = self._waiting, []
        for early in waiting:
            self._add(*early)

    def _add(self, number: int, system_ns: int, body: bytes) -> None:
        if not self._chunk.has_room(len(body)):
            self.flush()
            self._chunk.has_room(len(body))
        self._chunk.add(number, system_ns, body)

    def flush(self) -> None:
        """Write the pending messages to the file.

        Raises:
            OSError: the file cannot be written.
        """
        if self._waiting:
            # No clock so far: the simulation has not started or has not been discovered.
            bodies = [body for number, _, body in self._waiting if self._channels[number].stamped]
            self._set_time(max(map(stamp_ns, bodies), default=0))
        self._keep_newest()
        self._taken += self._chunk.filling.messages
        self._written.end_chunk()
        self._file.flush()
        self.messages = self._taken

    def finish(self) -> None:
        """Complete the file with summary and index.

        Raises:
            OSError: the file cannot be written.
        """
        self.flush()
        self._written.finish()
        self._file.flush()


def copy(recording: McapRecording, source: int) -> None:
    """Process pipe messages from a descriptor until it ends, with regular flushes.

    Raises:
        OSError: the file cannot be written.
    """
    pending = b""
    flushed_s = time.monotonic()
    while True:
        if select.select([source], [], [], FLUSH_S)[0]:
            block = os.read(source, _BLOCK)
            if not block:
                return
            pending += block
            pending = pending[recording.take(pending) :]
        now_s = time.monotonic()
        if now_s - flushed_s >= FLUSH_S:
            recording.flush()
            flushed_s = now_s


def main() -> None:
    """Write to a file until standard input ends; arguments: file, and JSON with `simulated` and facts."""
    # The parent process ends this one by closing the pipe.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    path, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    recording = None
    try:
        file = BufferedFile(path)
        recording = McapRecording(file, settings["simulated"], settings["facts"])
        recording.flush()
        _report({"open": True})
        copy(recording, sys.stdin.fileno())
        recording.finish()
        file.close()
    except OSError as error:
        messages = recording.messages if recording else 0
        taken = isinstance(error, FileExistsError)
        _report({"error": error.strerror or str(error), "messages": messages, "taken": taken})
        sys.exit(1)
    _report({"messages": recording.messages, "bytes": path.stat().st_size})


def _report(what: dict[str, object]) -> None:
    # A parent process that was killed reads nothing; the file is complete all the same.
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        # Python would write once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
