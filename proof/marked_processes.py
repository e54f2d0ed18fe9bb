"""Programs whose environment carries a mark, by which every process that they start can be found."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from rosflight_py_sim.sweep.ray_guard import marked

_MARK = "ROSFLIGHT_PY_SIM_PROOF"


class MarkedProgram:
    """Module of the package, running in a session of its own.

    Attributes:
        process: the process.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start `python -m module` in a folder, with stderr redirected to a file there.

        Args:
            module: full name of the module.
            arguments: command line.
            folder: working directory.
            environment: variables added to those of this process.
        """
        self._mark = uuid.uuid4().hex
        project = str(Path(__file__).parents[1])
        path = os.pathsep.join(filter(None, (project, os.environ.get("PYTHONPATH"))))
        self._stderr = Path(tempfile.mkstemp(suffix=".stderr", dir=folder)[1])
        with self._stderr.open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env={**os.environ, "PYTHONPATH": path, **(environment or {}), _MARK: self._mark},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=_default_interrupt,
            )

    @property
    def stderr(self) -> str:
        """Text written to stderr so far."""
        return self._stderr.read_text(encoding="utf-8", errors="replace")

    def handles(self, number: signal.Signals) -> bool:
        """Whether the program has set a handler for a signal."""
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
            caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
            return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
        return False

    def interrupt(self) -> None:
        """Send SIGINT to the whole process group, as a terminal does on Ctrl-C."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def wait(self, timeout_s: float) -> int | None:
        """Exit code, negative after a signal; None if the process is still running after `timeout_s`."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def processes(self) -> list[int]:
        """Ids of the running processes: the program and all that it has started."""
        return marked(f"{_MARK}={self._mark}".encode())

    def orphans(self, grace_s: float = 0.0) -> list[int]:
        """Processes that are still running `grace_s` after the program has ended."""
        end_s = time.monotonic() + grace_s
        while (left := self.processes()) and time.monotonic() < end_s:
            time.sleep(0.05)
        return left

    def close(self) -> None:
        """Kill all processes that are still running."""
        for process_id in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        self.process.wait()


def _default_interrupt() -> None:
    """Handle SIGINT, which a background job of a shell ignores and its children inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
