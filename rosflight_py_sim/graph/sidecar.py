"""Nodes that look on from a process of their own, so that they take nothing of the step loop's interpreter.

They are started with a composed graph and end with it, also if that is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence

from rosflight_py_sim.executables import exit_on_signals
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.type_supports import leave_out_generator

# Leaving takes a node some tenths of a second.
_GOODBYE_S = 5.0

# A start takes a second or two on an idle machine.
_PATIENCE_S = 60.0

_PR_SET_PDEATHSIG = 1


_END = b"\0"


class Sidecar:
    """A node in a process of its own."""

    def __init__(self, executable: str, ros_arguments: Sequence[str]) -> None:
        """Start it, with ROS arguments from --ros-args on."""
        self._executable = executable
        self._told, tells = os.pipe()
        words = [sys.executable, "-m", __name__, str(os.getpid()), str(tells), executable, *ros_arguments]
        try:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[tells])
        finally:
            os.close(tells)

    @property
    def process_id(self) -> int:
        """Of the system."""
        return self._process.pid

    def wait_until_started(self) -> None:
        """Return when the node is there.

        Raises:
            ParameterError: it has refused its parameters, or has ended, or takes too long.
        """
        told = b""
        while not told.endswith(_END):
            if not select.select([self._told], [], [], _PATIENCE_S)[0]:
                raise ParameterError(f"{self._executable} has not started within {_PATIENCE_S:g} s")
            part = os.read(self._told, 65536)
            if not part:
                raise ParameterError(f"{self._executable} has ended with exit code {self._process.wait()}")
            told += part
        if told != _END:
            raise ParameterError(told.removesuffix(_END).decode())

    def close(self) -> None:
        """End it."""
        os.close(self._told)
        self._process.terminate()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Run the node whose executable the command line names behind the process to end with."""
    exit_on_signals()
    leave_out_generator()
    from rosflight_py_sim.nodes.running import node_class, run

    parent, tells, executable, *ros_arguments = sys.argv[1:]
    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux a killed parent leaves it behind
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        return

    def tell(text: str) -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(int(tells), "wb") as pipe:
            pipe.write(text.encode() + _END)

    run(node_class(executable), [executable, *ros_arguments], started=tell)


if __name__ == "__main__":
    main()
