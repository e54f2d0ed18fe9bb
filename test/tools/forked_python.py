"""Python programs in processes forked from a server that has already imported the package.

A node then needs a third of the processor time to start. All else is as in a new interpreter, with two exceptions: the
environment that the package reads during import is the server's, and the interpreter does not shut down.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from pathlib import Path

import pytest

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES

_SERVER = multiprocessing.get_context("forkserver")

_PRELOADED = [
    "rosflight_py_sim.commands.cli",
    *(place.partition(":")[0] for place in NODE_CLASSES.values()),
    # Imports of `fly`, `report` and sweeps.
    "rosflight_py_sim.missions.flight",
    "rosflight_py_sim.sweep.fly_run",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "preloaded",
]


def preload(*modules: str) -> None:
    """Add modules that the server imports; without effect if the server has already started."""
    _SERVER.set_forkserver_preload([*_PRELOADED, *modules])


preload()


def _ensure_server() -> None:
    """Start the server if it is not running, with this folder on its import path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        forkserver.ensure_running()


_C_LIBRARY = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel end this process with its parent, even if no fixture does: xdist kills its workers."""
    _C_LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class ForkedPython:
    """A running program, with the methods of `subprocess.Popen` that tests need; it has no stdin.

    Attributes:
        pid: id of the process and of its process group.
    """

    def __init__(
        self, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdout: Path, stderr: Path
    ) -> None:
        """Run `python ARGUMENTS` in the folder `cwd`; its output is appended to the files."""
        for file in (stdout, stderr):
            file.touch()
        given = list(arguments), dict(env), str(cwd), str(stdout), str(stderr)
        _ensure_server()
        self._process = _SERVER.Process(target=_run, args=given, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        """Exit code; None while the program runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the program to end and return its exit code.

        Raises:
            subprocess.TimeoutExpired: the program has not ended in time.
        """
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal if the program still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL if the program still runs."""
        self.send_signal(signal.SIGKILL)


def run_forked_python(
    arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` to its end, like `subprocess.run`.

    Raises:
        subprocess.TimeoutExpired: the program did not end in time, and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        process = ForkedPython(arguments, env=env, cwd=cwd, stdout=stdout, stderr=stderr)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        return subprocess.CompletedProcess(list(arguments), code, stdout.read_text(), stderr.read_text())


def _run(arguments: list[str], environment: dict[str, str], folder: str, stdout: str, stderr: str) -> None:
    # Garbage collection of the server's objects would copy its memory.
    gc.freeze()
    die_with_parent()
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for path, descriptor in ((stdout, 1), (stderr, 2)):
        file = os.open(path, os.O_APPEND | os.O_WRONLY)
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    first, *rest = arguments
    installed = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix))]
    sys.path[:] = [*environment.get("PYTHONPATH", "").split(os.pathsep), *installed]
    if first == "-m":
        sys.path.insert(0, folder)
        sys.argv = rest
        # As in a new interpreter, where the module is known only as __main__.
        sys.modules.pop(rest[0], None)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path.insert(0, str(Path(first).parent))
        sys.argv = arguments
        runpy.run_path(first, run_name="__main__")
