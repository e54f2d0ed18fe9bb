"""The test run goes on, to its end, after one of its processes has crashed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parent / "tools"
CONFTEST = """
from crash_safe_scheduling import CrashSafeScheduling
def pytest_xdist_make_scheduler(config, log):
    return CrashSafeScheduling(config, log)
"""
CRASH = """
import os, pathlib
def test_crash_once():
    mark = pathlib.Path(__file__).with_name("crashed")
    if not mark.exists():
        mark.touch()
        os._exit(1)
"""


def test_every_file_is_run_after_a_process_has_crashed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for number in range(12):
        (tmp_path / f"test_{number:02d}.py").write_text("def test_one(): pass\ndef test_two(): pass\n")
    # Not the first file of its process: the complete ones would be distributed again.
    (tmp_path / "test_06.py").write_text(CRASH)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2", "--dist", "loadfile"]
    done = subprocess.run(
        [sys.executable, *words, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TOOLS)},
        capture_output=True,
        text=True,
        timeout=100.0,
        check=False,
    )
    assert "1 failed, 23 passed" in done.stdout, done.stdout
    assert "crashed while running 'test_06.py::test_crash_once'" in done.stdout
