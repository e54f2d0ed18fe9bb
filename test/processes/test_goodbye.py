"""A process leaves in time also when something holds the interpreter."""

from __future__ import annotations

import subprocess
import sys

# PyDLL keeps the interpreter's lock while the C function sleeps, as a library that is stuck does.
STUCK = """
import ctypes
from rosflight_py_sim.nodes.goodbye import leave_within
leave_within(1)
ctypes.PyDLL(None).sleep(100)
"""


def test_stuck_process_leaves_in_time_with_exit_code_0() -> None:
    assert subprocess.run([sys.executable, "-c", STUCK], timeout=60, check=False).returncode == 0


def test_process_that_is_not_stuck_leaves_by_itself() -> None:
    program = "from rosflight_py_sim.nodes.goodbye import leave_within; leave_within(100); raise SystemExit(3)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 3
