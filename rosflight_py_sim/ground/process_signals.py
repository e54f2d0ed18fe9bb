"""SIGINT and SIGTERM of a process: exit at once, or raise an exception."""

from __future__ import annotations

import atexit
import os
import signal

INTERRUPTED = 130
"""Exit code of the command `rosflight_py_sim` after SIGINT or SIGTERM."""


def exit_on_signals(code: int = 0) -> None:
    """End the process at once with an exit code on SIGINT and SIGTERM, until other handlers are set.

    Before a node exists, there is nothing to clean up. A KeyboardInterrupt during an import could be lost. While Python
    shuts down, both signals are ignored: it replaces handlers by the default ones, which would change the exit code.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(code))
    atexit.register(_ignore_signals)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


class SignalInterrupt(KeyboardInterrupt):
    """A received signal.

    If a KeyboardInterrupt itself leaves `exec` of a text, as dataclasses execute them, `python -m` ends the process by
    SIGINT at last, whatever its exit code (run_eval_code_obj in CPython's pythonrun.c); an exception derived from it
    has no such effect.
    """


def interrupt_on_signals() -> None:
    """Raise SignalInterrupt on SIGINT and SIGTERM, in a program that cleans up in `finally`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def _interrupt(number: int, _: object) -> None:
    raise SignalInterrupt(signal.Signals(number).name)
