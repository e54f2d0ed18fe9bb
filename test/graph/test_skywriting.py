"""The skywriting mission of `fly`: the example program steers through uThere's protocol, and the simulator judges."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from free_ports import free_ports
from judged_again import judged_again

from rosflight_py_sim.ground.resources import share_directory

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# One letter instead of three, preceded by the exit from the cage.
FLY = """
import sys
from dataclasses import replace
from pathlib import Path, PosixPath
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.missions.catalogue import flight_of, single_member
from rosflight_py_sim.missions.flight import fly
from rosflight_py_sim.vehicles import vehicle
plane = vehicle("uthere")
member = single_member(replace(plane, mission=replace(plane.mission, **eval(sys.argv[1]))))
scenario = Scenario([member], "lockstep", settings=plane.mission.settings, name="uthere")
sys.exit(fly(scenario, [flight_of(member)], settings={}, ros_arguments=sys.argv[2:], namespace="",
             output=Path("sky"), record="sky.mcap"))
"""

# The example program, with a smaller letter that begins where the plane is after its excursion.
SMALL_LETTER = """\
import sys

sys.path.insert(0, {folder!r})

import uthere_skywriting

for name in ("HEIGHT", "WIDTH"):
    setattr(uthere_skywriting, name, 0.8 * getattr(uthere_skywriting, name))
uthere_skywriting.CORNER = (214.0, 130.0)
sys.exit(uthere_skywriting.main())
"""


@pytest.fixture
def ports() -> list[str]:
    """ROS arguments for Ground Control on free ports."""
    port_in, port_out = free_ports(2)
    return ["--ros-args", "-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"]


@pytest.mark.timeout(400)
def test_program_writes_a_letter_leaves_the_cage_and_returns(
    command_line: Run, ports: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "small_letter.py"
    program.write_text(SMALL_LETTER.format(folder=str(share_directory() / "docs" / "examples")))
    mission = {"program": program, "arguments": ("--word", "O"), "parts": 6}
    # A quarter of the usual number of steps, and fewer messages of sensors, to keep the test short.
    settings = (
        "step_size:=0.01",
        "uthere.cage_altitude_maximum:=100.0",
        *(f"{name}_update_frequency:=10.0" for name in ("battery", "mag", "range")),
    )
    words = [word for setting in settings for word in ("-p", setting)]
    result = command_line("-c", FLY, repr(mission), *ports, *words, timeout_s=380.0)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    letter = re.search(r"letter O +│ ([0-9]+) m of lines, ([0-9.]+) m RMS off, ([0-9.]+) m max", result.stdout)
    left = re.search(r"cage left +│ at ([0-9.]+) s, ([0-9.]+) m high \(limit 100.0 m\): altitude", result.stdout)
    back = re.search(r"back in the cage +│ at ([0-9.]+) s", result.stdout)
    again = re.search(r"fly\(\) again +│ at ([0-9.]+) s", result.stdout)
    assert letter and left and back and again, result.stdout
    # Without wind; the judge allows 15 m.
    assert float(letter[3]) < 10.0
    assert float(left[1]) < float(back[1]) <= float(again[1])
    # Just above the limit, as rounded in the table.
    assert float(left[2]) >= 100.0
    (picture,) = (tmp_path / "sky").glob("uthere-*.png")
    assert str(picture.resolve()) in result.stdout
    from matplotlib.image import imread

    assert imread(picture).shape[:2] == (1000, 1600)
    report = judged_again(command_line, "sky.mcap", result)
    assert "uthere: mission skywriting" in report.stdout
    assert "Skywriting by uthere: O" in (tmp_path / "sky.html").read_text()


def test_program_ending_before_a_letter_is_a_failure(command_line: Run, ports: list[str], tmp_path: Path) -> None:
    program = tmp_path / "quitter.py"
    program.write_text(
        "import sys, time\nprint('  0.0 s  look about', flush=True)\ntime.sleep(0.5)\nsys.exit('the sky is too high')\n"
    )
    result = command_line("-c", FLY, repr({"program": program, "parts": 1}), *ports, "-p", "step_size:=0.01")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    ended = "quitter.py exited with code 1"
    for words in (ended, "the sky is too high", "not completed", "not left (limit 120.0 m)", "plot:"):
        assert words in result.stdout
    judged_again(command_line, "sky.mcap", result)


def test_word_with_unsupported_letter_is_rejected(command_line: Run, ports: list[str]) -> None:
    result = command_line("-c", FLY, repr({"arguments": ("--word", "Q")}), *ports)
    assert result.returncode == 1
    assert "'Q' given; allowed: letters R, O, S" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr
