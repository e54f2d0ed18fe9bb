"""The shutdown watchdog ends a stuck process, even if the stuck thread holds the interpreter lock."""

from __future__ import annotations

import subprocess
import sys

# PyDLL holds the interpreter lock while the C function sleeps, like a stuck library.
STUCK = """
import ctypes
from rosflight_py_sim.nodes.running import start_shutdown_watchdog
start_shutdown_watchdog(1.0)
ctypes.PyDLL(None).sleep(100)
"""
QUICK = """
from rosflight_py_sim.nodes.running import start_shutdown_watchdog
start_shutdown_watchdog(100.0)
raise SystemExit(3)
"""
LEFT = """
import ctypes
from rosflight_py_sim.nodes.running import shutdown_watchdog
with shutdown_watchdog(0.5):
    pass
ctypes.PyDLL(None).sleep(1)
with shutdown_watchdog(0.5):
    ctypes.PyDLL(None).sleep(100)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_hung_process_exits_in_time_with_code_1_and_stack_on_stderr() -> None:
    done = run(STUCK)
    assert done.returncode == 1
    assert done.stderr.startswith("Timeout (0:00:01)!") and 'File "<string>", line 5' in done.stderr


def test_responsive_process_exits_silently() -> None:
    done = run(QUICK)
    assert (done.returncode, done.stderr) == (3, "")


def test_watchdog_of_a_context_ends_with_it() -> None:
    done = run(LEFT)
    assert done.returncode == 1
    assert done.stderr.startswith("Timeout (0:00:00.500000)!") and 'File "<string>", line 8' in done.stderr
