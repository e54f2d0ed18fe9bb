"""Entry points of the nodes and of the command; `python -m rosflight_py_sim.executables NAME` runs a node.

The modules take half a second and more to import, so an executable installs signal handlers first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, RENAMED
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.ground.process_signals import INTERRUPTED, exit_on_signals
from rosflight_py_sim.ground.type_supports import leave_out_generator


class _Output(TextIOWrapper):
    """Standard output that keeps the first error: some libraries ignore it, and a buffer reports it late."""

    error: OSError | None = None

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.error = self.error or error
            raise

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.error = self.error or error
            raise


def _print_all(program: Callable[[], None]) -> None:
    """Run a program that prints; if its output cannot be written, print one line to stderr and exit with code 1.

    File names that are not UTF-8 are printed as the bytes that they are. The end of a pipe's reader needs no line.
    """
    stdout = sys.stdout
    if not isinstance(stdout, TextIOWrapper):  # closed, or replaced
        program()
        return
    buffering, through = stdout.line_buffering, stdout.write_through
    encoding = stdout.encoding
    output = _Output(stdout.detach(), encoding, "surrogateescape", line_buffering=buffering, write_through=through)
    sys.stdout = output
    try:
        try:
            program()
        finally:
            output.flush()
    except OSError:
        if output.error is None:
            raise
    except SystemExit:
        if output.error is None:
            raise
    if output.error is not None:
        # Python would write once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
        if not isinstance(output.error, BrokenPipeError):
            name = Path(sys.argv[0]).name
            print(f"{name}: the output cannot be written: {output.error.strerror}", file=sys.stderr)
        sys.exit(1)


def _open_closed_streams() -> None:
    """Open /dev/null for each standard stream that is closed (`>&-`), for which Python has None.

    Otherwise the next file or socket would have the stream's number, and receive what C libraries print. The watchdog
    of `running.py` needs a stderr.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))


def _prepare(name: str) -> None:
    """Set the environment variables of a program; exit with an error if a given one is invalid."""
    try:
        stay_on_this_machine()
    except ParameterError as error:
        sys.exit(f"{name}: {error}")
    leave_out_generator()


def command() -> None:
    """Run the command `rosflight_py_sim`."""
    _open_closed_streams()
    exit_on_signals(INTERRUPTED)
    _prepare("rosflight_py_sim")
    _print_all(lambda: import_module("rosflight_py_sim.commands.cli").main())


def _executable(name: str) -> Callable[[], None]:
    def main() -> None:
        _open_closed_streams()
        exit_on_signals()
        _prepare(name)
        _print_all(lambda: import_module("rosflight_py_sim.nodes.running").run_by_name(name))

    return main


def run_node() -> None:
    """Run a registered node of any package, which the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print("usage: run_node NAME [--help] [--ros-args ...]", file=sys.stderr)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    del sys.argv[0]
    _executable(sys.argv[0])()


# setup.cfg names these functions: `executables:camera`.
globals().update({name: _executable(name) for name in (*NODE_CLASSES, *RENAMED)})

if __name__ == "__main__":
    run_node()
