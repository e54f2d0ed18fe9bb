"""No external input is executed as code: the linter's security rules are enabled, with few exceptions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Files that generate code from declarations of this package, and one that reads files of an installed package or of a
# folder that the user names.
EXCEPTIONS = {
    "rosflight_py_sim/step/wire.py": {"S307"},
    "rosflight_py_sim/physics/jsbsim_files.py": {"S314"},
}


def test_only_declared_files_have_exceptions() -> None:
    found: dict[str, set[str]] = {}
    for file in (ROOT / "rosflight_py_sim").rglob("*.py"):
        for rule in re.findall(r"# noqa: (S\d+)", file.read_text(encoding="utf-8")):
            found.setdefault(str(file.relative_to(ROOT)), set()).add(rule)
    assert found == EXCEPTIONS


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("import pickle\npickle.loads(b'')", "S301"),
        ("eval(input())", "S307"),
        ("exec(input())", "S102"),
        ("import yaml\nyaml.load(input(), yaml.Loader)", "S506"),
        ("import subprocess\nsubprocess.run(input(), shell=True)", "S602"),
        ("import os\nos.system(input())", "S605"),
        ("import marshal\nmarshal.loads(b'')", "S302"),
    ],
)
def test_linter_refuses(line: str, rule: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", "rosflight_py_sim/any.py", "-"]
    done = subprocess.run(command, input=line, capture_output=True, text=True, cwd=ROOT, check=False)
    assert rule in done.stdout
