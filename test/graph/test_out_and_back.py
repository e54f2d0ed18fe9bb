"""The stand-in of the mission out_and_back starts only where no ArduPilot sends frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from free_ports import free_ports

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.out_and_back import task as module
from rosflight_py_sim.missions.out_and_back.task import OutAndBackTask
from rosflight_py_sim.vehicles import vehicle
from test.graph.ardupilot_client import ArduPilotClient

WAIT_S = 0.3


@pytest.fixture
def port() -> int:
    return free_ports(2, apart=10)[0]


@pytest.fixture
def task(graph: Callable[..., Any], port: int, monkeypatch: pytest.MonkeyPatch) -> OutAndBackTask:
    """Task of the second of two copters, in a graph that is not run yet."""
    monkeypatch.setattr(module, "WAIT_S", WAIT_S)
    members = [
        Member(vehicle("multirotor"), f"copter_{k}", {"initial_position": [0.0, 5.0 * k]}, "ardupilot")
        for k in range(2)
    ]
    made = OutAndBackTask(members[1])
    # Longer than the wait, as the construction of the nodes on a busy machine.
    time.sleep(2 * WAIT_S)
    made.graph = graph("-p", f"ardupilot.port:={port}", vehicles=members)
    made.join(made.graph, "")
    return made


@pytest.fixture
def client(task: OutAndBackTask, port: int) -> Iterator[ArduPilotClient]:
    """ArduPilot of the task's copter."""
    made = ArduPilotClient(task.graph, port + 10)
    yield made
    made.close()


def needs_program(task: OutAndBackTask) -> bool:
    """Whether the task starts its program within twice the wait."""
    end_s = time.monotonic() + 2 * WAIT_S
    while time.monotonic() < end_s:
        if task.needs_program():
            return True
        task.graph.idle(0.02)
    return False


def test_program_starts_once_the_bridge_has_listened_in_vain(task: OutAndBackTask) -> None:
    assert not task.needs_program()
    assert needs_program(task)


def test_program_does_not_start_beside_a_frame_that_the_graph_has_yet_to_read(
    task: OutAndBackTask, client: ArduPilotClient
) -> None:
    assert not task.needs_program()
    client.send()
    time.sleep(2 * WAIT_S)
    # Nothing has been run since.
    assert not task.needs_program()
    assert not needs_program(task)


def test_program_does_not_start_beside_an_ardupilot_that_waits_for_another_vehicle(
    task: OutAndBackTask, client: ArduPilotClient
) -> None:
    client.send()
    assert not needs_program(task)
    # No step has been taken: the first copter has no ArduPilot.
    assert client.received() is None


def test_datagrams_that_are_no_frames_do_not_prevent_the_start(task: OutAndBackTask, client: ArduPilotClient) -> None:
    client.send_bytes(b"who is there?")
    assert needs_program(task)


def test_ardupilot_of_another_vehicle_does_not_prevent_the_start(task: OutAndBackTask, port: int) -> None:
    other = ArduPilotClient(task.graph, port)
    other.send()
    assert needs_program(task)
    other.close()


def test_program_gets_the_port_of_a_vehicle_that_px4_flies(graph: Callable[..., Any]) -> None:
    port, _ = free_ports(2)
    members = [
        Member(vehicle("multirotor"), f"copter_{k}", {"initial_position": [0.0, 5.0 * k]}, "px4") for k in range(2)
    ]
    task = OutAndBackTask(members[1])
    flown = graph("-p", f"px4.port:={port}", vehicles=members)
    task.join(flown, "")
    assert task.arguments(flown) == ["--linger", "--port", str(port + 1), "--address", "127.0.0.1"]
    assert task.activity == f"waiting for PX4 on TCP 127.0.0.1:{port + 1}"


def test_vehicle_whose_flight_controller_has_no_port_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"'sil_board'; allowed: ardupilot, px4"):
        OutAndBackTask(Member(vehicle("multirotor")))
