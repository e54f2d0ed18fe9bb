"""The MAVLink link of a flight controller in the graph, with a program that uses nothing of the package."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from free_ports import free_ports
from mavlink_client import MavlinkClient, parameter

from rosflight_py_sim.ground.parameters import ParameterError

MakeGraph = Callable[..., Any]


def with_link(board_port: int, program_port: int) -> tuple[str, ...]:
    values = {"mavlink.port": board_port, "mavlink.peer_port": program_port}
    return ("--ros-args", *(word for name, value in values.items() for word in ("-p", f"{name}:={value}")))


def values_of(graph: Any) -> dict[str, str]:
    """Counters of the link on /diagnostics."""
    reports = {one.subject: one.values for one in graph.node("sil_board").diagnose(None)}
    return {name: str(value) for name, value in reports["mavlink"].items()}


def test_every_sensor_of_the_graph_is_on_the_link_and_the_port_is_closed_with_it(graph: MakeGraph) -> None:
    board_port, program_port = free_ports(2)
    program = MavlinkClient(board_port, program_port)
    try:
        g = graph(*with_link(board_port, program_port)).ready()
        program.messages()
        g.spin_for(1.0)
        counts: dict[str, int] = {}
        for one in program.messages():
            counts[one.name] = counts.get(one.name, 0) + 1
        expected = {
            "SMALL_IMU": 400,
            "ATTITUDE_QUATERNION": 400,
            "ROSFLIGHT_BATTERY_STATUS": 200,
            "SMALL_BARO": 100,
            "DIFF_PRESSURE": 100,
            "SMALL_MAG": 50,
            "ROSFLIGHT_OUTPUT_RAW": 50,
            "RC_CHANNELS": 50,
            "SMALL_RANGE": 20,
            "ROSFLIGHT_GNSS": 10,
            "ROSFLIGHT_STATUS": 10,
            "HEARTBEAT": 1,
        }
        # A second ends amid the steps of the graph.
        assert counts == {name: pytest.approx(count, abs=2) for name, count in expected.items()}
        program.set_parameter("FAILSAFE_THR", 0.25)
        g.spin_for(0.05)
        assert list(map(parameter, program.received("PARAM_VALUE"))) == [("FAILSAFE_THR", 0.25)]
        assert g.firmware("FAILSAFE_THR") == 0.25
        assert values_of(g)["frames"] == "1"
        g.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
            again.bind(("127.0.0.1", board_port))
    finally:
        program.close()


def test_message_sent_while_the_simulation_is_paused_enters_the_next_step(graph: MakeGraph) -> None:
    board_port, program_port = free_ports(2)
    program = MavlinkClient(board_port, program_port)
    try:
        g = graph(*with_link(board_port, program_port)).ready()
        g.pause()
        parameters = g.node("sil_board").firmware.parameters
        seen = []
        for k in range(12):
            program.set_parameter("OFFBOARD_TIMEOUT", 200 + k)
            g.step()
            seen.append(parameters["OFFBOARD_TIMEOUT"])
        # The latency of 6 ms ends in the third step.
        assert seen == [100, 100, *range(200, 210)]
    finally:
        program.close()


def test_port_that_is_taken_ends_the_start_with_its_name(graph: MakeGraph) -> None:
    board_port, program_port = free_ports(2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", board_port))
        with pytest.raises(ParameterError, match=f"'mavlink.port': 127.0.0.1:{board_port} given, .* in use"):
            graph(*with_link(board_port, program_port))


def test_flight_without_the_link_opens_no_port(graph: MakeGraph) -> None:
    g = graph().ready()
    assert "mavlink" not in {one.subject for one in g.node("sil_board").diagnose(None)}
