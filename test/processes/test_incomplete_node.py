"""A user's node class without all methods of its interface is refused in one line, alone and in a composed run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("ros_domain")]

NODE = """
from rosflight_py_sim.interfaces.{module} import {interface}
from rosflight_py_sim.nodes.running import run


class Mine({interface}):
{methods}

if __name__ == "__main__":
    {start}
"""

RUN = "run(Mine)"
COMPOSE = (
    "from rosflight_py_sim.graph import composition; from rosflight_py_sim.commands import cli; "
    "original = composition.node_class; "
    "composition.node_class = lambda name: Mine if name == {executable!r} else original(name); "
    "cli.main(['sim'])"
)

CASES = [
    (
        ("dynamics_interface", "DynamicsInterface", "standalone_dynamics"),
        ("apply_forces_and_torques", "compute_wind_truth", "set_sim_state"),
        "class Mine lacks the method compute_truth of DynamicsInterface",
    ),
    (
        ("forces_and_moments_interface", "ForcesAndMomentsInterface", "multirotor_forces_and_moments"),
        (),
        "class Mine lacks the methods get_firmware_parameters, update_forces_and_torques of ForcesAndMomentsInterface",
    ),
]


@pytest.mark.parametrize("composed", [False, True], ids=["process", "composed"])
@pytest.mark.parametrize(("names", "methods", "expected_error"), CASES, ids=["one method", "all methods"])
def test_class_with_missing_methods_is_rejected_in_one_line(
    tmp_path: Path, names: tuple[str, str, str], methods: tuple[str, ...], expected_error: str, composed: bool
) -> None:
    module, interface, executable = names
    body = "\n".join(f"    def {name}(self, *arguments): ..." for name in methods) or "    pass"
    start = COMPOSE.format(executable=executable) if composed else RUN
    program = tmp_path / "mine.py"
    program.write_text(NODE.format(module=module, interface=interface, methods=body, start=start))
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100.0, check=False)
    error_lines = [line for line in ended.stderr.splitlines() if not line.startswith("[INFO]")]
    speaker = "rosflight_py_sim" if composed else names[0].removesuffix("_interface")
    assert (ended.returncode, error_lines) == (1, [f"{speaker}: {expected_error}"]), ended.stderr


def test_class_with_missing_methods_still_prints_help(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(
        NODE.format(module="dynamics_interface", interface="DynamicsInterface", methods="    '''A start.'''", start=RUN)
    )
    ended = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, timeout=100.0, check=False
    )
    assert ended.returncode == 0
    assert ended.stdout.startswith("usage: mine")
