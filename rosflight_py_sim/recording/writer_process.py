"""The simulation's side of a recording: serialised messages, in batches, to the process that writes them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from rosflight_py_sim.recording.pipe_messages import DESCRIPTIONS, FRAME, Channel

# Linux's number for the size of a pipe, and one that holds some hundred steps.
_F_SETPIPE_SZ = 1031
_PIPE = 1 << 20

# What is in the pipe and in memory is written in a fraction of this, unless the disk is in trouble.
_PATIENCE_S = 30.0


class RecordingError(Exception):
    """A recording cannot be begun; the text says why."""


@dataclass(frozen=True)
class Outcome:
    """How a recording ended.

    Attributes:
        path: the file.
        messages: how many it holds.
        size: in bytes; 0: not known, because it was not completed.
        error: what went wrong; empty: nothing.
    """

    path: Path
    messages: int
    size: int
    error: str

    @property
    def said(self) -> str:
        """The same in words."""
        if self.error:
            return f"incomplete after {self.messages} messages: {self.error}"
        return f"{self.messages} messages, {self.size / 1e6:.1f} MB"


class WriterProcess:
    """Takes messages, and hands them on when `flush` is called.

    When the process cannot keep up with them, `flush` waits for it: nothing is lost. When it cannot write, `error` says
    why, and messages are dropped from then on.
    """

    def __init__(self, path: Path, *, simulated: bool, facts: Mapping[str, str]) -> None:
        """Start the process; the folders of the file are made.

        Args:
            path: a file that is not there yet.
            simulated: whether the topic /clock tells the time.
            facts: what else to write down in the file.

        Raises:
            RecordingError: the file cannot be written, or the libraries that it takes are not installed.
        """
        if find_spec("mcap") is None:
            raise RecordingError("recording needs mcap: pip install 'rosflight_py_sim[record]'")
        self.path = path
        self.error = ""
        self._outcome: Outcome | None = None
        # Plain bytes, headers and messages by turns: tuples would keep the garbage collector busy.
        self._batch: list[bytes] = []
        self._channels = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingError(f"cannot write '{path}': {error.strerror}") from error
        if path.exists():
            raise RecordingError(f"there is a file '{path}' already, which would be lost")
        settings = json.dumps({"simulated": simulated, "facts": dict(facts)})
        # In a session of its own: Ctrl-C is for us, and the file is completed when we are done.
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
            raise RecordingError(f"cannot write '{path}': {answer['error']}")

    def channel(self, channel: Channel) -> Callable[[bytes], None]:
        """A function that takes the serialised messages of a channel, now."""
        self._channels += 1
        number = self._channels
        description = json.dumps({"number": number, **asdict(channel)}).encode()
        append, pack, now_ns = self._batch.append, FRAME.pack, time.time_ns
        append(pack(DESCRIPTIONS, 0, len(description)))
        append(description)

        def take(message: bytes) -> None:
            append(pack(number, now_ns(), len(message)))
            append(message)

        return take

    def flush(self) -> None:
        """Hand on what was taken since the last call."""
        if not self._batch:
            return
        left = memoryview(b"".join(self._batch))
        self._batch.clear()
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
        """Hand on the rest, and wait until the file is complete."""
        self.flush()
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self._outcome is None:
            self._outcome = self._ended()
            self.error = self._outcome.error
        try:
            self._process.wait(_PATIENCE_S)
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
            return {"error": f"the process that writes it ended with {self._process.wait()}"}
        answer: dict[str, str | int] = json.loads(line)
        return answer
