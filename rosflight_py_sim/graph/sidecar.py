"""Nodes of a composed graph in separate processes, so that they do not slow down the step.

They end with the process of the graph, even if it is killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_signals import exit_on_signals
from rosflight_py_sim.ground.type_supports import leave_out_generator
from rosflight_py_sim.ground.with_parent import end_with_parent

# A node takes some tenths of a second to shut down.
_SHUTDOWN_TIMEOUT_S = 5.0

# A node takes a second or two to start on an idle machine.
_START_TIMEOUT_S = 60.0

# Interval at which a received signal is noticed.
_CHECK_S = 0.1

_END = b"\0"


class Sidecar:
    """A node in a separate process."""

    def __init__(self, executable: str, ros_arguments: Sequence[str]) -> None:
        """Start the process, with ROS arguments from --ros-args on."""
        self._executable = executable
        self._reader, writer = os.pipe()
        command = [sys.executable, "-m", __name__, str(writer), executable, *ros_arguments]
        try:
            # Ctrl-C must reach only this process, which then ends the node: Python could not handle it while starting.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[writer], start_new_session=True)
        finally:
            os.close(writer)

    @property
    def process_id(self) -> int:
        """Process id."""
        return self._process.pid

    def wait_until_started(self, signals: Sequence[int] = ()) -> None:
        """Wait until the node runs; a received signal ends the wait.

        Raises:
            ParameterError: the node rejected its parameters, ended, or did not start in time.
        """
        received = b""
        end_s = time.monotonic() + _START_TIMEOUT_S
        while not received.endswith(_END):
            if signals:
                return
            if not select.select([self._reader], [], [], _CHECK_S)[0]:
                if time.monotonic() > end_s:
                    raise ParameterError(f"{self._executable} did not start within {_START_TIMEOUT_S:g} s")
                continue
            part = os.read(self._reader, 65536)
            if not part:
                raise ParameterError(f"{self._executable} ended with exit code {self._process.wait()}")
            received += part
        if received != _END:
            raise ParameterError(received.removesuffix(_END).decode())

    def close(self) -> None:
        """End the process."""
        os.close(self._reader)
        self._process.terminate()
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Run the node of an executable; arguments: pipe descriptor, executable, ROS arguments."""
    exit_on_signals()
    end_with_parent(sys.stdin.fileno())
    leave_out_generator()
    from rosflight_py_sim.nodes.running import node_class, run

    writer, executable, *ros_arguments = sys.argv[1:]

    def report_start(text: str) -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(int(writer), "wb") as pipe:
            pipe.write(text.encode() + _END)

    run(node_class(executable), [executable, *ros_arguments], started=report_start)


if __name__ == "__main__":
    main()
