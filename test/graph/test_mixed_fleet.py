"""Vehicles of different kinds and flight controllers in one simulation, with one bridge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from free_ports import free_ports
from rclpy.parameter import Parameter
from rosflight_msgs.msg import PwmOutput

from rosflight_py_sim.graph import composition
from rosflight_py_sim.graph.fleet import Member, fleet
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.protocols.auv_zeromq import ThrusterCommand, encode_thrusters
from rosflight_py_sim.step.topics import PWM_OUTPUT
from rosflight_py_sim.vehicles import CAMERA, vehicle
from test.graph.ardupilot_client import ArduPilotClient
from test.graph.test_observers import AuvClient, Ports

PLANE = Member(vehicle("uthere"), "plane")
COPTER = Member(vehicle("multirotor"), "copter", {"initial_position": [0.0, 20.0]}, flight_controller="ardupilot")
AUV = Member(vehicle("auv").carrying(CAMERA, False), "auv")


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class OwnPorts(Ports):
    """Ports with a free port for each of three ArduPilots."""

    def __init__(self) -> None:
        super().__init__()
        self.ardupilot, *_ = free_ports(3, apart=10)


@pytest.fixture
def ports() -> OwnPorts:
    return OwnPorts()


def nodes(graph: Any) -> set[str]:
    return {f"{node.get_namespace()}/{node.get_name()}".lstrip("/") for node in graph.nodes}


def test_each_vehicle_has_the_nodes_of_its_kind_and_one_bridge_serves_all(
    graph: Callable[..., Any], ports: OwnPorts, closing: ExitStack
) -> None:
    mixed = graph(*ports.arguments, vehicles=[PLANE, COPTER, AUV])
    boards = {name for name in nodes(mixed) if name.endswith("sil_board")}
    assert boards == {"plane/sil_board"}
    bridge = mixed.node("bridge")
    assert bridge.values["front_ends"] == ["uthere", "ardupilot", "auv_zeromq"]
    assert bridge.values["commanders"] == ["uthere", "ardupilot", "auv_zeromq"]
    copter = ArduPilotClient(mixed, ports.ardupilot)
    closing.callback(copter.close)
    auv = AuvClient(closing, ports)
    at = {name: mixed.collect_messages(PWM_OUTPUT, at=f"/{name}") for name in ("plane", "copter", "auv")}
    auv.thrusters.send(encode_thrusters(ThrusterCommand(0, 100, 0, 0, 0)))
    mixed.spin_until(lambda: copter.step(1150) and bridge.front_ends["auv_zeromq"].counters["commands"], "the command")
    for _ in range(3):
        assert copter.step(1150)
    mixed.spin_until(lambda: all(at.values()), "pulses of all vehicles")
    assert newest(at["copter"])[:4] == [1150] * 4
    assert newest(at["auv"])[:4] == [2000, 1500, 1500, 1500]


@pytest.mark.timeout(60)
def test_graph_waits_for_no_parameters_of_a_flight_controller_outside(
    graph: Callable[..., Any], ports: OwnPorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composition, "READY_LIMIT_S", 1000.0)
    mixed = graph(*ports.arguments, vehicles=[PLANE, COPTER, AUV])
    forces = {one.get_namespace(): one for one in mixed.nodes if one.get_name() == "forces_and_moments"}
    # The plane's own flight controller has answered before the first step.
    assert not forces["/plane"].awaited_services()
    assert "/copter/param_get" in forces["/copter"].awaited_services()


def newest(messages: list[PwmOutput]) -> list[int]:
    return list(messages[-1].values)


def test_pairing_file_of_each_kind_reaches_the_bridge_under_the_vehicles_name(
    graph: Callable[..., Any], ports: OwnPorts
) -> None:
    mixed = graph(*ports.arguments, vehicles=[PLANE, COPTER, AUV])
    values = mixed.node("bridge").values
    assert values["copter.ardupilot.outputs"][:4] == ["1", "4", "2", "3"]
    assert values["copter.mass"] == 3.5
    assert values["uthere.controller"] == "fixedwing"
    assert values["copter.uthere.controller"] == "multirotor"
    # These parameters equal the first vehicle's.
    assert "copter.ardupilot.silence" not in values
    assert "plane.uthere.controller" not in values


def test_vehicles_of_one_kind_share_all_parameters(graph: Callable[..., Any], ports: OwnPorts) -> None:
    pair = [COPTER, Member(vehicle("multirotor"), "second", flight_controller="ardupilot")]
    values = graph(*ports.arguments, vehicles=pair).node("bridge").values
    assert [name for name in values if name.startswith(("copter.", "second."))] == []


def test_viewer_of_vehicles_of_one_kind_has_no_parameters_of_single_vehicles(graph: Callable[..., Any]) -> None:
    pair = fleet(vehicle("multirotor"), count=2, seed=0)
    values = graph(vehicles=pair, executables=["visualizer"]).node("visualizer").values
    assert [name for name in values if name.startswith("multirotor_")] == []


def test_parameter_of_one_vehicle_overrides_the_general_one(graph: Callable[..., Any], ports: OwnPorts) -> None:
    pair = [COPTER, Member(vehicle("multirotor"), "second", flight_controller="ardupilot")]
    (port,) = free_ports()
    own = ("-p", f"second.ardupilot.port:={port}", "-p", "second.auv_zeromq.id:=7")
    mixed = graph(*ports.arguments, *own, vehicles=pair, observers=["auv_zeromq"])
    ardupilot, auv = (mixed.node("bridge").front_ends[name] for name in ("ardupilot", "auv_zeromq"))
    assert ardupilot.peer(0) == f"ArduPilot on UDP 127.0.0.1:{ports.ardupilot}"
    assert ardupilot.peer(1) == f"ArduPilot on UDP 127.0.0.1:{port}"
    assert auv.peer(1).startswith("clients of AUV 7 ")


def test_members_own_settings_and_files_reach_the_bridge(
    graph: Callable[..., Any], ports: OwnPorts, tmp_path: Any
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("/**/bridge:\n  ros__parameters: {uthere.cage_altitude_maximum: 77.0}\n", encoding="utf-8")
    low = Member(vehicle("uthere"), "low", files=(file,))
    flat = Member(vehicle("uthere"), "flat", {"uthere.cage_roll_max": 0.2})
    values = graph(*ports.arguments, vehicles=[PLANE, low, flat]).node("bridge").values
    assert values["low.uthere.cage_altitude_maximum"] == 77.0
    assert values["uthere.cage_altitude_maximum"] == 300.0
    assert "flat.uthere.cage_altitude_maximum" not in values
    assert values["flat.uthere.cage_roll_max"] == 0.2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("copter.ardupilot.port:=70000",), "parameter 'copter.ardupilot.port': 70000 given; allowed: integer, from 1"),
        (
            ("plane.ardupilot.port:=9100", "copter.ardupilot.port:=9100"),
            "parameter 'ardupilot.port': 9100 given for vehicles 'plane' and 'copter'; allowed: another one for each",
        ),
        (
            ("copter.auv_zeromq.id:=0",),
            "parameter 'auv_zeromq.id': 0 given for vehicles 'plane' and 'copter'; allowed: another one for each",
        ),
    ],
)
def test_parameter_of_one_vehicle_is_checked_like_the_general_one(
    graph: Callable[..., Any], ports: OwnPorts, arguments: tuple[str, ...], text: str
) -> None:
    words = [word for one in arguments for word in ("-p", one)]
    with pytest.raises(ParameterError) as error:
        graph(*ports.arguments, *words, vehicles=[PLANE, COPTER], observers=["auv_zeromq"])
    assert text in str(error.value)


def test_parameter_that_applies_to_all_vehicles_is_refused_for_one(
    graph: Callable[..., Any], ports: OwnPorts, tmp_path: Any
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("bridge:\n  ros__parameters: {plane.uthere.udp_port_in: 10}\n", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"there is no parameter 'plane\.uthere\.udp_port_in'"):
        graph(*ports.arguments, vehicles=[PLANE, COPTER], files=[str(file)])


def test_parameter_of_one_vehicle_changes_in_flight(graph: Callable[..., Any], ports: OwnPorts) -> None:
    mixed = graph(*ports.arguments, "-p", "plane.uthere.cage_altitude_maximum:=90.0", vehicles=[PLANE, COPTER])
    planes = mixed.node("bridge").front_ends["uthere"].planes
    change = Parameter("plane.uthere.cage_altitude_maximum", value=60.0)
    assert mixed.node("bridge").set_parameters_atomically([change]).successful
    assert [plane.pilot.variables()["cage_altitude_maximum"] for plane in planes] == [60.0, 300.0]
