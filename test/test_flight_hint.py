"""The line of `fly` that says how to fly by hand is a command that runs."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.missions.flight import how_to_fly
from rosflight_py_sim.vehicles import vehicle


@pytest.mark.parametrize("name", ["multirotor", "auv"])
def test_command_of_a_program_run_as_a_module_runs(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    module = sys.modules["rosflight_py_sim"].__path__[0] + "/__main__.py"
    monkeypatch.setattr(sys, "argv", [module, "fly", "--vehicle", name])
    _, _, command = how_to_fly(Member(vehicle(name))).partition("run: ")
    words = shlex.split(command)
    assert words[3:5] == ["sim", "--view"]
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout[:26]) == (0, "usage: rosflight_py_sim sim"[:26])


def test_command_of_an_installed_program_has_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/rosflight_py_sim", "fly"])
    assert "run: /opt/bin/rosflight_py_sim sim --view --vehicle multirotor" in how_to_fly(Member(vehicle("multirotor")))
