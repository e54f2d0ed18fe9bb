"""Type supports load without the message generator, which is imported only on request."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from rosflight_py_sim.ground.type_supports import leave_out_generator

leave_out_generator()
from std_msgs.msg import String

String.__import_type_support__()
assert String._TYPE_SUPPORT is not None
assert "lark" not in sys.modules
from rosidl_generator_py import generate_py, import_type_support
assert callable(generate_py) and callable(import_type_support)
import rosidl_generator_py
assert not hasattr(rosidl_generator_py, "no_such_name")
"""


def test_type_supports_work_without_generator_and_load_it_on_request() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
