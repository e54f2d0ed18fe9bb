"""Program that ends the processes of a Ray runtime with the process that started the runtime, even after SIGKILL.

Ray does not end all of its processes in that case: workers and agents can run on for minutes. `python ray_guard.py
MARK` waits until its stdin, a pipe whose other end only that process holds, is closed. It then ends all processes whose
environment at their start contained MARK.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "ROSFLIGHT_PY_SIM_RAY"

# Time for the processes to clean up after SIGTERM, s.
_GRACE_S = 4.0

_POLL_S = 0.1

# Time without processes after which none is expected any more, s. A process that is just starting its program has no
# environment.
_QUIET_S = 0.5


class RayGuard:
    """Guard of one runtime, in a process of its own."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        # A session of its own: Ctrl-C must reach only the command, which then shuts the runtime down.
        self._process = subprocess.Popen(
            [sys.executable, __file__, f"{MARK}={self._mark}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    @contextmanager
    def marking(self) -> Iterator[None]:
        """Context in which this process starts the runtime."""
        os.environ[MARK] = self._mark
        try:
            yield
        finally:
            del os.environ[MARK]

    def close(self) -> None:
        """End the processes that are still running."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def marked(mark: bytes) -> list[int]:
    """Ids of this user's processes that were started with `mark`, NAME=VALUE, in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def main() -> None:
    """Wait for the end of stdin, then end the processes."""
    mark = os.fsencode(sys.argv[1])
    sys.stdin.buffer.read()
    now_s = found_s = time.monotonic()
    end_s = now_s + _GRACE_S
    # The raylet may start processes in place of those that end.
    while now_s - found_s < _QUIET_S:
        for process_id in marked(mark):
            found_s = now_s
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGTERM if now_s < end_s else signal.SIGKILL)
        time.sleep(_POLL_S)
        now_s = time.monotonic()


if __name__ == "__main__":
    main()
