"""Scenarios of the package fly, and the flight of each vehicle depends neither on the others nor on their order."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports
from rosflight_msgs.msg import SimState
from transforms3d.euler import quat2euler

from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.interfaces.step_topics import TRUTH_STATE
from rosflight_py_sim.nodes.pilot import Pilot
from rosflight_py_sim.protocols.auv_zeromq import ThrusterCommand, decode_telemetry, encode_thrusters
from rosflight_py_sim.protocols.uthere import Data, PlaneList
from rosflight_py_sim.resources import share_directory
from test.bridge.uthere_bench import Program
from test.graph.ardupilot_client import ArduPilotClient
from test.graph.test_observers import AuvClient, Ports

FLOWN_TRUTH = str(Path(__file__).with_name("flown_truth.py"))
FOOT = 0.3048

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


def flown(run: Run, scenario: str, seconds: int) -> dict[str, list[str]]:
    """Hash and position of each vehicle at each full second."""
    lines: dict[str, list[str]] = {}
    for line in run(FLOWN_TRUTH, scenario, str(seconds), "--scenario").stdout.splitlines():
        name, rest = line.split(" ", 1)
        if rest[0].isdigit():
            lines.setdefault(name, []).append(rest)
    return lines


def test_flight_does_not_change_with_the_order_of_vehicles_or_with_another_one(
    command_line: Run, tmp_path: Path
) -> None:
    head = HEAD.format(config=share_directory() / "config")
    flights = []
    for k, vehicles in enumerate((ONE + OTHER, OTHER + ONE, FURTHER + ONE + OTHER)):
        file = tmp_path / f"{k}.yaml"
        file.write_text(head + vehicles, encoding="utf-8")
        flights.append(flown(command_line, str(file), 8))
    assert all(len(flight["one"]) == len(flight["other"]) == 8 for flight in flights)
    assert flights[0] == flights[1]
    assert flights[0] == {name: flights[2][name] for name in ("one", "other")}
    # They fly.
    assert all(float(lines[-1].split()[-1]) < -1.0 for lines in flights[0].values())


def test_swarm_flies_in_formation(command_line: Run) -> None:
    starts = {one.namespace: one.settings["initial_position"] for one in load_scenario("swarm").members}
    flight = flown(command_line, "swarm", 20)
    places = {name: np.array([line.split()[2:5] for line in lines], dtype=float) for name, lines in flight.items()}
    for name, place in places.items():
        offset = place - places["leader"]
        # The wind's gusts are each vehicle's own.
        assert np.abs(offset[:, :2] - starts[name]).max() < 1.5
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
    made = started(graph, "harbour", ports)
    auv, copter, plane = (newest(made, name) for name in ("auv", "copter", "plane"))
    ardupilot = ArduPilotClient(made, ports.ardupilot)
    closing.callback(ardupilot.close)
    diver = AuvClient(closing, ports)
    program = Program("127.0.0.1", ("127.0.0.1", ports.uthere_in), ports.uthere_out)
    closing.callback(program.close)

    assert ardupilot.step(1000)
    for _ in range(3):
        assert ardupilot.step(1000)
    assert copter().pose.position.x == pytest.approx(30.0, abs=0.1)
    # It stands on the land, not at the bottom of the pool.
    assert -0.5 < copter().pose.position.z < 0.5
    assert [plane().pose.position.x, plane().pose.position.y] == pytest.approx([60.0, 30.0], abs=0.1)
    assert heading_deg(plane()) == pytest.approx(-90.0, abs=1.0)

    program.send("data_request(plane=12345, variable=heading, interval=0.1)")
    diver.thrusters.send(encode_thrusters(ThrusterCommand(0, 100, 100, 0, 0)))
    for _ in range(1200):
        assert ardupilot.step(1750)
    assert copter().pose.position.z < -5.0
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


def heading_deg(state: SimState) -> float:
    q = state.pose.orientation
    return float(np.degrees(quat2euler([q.w, q.x, q.y, q.z])[2]))


@pytest.mark.timeout(200)
def test_relay_has_a_plane_and_a_copter_that_one_program_commands(
    graph: Callable[..., Any], closing: ExitStack
) -> None:
    ports = Ports()
    made = started(graph, "relay", ports, "-p", "uthere.ap_target_from_packet_timeout:=10.0")
    plane, copter = (newest(made, name) for name in ("plane", "copter"))
    pilots = [made.join(Pilot, namespace=name) for name in ("plane", "copter")]
    program = Program("127.0.0.1", ("127.0.0.1", ports.uthere_in), ports.uthere_out)
    closing.callback(program.close)
    leader, follower = 12345, 12346
    data: dict[int, dict[str, float]] = {leader: {}, follower: {}}

    def look() -> None:
        for one in program.replies():
            if isinstance(one, Data):
                data[one.plane].update(one.values)

    def both_fly() -> bool:
        look()
        assert [pilot.failure for pilot in pilots] == [None, None]
        return all(one.get("control_operate_mode") == 3 and one["altitude"] * FOOT > 10.0 for one in data.values())

    program.send("data_request(variable=all, interval=0.2)")
    made.spin_until(both_fly, "both in the air")
    program.send(f"fly_engage(plane={follower})")

    def follows() -> bool:
        look()
        altitude = data[leader]["altitude"]
        program.send(f"fly(plane={follower}, course=270, airspeed=8, altitude={min(altitude, 200):.0f})")
        return data[follower]["control_operate_mode"] == 24 and abs(data[follower]["course"] - 270.0) < 5.0

    made.spin_until(follows, "the copter on its course")
    assert data[leader]["control_operate_mode"] == 3
    assert plane().pose.position.z < -10.0
    assert copter().pose.position.z < -5.0
