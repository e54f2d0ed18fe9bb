"""The AUV's mission, from the command line: the example program steers, and the simulator judges."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from free_ports import free_ports
from judged_again import judged_again, without_topic

from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.vehicles import vehicle

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# Fewer steps and images than usual, to keep the tests short: a step per telemetry message.
FEW_STEPS = ("-p", f"step_size:={1.0 / 60.0}", "-p", "frame_rate:=3.0")

PROGRAM = ("-m", "rosflight_py_sim", "fly", "--vehicle", "auv", "--output", "dives")


@pytest.fixture
def ports() -> list[str]:
    """ROS arguments for a server on free ports."""
    names = ("image", "thruster", "telemetry")
    words = [("-p", f"auv_zeromq.{name}_port:={port}") for name, port in zip(names, free_ports(3), strict=True)]
    return ["--ros-args", *(word for pair in words for word in pair)]


@pytest.mark.timeout(400)
def test_fly_follows_line_through_gate_into_ring_and_reports_it(
    command_line: Run, ports: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("panda3d")
    ports += ["-p", "record.raw_images:=false", *FEW_STEPS]
    # Near the bend of the line, and near the depth at which the program follows it.
    for setting in ("use_world_start:=false", "initial_position:=[-0.6, 0.0]", "initial_altitude:=-1.6"):
        ports += ["-p", setting]
    result = command_line(*PROGRAM, "--record", "dive.mcap", *ports, timeout_s=380.0)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    gate = re.search(r"gate.*passed at ([0-9.]+) s, ([0-9.]+) m from its centre", result.stdout)
    ring = re.search(r"ring.*surfaced in at ([0-9.]+) s, ([0-9.]+) m from its centre", result.stdout)
    assert gate and ring, result.stdout
    assert float(gate[1]) < float(ring[1])
    # The opening is 1.6 m wide and the ring 2 m: half of the available clearance.
    assert float(gate[2]) < 0.4
    assert float(ring[2]) < 0.5
    assert re.search(r"deepest +│ 2\.[01]", result.stdout), result.stdout
    (picture,) = (tmp_path / "dives").glob("auv-*.png")
    assert str(picture.resolve()) in result.stdout
    from matplotlib.image import imread

    assert imread(picture).shape[:2] == (1000, 1600)
    report = judged_again(command_line, "dive.mcap", result)
    assert "auv: mission dive" in report.stdout
    page = (tmp_path / "dive.html").read_text()
    assert "Dive of auv" in page and gate[0].split("│ ")[1] in page
    without_topic(tmp_path / "dive.mcap", tmp_path / "silent.mcap", "/mission/log")
    refused = command_line("-m", "rosflight_py_sim", "report", "silent.mcap")
    assert refused.returncode == 1
    assert "mission dive is not judged: the recording has no messages of /mission/log" in refused.stderr
    assert "the recording has no messages of /mission/log" in (tmp_path / "silent.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--world", "open_water"], ["'world'", "world 'open_water' has no gate named 'gate'"]),
        (["--world", "bathtub"], ["'world'", "bathtub"]),
        (["--no-camera"], ["vehicle 'auv' given without camera, which its mission needs"]),
    ],
    ids=["no gate", "no world", "no camera"],
)
def test_invalid_mission_is_rejected_with_clear_message(
    command_line: Run, ports: list[str], arguments: list[str], words: list[str]
) -> None:
    result = command_line(*PROGRAM, *arguments, *ports)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_vehicle_without_mission_is_rejected_with_those_that_have_one(command_line: Run, tmp_path: Path) -> None:
    text = vehicle("bluerov2").file.read_text(encoding="utf-8").replace("../", f"{share_directory()}/config/")
    own = tmp_path / "idle.yaml"
    own.write_text(re.sub(r"^autopilot.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    result = command_line("-m", "rosflight_py_sim", "fly", "--vehicle", str(own))
    assert result.returncode == 1, result.stdout + result.stderr
    assert "vehicle 'idle' given, which has no mission; allowed: " in result.stderr
    assert "aerosonde" in result.stderr and "Traceback" not in result.stderr


FAILING_PROGRAM = """
import struct, sys, zmq
ports = sys.argv[sys.argv.index("--ports") + 1:][:3]
context = zmq.Context()
thrusters, telemetry = context.socket(zmq.PUSH), context.socket(zmq.SUB)
thrusters.connect(f"tcp://127.0.0.1:{ports[1]}")
telemetry.connect(f"tcp://127.0.0.1:{ports[2]}")
telemetry.subscribe(b"")
print("  0.0 s  look about", flush=True)
for _ in range(30):
    thrusters.send(struct.pack("<5b", 0, 0, 0, 0, 0))
    telemetry.poll(200) and telemetry.recv_multipart()
sys.exit("the water is too cold")
"""

FLY = """
import sys
from pathlib import Path
from dataclasses import replace
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.missions.catalogue import flight_of, single_member
from rosflight_py_sim.missions.flight import fly
from rosflight_py_sim.vehicles import ClientMission, vehicle
mission = ClientMission(Path(sys.argv[1]), 2, "dive")
member = single_member(replace(vehicle("auv"), mission=mission))
scenario = Scenario([member], "lockstep", settings={"auv_zeromq.wait_for_clients": True}, name="auv")
sys.exit(fly(scenario, [flight_of(member)], settings={}, ros_arguments=sys.argv[2:], namespace="",
             output=Path("dives"), record="dive.mcap"))
"""


def test_failing_program_fails_the_flight_and_its_output_is_shown(
    command_line: Run, ports: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("panda3d")
    program = tmp_path / "quitter.py"
    program.write_text(FAILING_PROGRAM)
    result = command_line("-c", FLY, str(program), *ports, *FEW_STEPS)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    for words in ("quitter.py exited with code 1", "the water is too cold", "not completed", "not reached", "plot:"):
        assert words in result.stdout
    report = judged_again(command_line, "dive.mcap", result)
    assert "failed while look about: quitter.py exited with code 1" in report.stdout
    assert "the water is too cold" in report.stdout


def test_program_that_cannot_start_produces_no_report(command_line: Run, ports: list[str], tmp_path: Path) -> None:
    pytest.importorskip("panda3d")
    result = command_line("-c", FLY, str(tmp_path / "missing.py"), *ports)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    report = command_line("-m", "rosflight_py_sim", "report", "dive.mcap")
    assert report.returncode == 1
    for printed in (result.stdout, report.stdout):
        assert "failed while starting" in printed
        assert "No such file or directory" in printed
