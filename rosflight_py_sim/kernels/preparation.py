"""Compilation of the kernels before the first flight, by one process at a time."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence

from rosflight_py_sim.kernels import jit

# Interval at which a received signal is noticed.
_CHECK_S = 0.1


def prepare_kernels(signals: Sequence[int] = ()) -> None:
    """Compile the kernels unless that has been done; call this before signals must wait for a callback to end.

    numba compiles some kernels for several seconds, in which Python handles no signal. Therefore, a process of its own
    compiles as `rosflight_py_sim compile` does, prints its progress and errors to stderr, and ends with this process.

    Args:
        signals: numbers of received signals; the first one ends the compilation.
    """
    if not jit.COMPILED or jit.LIBRARY is not None:
        return
    mark = jit.cache_mark()
    if mark is not None and mark.exists():
        return
    import subprocess  # not needed by most starts

    child = subprocess.Popen(
        [sys.executable, "-m", "rosflight_py_sim.compile_with_parent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # Ctrl-C must reach only this process, which then ends the processes that compile.
        start_new_session=True,
    )
    try:
        while not signals:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_CHECK_S)
                jit.adopt_library()
                return
    finally:
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def compile_kernels() -> list[str]:
    """Build the kernel library unless it exists; return the kernels left to numba, with reasons.

    If another process is building it, wait for that process.

    Raises:
        LibraryError: as of `build_library`.
    """
    from rosflight_py_sim.kernels.library import build_library

    if jit.LIBRARY is not None:
        return []
    with _lock():
        if jit.found_library() is not None:
            return []
        _say("compiling the numeric kernels, once after an installation or change: this takes about a minute")
        return build_library()


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """Context that one process at a time enters."""
    import fcntl

    from rosflight_py_sim.kernels.wrappers import LibraryError

    try:
        file = (jit.library_path().parent / "lock").open("w")
    except OSError as error:
        raise LibraryError(f"the kernels cannot be compiled in advance: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another process that compiles the numeric kernels")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"rosflight_py_sim: {text}", file=sys.stderr, flush=True)
