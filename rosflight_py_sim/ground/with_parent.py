"""Processes that end with the process that started them, even if it is killed with SIGKILL.

`python with_parent.py PROGRAM ARGUMENTS` runs a Python program in this way. This module uses the standard library
alone, because the program may be any.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import sys
import threading
import time
from pathlib import Path

# Time for the process to clean up after SIGTERM, s.
_GRACE_S = 4.0


def end_with_parent(descriptor: int) -> None:
    """End this process when the other end of a pipe or socket is closed, which only the parent process holds.

    The process receives SIGTERM and, if that does not end it, SIGKILL. If it leads a session, its children receive the
    signals too. A signal on the parent's death (prctl) would follow the thread that started the process instead.
    """
    threading.Thread(target=_watch, args=(descriptor,), name="end with parent", daemon=True).start()


def _watch(descriptor: int) -> None:
    poll = select.poll()
    # No events: only the end of the connection is reported.
    poll.register(descriptor, 0)
    poll.poll()
    _signal(signal.SIGTERM)
    time.sleep(_GRACE_S)
    _signal(signal.SIGKILL)


def _signal(number: signal.Signals) -> None:
    if os.getsid(0) == os.getpid():
        os.killpg(0, number)
    else:
        os.kill(os.getpid(), number)


def main() -> None:
    """Run a program, as `python PROGRAM ARGUMENTS` does; stdin is a pipe whose other end the parent process holds."""
    held = os.dup(0)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    end_with_parent(held)
    del sys.argv[0]
    program = sys.argv[0]
    try:
        os.close(os.open(program, os.O_RDONLY))
    except OSError as error:
        # Python's own words and exit code.
        print(f"{sys.executable}: can't open file '{program}': [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)
    sys.path[0] = str(Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
