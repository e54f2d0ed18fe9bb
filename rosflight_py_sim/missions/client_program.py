"""Client program in a separate process, with its output as lines."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from pathlib import Path

from rosflight_py_sim.ground import with_parent

_SHUTDOWN_TIMEOUT_S = 5.0


class ClientProgram:
    """Python program that runs in parallel with the simulation; it ends with this process, even if that is killed."""

    def __init__(self, program: Path, arguments: list[str]) -> None:
        """Start the program."""
        self._process = subprocess.Popen(
            [sys.executable, "-u", with_parent.__file__, str(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Ctrl-C must reach only this process, which then ends the program.
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="client", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())

    @property
    def code(self) -> int | None:
        """Exit code once the program has ended and `lines` has all its output; None before."""
        return None if self._reader.is_alive() else self._process.wait()

    def lines(self) -> list[str]:
        """Lines received since the last call."""
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def close(self) -> None:
        """End the program if it is running."""
        self._process.terminate()
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(_SHUTDOWN_TIMEOUT_S)
