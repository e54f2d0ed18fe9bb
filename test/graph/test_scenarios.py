"""The package's scenarios fly, and each vehicle's flight is independent of the others and of their order."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports
from matplotlib.image import imread
from rosflight_msgs.msg import SimState
from transforms3d.euler import quat2euler

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.scenario import SCENARIOS, load_scenario
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.parts.follower_script import FollowerScript
from rosflight_py_sim.protocols.auv_zeromq import ThrusterCommand, decode_telemetry, encode_thrusters
from rosflight_py_sim.protocols.uthere import Data, PlaneList
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.vehicle_state import VehicleState
from test.bridge.uthere_bench import Program
from test.graph.ardupilot_client import ArduPilotClient
from test.graph.conftest import SLOW_SENSORS
from test.graph.test_observers import AuvClient, Ports

FLOWN_TRUTH = str(Path(__file__).with_name("flown_truth.py"))
FOOT = 0.3048

# Half as many steps as usual, to keep the tests short.
STEP_S = 0.005

HEAD = """\
description: multirotors in wind
seed: 3
parameter_files: [{config}/wind.yaml]
vehicles:
"""
ONE = "  - {name: one, kind: multirotor, autopilot: true, start: {position: [0, 0]}}\n"
OTHER = "  - {name: other, kind: hexarotor, autopilot: true, start: {position: [10, 5], heading_deg: 45}}\n"
FURTHER = "  - {name: further, kind: anaconda, autopilot: true, start: {position: [0, 50]}}\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


def flown(run: Run, scenario: str, seconds: int, *options: str) -> dict[str, list[str]]:
    """Hash and position of each vehicle at each full second."""
    lines: dict[str, list[str]] = {}
    for line in run(FLOWN_TRUTH, scenario, str(seconds), "--scenario", *options, timeout_s=180.0).stdout.splitlines():
        name, rest = line.split(" ", 1)
        if rest[0].isdigit():
            lines.setdefault(name, []).append(rest)
    return lines


@pytest.mark.timeout(600)
def test_flight_does_not_change_with_the_order_of_vehicles_or_with_another_one(
    command_line: Run, tmp_path: Path
) -> None:
    head = HEAD.format(config=share_directory() / "config")
    flights = []
    # Both changes in the same flight.
    for k, vehicles in enumerate((ONE + OTHER, FURTHER + OTHER + ONE)):
        file = tmp_path / f"{k}.yaml"
        file.write_text(head + vehicles, encoding="utf-8")
        flights.append(flown(command_line, str(file), 5))
    assert all(len(flight["one"]) == len(flight["other"]) == 5 for flight in flights)
    assert flights[0] == {name: flights[1][name] for name in ("one", "other")}
    # All vehicles are airborne.
    assert all(float(lines[-1].split()[-1]) < -1.0 for lines in flights[0].values())


@pytest.mark.timeout(240)
def test_swarm_flies_in_formation(command_line: Run) -> None:
    starts = {one.namespace: one.settings["initial_position"] for one in load_scenario("swarm").members}
    # Lower than usual: the square begins earlier.
    options = ("--step-size", str(STEP_S), *SLOW_SENSORS, "-p", "square_height:=3.5")
    flight = flown(command_line, "swarm", 18, *options)
    places = {name: np.array([line.split()[2:5] for line in lines], dtype=float) for name, lines in flight.items()}
    for name, place in places.items():
        offset = place - places["leader"]
        # Once the leader is at 3 m, its followers keep their places; each vehicle has its own gusts.
        assert np.abs(offset[8:, :2] - starts[name]).max() < 1.0
    assert np.ptp(places["leader"][:, :2], axis=0).max() > 5.0
    assert places["leader"][-1, 2] < -3.0


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def started(graph: Callable[..., Any], name: str, ports: Ports, *arguments: str) -> Any:
    scenario = load_scenario(name)
    return graph(
        *ports.arguments,
        *arguments,
        vehicles=scenario.members,
        files=scenario.files,
        settings=scenario.settings,
        observers=scenario.observers,
    )


def newest(graph: Any, name: str) -> Callable[[], SimState]:
    received: list[SimState] = graph.collect_messages(TRUTH_STATE, at=f"/{name}")
    return lambda: received[-1]


def test_each_vehicle_of_the_harbour_is_flown_by_its_own_program(graph: Callable[..., Any], closing: ExitStack) -> None:
    ports = Ports()
    ports.ardupilot, *_ = free_ports(3, apart=10)
    # Fewer steps and images than usual.
    made = started(graph, "harbour", ports, "-p", "frame_rate:=3.0")
    auv, copter, plane = (newest(made, name) for name in ("auv", "copter", "plane"))
    ardupilot = ArduPilotClient(made, ports.ardupilot)
    ardupilot.rate = 200
    closing.callback(ardupilot.close)
    diver = AuvClient(closing, ports)
    program = Program("127.0.0.1", ("127.0.0.1", ports.uthere_in), ports.uthere_out)
    closing.callback(program.close)

    assert ardupilot.step(1000)
    for _ in range(3):
        assert ardupilot.step(1000)
    assert copter().pose.position.x == pytest.approx(30.0, abs=0.1)
    # The copter stands on land, not on the bottom of the pool.
    assert -0.5 < copter().pose.position.z < 0.5
    assert [plane().pose.position.x, plane().pose.position.y] == pytest.approx([60.0, 30.0], abs=0.1)
    assert heading_deg(plane()) == pytest.approx(-90.0, abs=1.0)

    program.send("data_request(plane=12345, variable=heading, interval=0.1)")
    diver.thrusters.send(encode_thrusters(ThrusterCommand(0, 100, 100, 0, 0)))
    heights = []
    for _ in range(600):
        assert ardupilot.step(1750)
        heights.append(-copter().pose.position.z)
    # Nothing keeps the copter level: the wind soon overturns it.
    assert max(heights) > 1.0
    assert auv().pose.position.x > -3.0
    made.idle(0.2)
    seen = [one for one in program.replies() if isinstance(one, Data)]
    assert {one.plane for one in seen} == {12345}
    program.send("request_plane_list")
    made.spin_until(lambda: PlaneList((12345, 12346, 12347)) in program.replies(), "the numbers of all")
    assert seen[-1].values["heading"] == pytest.approx(270.0, abs=5.0)
    shown = dict(decode_telemetry(one) for one in diver.collected(diver.telemetry))
    assert set(shown) == {0, 1, 2}
    assert shown[0].y == pytest.approx(auv().pose.position.x, abs=0.1)


def test_step_follows_ardupilot_beside_a_vehicle_whose_commands_come_first(
    graph: Callable[..., Any], closing: ExitStack
) -> None:
    # ArduCopter arms at 720 frames per simulated second or more. It raises its frame rate from the step rate.
    ports = Ports()
    ports.ardupilot, *_ = free_ports(3, apart=10)
    ardupilot = ArduPilotClient(started(graph, "harbour", ports), ports.ardupilot)
    closing.callback(ardupilot.close)
    for ardupilot.rate in (401, 402, 800, 800):
        before, after = ardupilot.step().timestamp, ardupilot.step().timestamp
        assert after - before == pytest.approx(1.0 / ardupilot.rate)


def heading_deg(state: SimState) -> float:
    q = state.pose.orientation
    return float(np.degrees(quat2euler([q.w, q.x, q.y, q.z])[2]))


class Track(SimulationNode):
    """Newest true state of a vehicle."""

    DEFAULT_NAME = "track"

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.subscribe(TRUTH_STATE, self._on_truth, qos=CHAIN)

    def _on_truth(self, state: VehicleState) -> None:
        self.state = state


@pytest.mark.timeout(400)
def test_copter_of_the_relay_follows_the_plane(ros_domain: int) -> None:
    scenario = load_scenario("relay")
    # All nodes take part in the hand-off: 100 s of two vehicles take a fifth of the time needed with a tester.
    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"real_time_multiplier": 0.0, "step_size": STEP_S, **scenario.settings},
        arguments=Ports().arguments,
        observers=scenario.observers,
    )
    try:
        plane, copter = (graph.join(Track, namespace=name) for name in ("plane", "copter"))
        pilots = [
            graph.join(Pilot, namespace="plane"),
            graph.join(FollowerScript, autopilot={"leader": "/plane"}, namespace="copter"),
        ]

        def off() -> float:
            """Distance of the copter from a point 20 m above the plane, m."""
            return math.dist(copter.state.position_ned, plane.state.position_ned - np.array([0.0, 0.0, 20.0]))

        def joins() -> bool:
            return (
                pilots[1].activity != "in formation"
                and not any(pilot.failure for pilot in pilots)
                and graph.time_ns < 90 * NANOSECONDS
            )

        graph.spin(joins)
        assert [pilot.failure for pilot in pilots] == [None, None]
        assert pilots[1].activity == "in formation"
        assert off() < 9.0
        end_ns = graph.time_ns + 10 * NANOSECONDS
        distances: list[float] = []

        def follows() -> bool:
            distances.append(off())
            return graph.time_ns < end_ns

        graph.spin(follows)
        # The plane circles at 14 m/s in wind.
        assert max(distances) < 12.0
        assert len(distances) >= 10 / STEP_S
        assert math.hypot(*plane.state.velocity_body[:2]) > 9.0
    finally:
        graph.close()


LEADER = """\
description: a multirotor, and one that follows it
seed: 3
vehicles:
  - name: ahead
    kind: multirotor
    autopilot: true
    start: {position: [0, 0]}
    parameters: {square_side: 1, square_height: 2, corner_pause: 0}
  - name: behind
    kind: hexarotor
    autopilot: follower_autopilot
    start: {position: [-9, 1]}
    parameters: {leader: ahead, formation_offset: [-8.0, 0.0, 0.0]}
"""


@pytest.mark.timeout(400)
def test_missions_of_a_scenario_are_flown_judged_and_drawn_together(command_line: Run, tmp_path: Path) -> None:
    file = tmp_path / "pair.yaml"
    file.write_text(LEADER, encoding="utf-8")
    words = ["fly", "--scenario", str(file), "--output", str(tmp_path / "flights"), "--record", "pair.mcap"]
    ros = ["--ros-args", "-p", "step_size:=0.01", *SLOW_SENSORS]
    result = command_line("-m", "rosflight_py_sim", *words, *ros, timeout_s=180.0)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Flight of ahead" in result.stdout
    assert "Flight of behind" in result.stdout
    found = re.search(r"distance from set-point *│ ([0-9.]+) m RMS", result.stdout)
    assert found is not None, result.stdout
    # Without wind; the last 2 m of the approach count.
    assert float(found[1]) < 0.5
    (picture,) = (tmp_path / "flights").glob("pair-*.png")
    assert str(picture.resolve()) in result.stdout
    assert imread(picture).shape[:2] == (1000, 1600)
    report = command_line("-m", "rosflight_py_sim", "report", "pair.mcap")
    assert report.returncode == 0, report.stdout + report.stderr
    page = (tmp_path / "pair.html").read_text(encoding="utf-8")
    for name in ("ahead", "behind"):
        assert f"Flight of {name}" in page
        assert f"{name}: mission autopilot" in report.stdout
    assert found[0] in report.stdout


# The stand-in with a shorter flight, which is still high and far enough for the mission.
SHORT_HOP = """\
import sys

sys.path.insert(0, {folder!r})

import ardupilot_stand_in

ardupilot_stand_in.PILOTS["copter"] = lambda: ardupilot_stand_in.CopterPilot(height=3.5, distance=11.0, speed=3.0)
ardupilot_stand_in.main()
"""


@pytest.mark.timeout(300)
def test_harbour_is_flown_by_programs_and_the_stand_in(command_line: Run, tmp_path: Path) -> None:
    pytest.importorskip("panda3d")
    # Without the plane's mission, which takes twice as long as the others combined.
    text = (SCENARIOS / "harbour.yaml").read_text(encoding="utf-8")
    whole = text.replace("../..", str(share_directory())).replace("../", f"{share_directory() / 'config'}/")
    shortened, count = re.subn(r"(kind: uthere(?:\n    .*)*?)\n    mission:(\n      .*)+", r"\1", whole)
    assert count == 1
    stand_in = share_directory() / "docs" / "examples" / "ardupilot_stand_in"
    hop = tmp_path / "short_hop.py"
    hop.write_text(SHORT_HOP.format(folder=str(stand_in)), encoding="utf-8")
    # Fewer steps and images than usual, and a start near the gate.
    for old, new in (
        ("task: out_and_back", 'task: out_and_back\n      arguments: [--rate, "60", --boot-frames, "10"]'),
        (str(stand_in / "ardupilot_stand_in.py"), str(hop)),
        ("frame_rate: 15.0", "frame_rate: 3.0"),
        ("position: [-4.0, 0.0, 0.3]", "position: [1.2, 1.0, 1.9], heading_deg: 40"),
    ):
        assert shortened.count(old) == 1
        shortened = shortened.replace(old, new)
    file = tmp_path / "harbour.yaml"
    file.write_text(shortened, encoding="utf-8")
    ports = Ports()
    words = ["fly", "--scenario", str(file), "--output", str(tmp_path / "flights")]
    settings = {
        "auv_zeromq.telemetry_rate": 60.0,
        "ardupilot.max_step": 0.02,
        # The copter is sooner at rest over each end of its way in less wind.
        "steady_state_wind": [0.0, 2.0, 0.0],
        "turbulence_wind_speed_20ft": 2.0,
    }
    ros = [*ports.arguments, *(word for name, value in settings.items() for word in ("-p", f"{name}:={value}"))]
    result = command_line("-m", "rosflight_py_sim", *words, "--ros-args", *ros, timeout_s=280.0)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Dive of auv" in result.stdout
    assert re.search(r"ring +│ surfaced in at", result.stdout)
    landing = re.search(r"landing +│ ([0-9.]+) m from the start", result.stdout)
    assert landing is not None, result.stdout
    assert float(landing[1]) < 1.0
    assert list((tmp_path / "flights").glob("harbour-*.png"))


@pytest.mark.timeout(300)
def test_copter_of_the_harbour_is_flown_by_the_stand_in_for_px4(command_line: Run, tmp_path: Path) -> None:
    """With the two lines that docs/scenarios.md changes, and no missions of the other vehicles."""
    text = (SCENARIOS / "harbour.yaml").read_text(encoding="utf-8")
    whole = text.replace("../..", str(share_directory())).replace("../", f"{share_directory() / 'config'}/")
    shortened, count = re.subn(r"(kind: (?:uthere|auv)(?:\n    .*)*?)\n    mission:(\n      .*)+", r"\1", whole)
    assert count == 2
    for old, new in (
        ("flight_controller: ardupilot", "flight_controller: px4"),
        ("ardupilot_stand_in/ardupilot_stand_in.py", "px4_stand_in/px4_stand_in.py"),
        ("kind: auv", "kind: auv\n    cameras: false"),
        ("    parameters: {frame_rate: 15.0}\n", ""),
    ):
        assert shortened.count(old) == 1
        shortened = shortened.replace(old, new)
    file = tmp_path / "harbour.yaml"
    file.write_text(shortened, encoding="utf-8")
    (port,) = free_ports(1)
    words = ["fly", "--scenario", str(file), "--output", str(tmp_path / "flights")]
    ros = [*Ports().arguments, "-p", f"px4.port:={port}", "-p", "step_size:=0.005"]
    result = command_line("-m", "rosflight_py_sim", *words, "--ros-args", *ros, timeout_s=280.0)
    assert result.returncode == 0, result.stdout + result.stderr
    landing = re.search(r"landing +│ ([0-9.]+) m from the start", result.stdout)
    assert landing is not None and float(landing[1]) < 2.0, result.stdout


def test_scenario_without_mission_is_refused(command_line: Run, tmp_path: Path) -> None:
    file = tmp_path / "idle.yaml"
    file.write_text("description: idle\nvehicles:\n  - {name: one, kind: multirotor}\n", encoding="utf-8")
    result = command_line("-m", "rosflight_py_sim", "fly", "--scenario", str(file))
    assert result.returncode == 1
    assert f"scenario '{file}' given, in which no vehicle has a mission; allowed: " in result.stderr
    result = command_line("-m", "rosflight_py_sim", "fly", "--scenario", "swarm", "--vehicle", "auv")
    assert result.returncode == 1
    assert "--vehicle given with --scenario swarm; allowed: one of them" in result.stderr
