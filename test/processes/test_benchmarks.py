"""The benchmarks run as their page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.timeout(200)
def test_part_without_ros_prints_its_table() -> None:
    words = [sys.executable, "-m", "benchmarks", "no-ros", "--runs", "1"]
    result = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, timeout=180.0, check=False)
    assert result.returncode == 0, result.stderr
    # Steps per second of compiled steps, and by messages.
    assert len(re.findall(r"\d+,\d{3} │", result.stdout)) >= 2, result.stdout
