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

INTERFACE_SERVICES = [
    *("param_get", "param_set", "param_write", "param_save_to_file", "param_load_from_file", "all_params_received"),
    *("calibrate_imu", "calibrate_mag", "calibrate_baro", "calibrate_airspeed", "calibrate_rc_trim"),
    *("reboot", "reboot_to_bootloader", "print_mixing_matrix"),
]
INTERFACE_TOPICS = [
    *("command", "aux_command", "external_attitude", "attitude", "attitude/euler", "imu/data", "imu/temperature"),
    *("output_raw", "rc_raw", "airspeed", "baro", "magnetometer", "range", "battery", "gnss", "version", "status"),
    *("status/params_changed", "status/unsaved_params", "status/rosflight_errors"),
]


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


def test_board_without_the_interface_leaves_it_to_another_program(graph: MakeGraph) -> None:
    board_port, program_port = free_ports(2)
    program = MavlinkClient(board_port, program_port)
    try:
        g = graph(*with_link(board_port, program_port), "-p", "offers_rosflight_io:=false")
        board = g.node("sil_board")
        g.spin_until(lambda: program.received("ROSFLIGHT_STATUS"), "a status")
        root = board.get_namespace()
        own = {name for name, _ in board.get_service_names_and_types_by_node("sil_board", root)}
        assert not {f"/{name}" for name in INTERFACE_SERVICES} & own and "/sil_board/run" in own
        published = {name for name, _ in board.get_publisher_names_and_types_by_node("sil_board", root)}
        subscribed = {name for name, _ in board.get_subscriber_names_and_types_by_node("sil_board", root)}
        assert not {f"/{name}" for name in INTERFACE_TOPICS} & (published | subscribed)
        assert "/sim/pwm_output" in published and "/sim/sensors/imu/data" in subscribed
    finally:
        program.close()


def test_board_without_the_interface_and_without_the_link_is_refused(graph: MakeGraph) -> None:
    with pytest.raises(ParameterError, match=r"'mavlink.port' and 'offers_rosflight_io': 0 and false given"):
        graph("-p", "offers_rosflight_io:=false")


def test_messages_of_programs_cannot_be_repeated(graph: MakeGraph) -> None:
    g = graph(*with_link(*free_ports(2)))
    assert g.node("sil_board").unrepeatable_inputs == ["MAVLink messages (/sil_board)"]
