"""Nodes that look on from a process of their own, so that they take nothing of the step loop's interpreter.

They are started with a composed graph and end with it, also if that is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from rosflight_py_sim.nodes.running import node_class, run

# Leaving takes a node some tenths of a second.
_GOODBYE_S = 5.0

_PR_SET_PDEATHSIG = 1


class Beside:
    """A node in a process of its own."""

    def __init__(self, executable: str, ros_arguments: Sequence[str]) -> None:
        """Start it, with ROS arguments from --ros-args on."""
        words = [sys.executable, "-m", __name__, str(os.getpid()), executable, *ros_arguments]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL)

    @property
    def process_id(self) -> int:
        """Of the system."""
        return self._process.pid

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Run the node whose executable the command line names behind the process to end with."""
    parent, executable, *ros_arguments = sys.argv[1:]
    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux a killed parent leaves it behind
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        return
    run(node_class(executable), [executable, *ros_arguments])


if __name__ == "__main__":
    main()
