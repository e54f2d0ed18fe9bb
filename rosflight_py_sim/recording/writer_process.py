"""Client of the writer process: sends serialised messages in batches.

Python and the kernels of a chain append messages to a batch in memory, in the format of the pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.chain import ChainLink
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import kernel_record
from rosflight_py_sim.recording.pipe_messages import (
    DESCRIPTIONS,
    HEADER_BYTES,
    METADATA,
    PIPE_HEADER,
    Channel,
    put_integer,
)

# Linux's fcntl command for the size of a pipe, and a size for some hundred steps.
_F_SETPIPE_SZ = 1031
_PIPE = 1 << 20

# Time limit for writing the contents of pipe and memory, with a wide margin for a slow disk.
_FLUSH_TIMEOUT_S = 30.0


# Size of the batch in memory.
_BATCH = 1 << 20


@kernel_record
class Batch:
    """State of the batch in memory.

    Attributes:
        size: in bytes.
        system_ns: system time of the last message from Python, ns since 1970.
    """

    size: int
    system_ns: int


@kernel
def collect_message(channel: int, data: NDArray[np.uint8], batch: Batch, memory: NDArray[np.uint8]) -> bool:
    """Append a pipe message to the batch, or return that the memory has no room for it."""
    at, size = batch.size, len(data)
    if at + HEADER_BYTES + size > len(memory):
        return True
    put_integer(channel, 2, memory, at)
    put_integer(batch.system_ns, 8, memory, at + 2)
    put_integer(size, 4, memory, at + 10)
    for i in range(size):
        memory[at + HEADER_BYTES + i] = data[i]
    batch.size = at + HEADER_BYTES + size
    return False


class RecordingError(Exception):
    """A recording cannot be started; the text gives the reason."""


class FileTakenError(RecordingError):
    """The file already exists."""


@dataclass(frozen=True)
class Outcome:
    """Result of a recording.

    Attributes:
        path: the file.
        messages: number of messages in the file.
        size: size in bytes; 0 if unknown, because the file was not completed.
        error: description of the error; empty if none.
    """

    path: Path
    messages: int
    size: int
    error: str

    @property
    def text(self) -> str:
        """The result as text."""
        if self.error:
            return f"incomplete after {self.messages} messages: {self.error}"
        return f"{self.messages} messages, {self.size / 1e6:.1f} MB"


class ChannelInput:
    """Collects the serialised messages of one channel."""

    def __init__(self, writer: WriterProcess, number: int) -> None:
        """Collect messages for a writer process, under the number of the channel."""
        self._number, self._collect = number, writer.collect
        self._batch, self._memory = writer.batch, writer.memory

    def __call__(self, message: bytes, time_ns: int | None = None) -> None:
        """Collect a message that arrived at a system time, ns since 1970; None: now."""
        self._batch.system_ns = system_ns = time_ns or time.time_ns()
        self._collect(self._number, system_ns, message)

    def link(self, data: NDArray[np.uint8]) -> ChainLink:
        """Link by which a chain of kernels collects the message in an array; Python does once the memory is full.

        The message has the system time of the last message from Python.
        """
        number, batch, collect = self._number, self._batch, self._collect

        def attend(time_ns: int, status: int) -> None:
            collect(number, batch.system_ns, data.tobytes())

        return ChainLink(bound(collect_message, number, data, batch, self._memory), attend, is_closed=True)


class WriterProcess:
    """Collects messages in a batch, and sends the batch when it is full or `flush` is called.

    If the process cannot keep up, `flush` waits for it, so no message is lost. If it cannot write, `error` gives the
    reason, and further messages are dropped.

    Attributes:
        path: the file.
        error: description of the error; empty if none.
        batch: state of the batch.
        memory: the batch, in the format of the pipe.
    """

    def __init__(self, path: Path, *, simulated: bool, facts: Mapping[str, str]) -> None:
        """Start the process; the file's folders are created.

        Args:
            path: a file that does not exist yet.
            simulated: whether time comes from the topic /clock.
            facts: metadata for the file.

        Raises:
            RecordingError: the file cannot be written, or the required libraries are not installed.
        """
        if find_spec("mcap") is None:
            raise RecordingError("recording needs mcap: pip install 'rosflight_py_sim[record]'")
        self.path = path
        self.error = ""
        self._outcome: Outcome | None = None
        self.batch = Batch(size=0, system_ns=time.time_ns())
        self.memory: NDArray[np.uint8] = np.zeros(_BATCH, np.uint8)
        self._view = self.memory.data
        self._channels = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            has_file = path.exists()
        except OSError as error:
            raise RecordingError(f"cannot write '{path}': {error.strerror}") from error
        if has_file:
            raise FileTakenError(f"the file '{path}' already exists")
        settings = json.dumps({"simulated": simulated, "facts": dict(facts)})
        # A separate session: Ctrl-C must end only the simulation, which then completes the file.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rosflight_py_sim.recording.mcap_writer", str(path), settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._process.stdin, _F_SETPIPE_SZ, _PIPE)
        answer = self._answer()
        if "open" not in answer:
            self.close()
            if answer.get("taken"):  # by another process, since the check above
                raise FileTakenError(f"the file '{path}' already exists")
            raise RecordingError(f"cannot write '{path}': {answer['error']}")

    @property
    def process_id(self) -> int:
        """Id of the process."""
        return self._process.pid

    def channel(self, channel: Channel) -> ChannelInput:
        """Add a channel; return the input that collects its serialised messages."""
        self._channels += 1
        self.collect(DESCRIPTIONS, 0, json.dumps({"number": self._channels, **asdict(channel)}).encode())
        return ChannelInput(self, self._channels)

    def add_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Add metadata to the file under a name."""
        self.collect(METADATA, 0, json.dumps({"name": name, "metadata": dict(metadata)}).encode())

    def collect(self, number: int, system_ns: int, body: bytes) -> None:
        """Append a pipe message to the batch; send it at once if it is larger than a batch."""
        batch, at = self.batch, self.batch.size
        end = at + HEADER_BYTES + len(body)
        if end > _BATCH:
            self.flush()
            if end - at > _BATCH:
                self._send(memoryview(PIPE_HEADER.pack(number, system_ns, len(body)) + body))
                return
            at, end = 0, end - at
        PIPE_HEADER.pack_into(self._view, at, number, system_ns, len(body))
        self._view[at + HEADER_BYTES : end] = body
        batch.size = end

    def flush(self) -> None:
        """Send the batch."""
        size, self.batch.size = self.batch.size, 0
        self._send(self._view[:size])

    def _send(self, left: memoryview) -> None:
        if self._outcome is not None:
            return
        assert self._process.stdin is not None
        try:
            while left:
                left = left[self._process.stdin.write(left) :]
        except BrokenPipeError:
            self._outcome = self._ended()
            self.error = self._outcome.error

    def close(self) -> Outcome:
        """Send the remaining messages, and wait until the file is complete."""
        self.flush()
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self._outcome is None:
            self._outcome = self._ended()
            self.error = self._outcome.error
        try:
            self._process.wait(_FLUSH_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        return self._outcome

    def _ended(self) -> Outcome:
        answer = self._answer()
        return Outcome(
            self.path, int(answer.get("messages", 0)), int(answer.get("bytes", 0)), str(answer.get("error", ""))
        )

    def _answer(self) -> dict[str, str | int]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {"error": f"the writer process ended with {self._process.wait()}"}
        answer: dict[str, str | int] = json.loads(line)
        return answer
