"""Client of the writer process: sends serialised messages in batches."""

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
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from rosflight_py_sim.recording.pipe_messages import DESCRIPTIONS, METADATA, PIPE_HEADER, Channel

# Linux's fcntl command for the size of a pipe, and a size for some hundred steps.
_F_SETPIPE_SZ = 1031
_PIPE = 1 << 20

# Time limit for writing the contents of pipe and memory, with a wide margin for a slow disk.
_FLUSH_TIMEOUT_S = 30.0


class Take(Protocol):
    """Function that takes a serialised message of one channel."""

    def __call__(self, message: bytes, time_ns: int | None = None) -> None:
        """Take a message that arrived at a system time, ns since 1970; None: now."""


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


class WriterProcess:
    """Collects messages, and sends them when `flush` is called.

    If the process cannot keep up, `flush` waits for it, so no message is lost. If it cannot write, `error` gives the
    reason, and further messages are dropped.
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
        # Channel number, system time and body of each message, in a flat list: tuples would keep the garbage collector
        # busy.
        self._batch: list[Any] = []
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

    def channel(self, channel: Channel) -> Take:
        """Function that sends a serialised message of a channel."""
        self._channels += 1
        number = self._channels
        description = json.dumps({"number": number, **asdict(channel)}).encode()
        extend, now_ns = self._batch.extend, time.time_ns
        extend((DESCRIPTIONS, 0, description))

        def take(message: bytes, time_ns: int | None = None) -> None:
            extend((number, time_ns or now_ns(), message))

        return take

    def add_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Add metadata to the file under a name."""
        self._batch.extend((METADATA, 0, json.dumps({"name": name, "metadata": dict(metadata)}).encode()))

    def flush(self) -> None:
        """Send the messages since the last call."""
        batch = self._batch
        if not batch:
            return
        bodies = batch[2::3]
        headers = map(PIPE_HEADER.pack, batch[0::3], batch[1::3], map(len, bodies))
        left = memoryview(b"".join(chain.from_iterable(zip(headers, bodies, strict=True))))
        batch.clear()
        if self.error:
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
