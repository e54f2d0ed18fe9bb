"""Failures of links in the running graph: with a program on the link, on /diagnostics, and in a scenario."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from free_ports import free_ports
from linked_vehicle import linked_multirotor
from mavlink_client import MavlinkClient
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import UInt32

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.failures.failure import FAILURES
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.rosflight_io import OURS
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.step.diagnosis import Level
from rosflight_py_sim.step.qos import LATCHED, LATCHED_QUEUE
from rosflight_py_sim.step.topics import ACTIVE_FAILURES
from rosflight_py_sim.vehicles import vehicle
from test.bridge.uthere_bench import Program

Make = Callable[..., Any]


def failing(*failures: str) -> tuple[str, str]:
    """ROS arguments with these failures."""
    return "-p", f"failures:={list(failures)}"


def with_ports(prefix: str, **ports: int) -> list[str]:
    return [word for name, port in ports.items() for word in ("-p", f"{prefix}.{name}:={port}")]


def shown_on_diagnostics(messages: list[DiagnosticArray], entry: str) -> list[str]:
    return [status.message for message in messages for status in message.status if status.name == entry]


def test_lost_link_triggers_lost_comm_of_uthere_and_is_shown(graph: Make) -> None:
    port_in, port_out = free_ports(2)
    program = Program("127.0.0.1", ("127.0.0.1", port_in), port_out)
    try:
        g = graph(
            *with_ports("uthere", udp_port_in=port_in, udp_port_out=port_out),
            *("-p", "uthere.lost_comm_timeout:=1.0", "-p", "step_size:=0.01"),
            *failing("link lost at 2 for 2"),
            vehicle_name="anaconda",
            flight_controller="uthere",
        )
        triggered = g.collect_messages("guided/cage_triggered", UInt32, LATCHED)
        active = g.collect_messages(ACTIVE_FAILURES, qos=LATCHED_QUEUE)
        sent_s = 0.0

        def has_lost_comm() -> bool:
            """Whether the bit is set; the program sends a packet every tenth of a second."""
            nonlocal sent_s
            if g.time_s - sent_s >= 0.1:
                sent_s = g.time_s
                program.send("request_plane_list")
            return bool(triggered) and bool(triggered[-1].data >> CageBit.PACKET_TIMEOUT_LOST_COMM & 1)

        g.spin_until(lambda: g.time_s > 0.5 and not has_lost_comm(), "the program's packets")
        g.spin_until(has_lost_comm, "lost comm")
        # The last packet before the failure is up to a tenth of a second old, and full speed adds some steps.
        assert 2.8 <= g.time_s <= 3.6
        assert [one.data for one in active] == ["bridge: link lost at 2 for 2"]
        assert g.node("bridge").active_failures == ["link lost at 2 for 2"]
        program.packets()
        g.spin_until(lambda: not has_lost_comm(), "packets again")
        assert 4.0 <= g.time_s <= 4.6
        g.spin_until(lambda: active[-1].data == "bridge: none", "the end on the topic")
    finally:
        program.close()


def test_failure_given_at_run_time_begins_and_ends(graph: Make) -> None:
    ports = dict(zip(("image_port", "thruster_port", "telemetry_port"), free_ports(3), strict=True))
    member = Member(vehicle("auv").carrying("camera", False))
    g = graph(*with_ports("auv_zeromq", **ports), "-p", "step_size:=0.01", vehicles=[member])
    g.spin_until(lambda: g.time_s > 0.1, "advancing time")
    g.set_parameter(g.time_manager, "real_time_multiplier", 0.5)
    shown = g.collect_messages("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)
    counters = g.node("bridge").front_ends["auv_zeromq"].counters
    g.set_parameter("bridge", FAILURES.name, ["downlink lost"])
    g.spin_until(lambda: shown_on_diagnostics(shown, "bridge: failures"), "the entry on /diagnostics")
    assert shown_on_diagnostics(shown, "bridge: failures")[0] == "downlink lost"
    g.set_parameter(g.time_manager, "real_time_multiplier", 0.0)
    sent = counters["telemetry_messages"]
    g.spin_for(0.5)
    assert counters["telemetry_messages"] == sent
    g.set_parameter("bridge", FAILURES.name, [])
    g.spin_until(lambda: counters["telemetry_messages"] > sent, "telemetry again")
    change = Parameter(FAILURES.name, value=["link broken"]).to_parameter_msg()
    (result,) = g.call("bridge/set_parameters", SetParameters, parameters=[change]).results
    assert result.reason == "failure 'link broken': broken given; allowed: lost, late, damaged"


def test_link_to_ardupilot_cannot_fail(graph: Make) -> None:
    text = (
        "failure 'link lost': the link cannot fail: each step waits for a frame of ArduPilot, so simulated time would "
        "stop with the link; allowed: failures of other parts"
    )
    with pytest.raises(ParameterError, match=re.escape(text)):
        graph(*with_ports("ardupilot", port=free_ports()[0]), *failing("link lost"), flight_controller="ardupilot")


def test_rosflight_io_reports_the_lost_link_and_works_again_after_it(graph: Make) -> None:
    g = graph(vehicles=[linked_multirotor(OURS)], multiplier=1.0).ready()
    g.spin_until(lambda: g.call("all_params_received").success, "all parameters")
    g.set_parameter("sil_board", FAILURES.name, ["link lost"])
    g.spin_for(2.2)
    frames = g.node("sil_board").link.counters["frames"]
    reply = g.call("calibrate_rc_trim")
    assert not reply.success
    assert "no reply from the flight controller within 2 s" in reply.message
    assert g.node("sil_board").link.counters["frames"] == frames
    shown = [(one.level, one.message) for one in g.node("rosflight_io").diagnose(None)]
    assert shown == [(Level.WARN, "no message from the flight controller for 2 s")]
    g.set_parameter("sil_board", FAILURES.name, [])
    g.spin_until(lambda: [one.message for one in g.node("rosflight_io").diagnose(None)] == ["connected"], "messages")
    assert g.call("calibrate_rc_trim").success
    assert g.node("sil_board").link.counters["frames"] > frames


def test_damage_of_a_seed_is_the_same_in_each_run(graph: Make) -> None:
    def run(seed: int) -> list[bytes]:
        board_port, program_port = free_ports(2)
        program = MavlinkClient(board_port, program_port)
        g = graph(
            *with_ports("mavlink", port=board_port, peer_port=program_port),
            *("-p", f"sil_board:seed:={seed}", *failing("downlink damaged 0.2 at 0.1 for 0.2")),
        )
        g.pause()
        for _ in range(200):
            g.step()
        g.close()
        try:
            return program.datagrams()
        finally:
            program.close()

    first = run(1)
    assert len(first) > 300
    assert run(1) == first
    assert run(2) != first


def test_link_that_no_vehicle_has_is_refused_with_file_and_line(graph: Make, tmp_path: Path) -> None:
    text = "failure 'link lost': the link cannot fail: no program commands it over a link (flight controllers with"
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}"):
        graph(*failing("gyro off", "link lost"))
    file = tmp_path / "failures.yaml"
    file.write_text("/**:\n  ros__parameters:\n    failures:\n      - link lost\n")
    with pytest.raises(ParameterError, match=rf"^{re.escape(str(file))}, line 3: {re.escape(text)}"):
        graph(files=[str(file)])


SCENARIO = """description: two divers
vehicles:
  - name: one
    kind: auv
    cameras: false
    failures: [link lost at 1]
  - name: two
    kind: auv
    cameras: false
"""


def test_link_of_one_vehicle_of_a_scenario_fails(
    graph: Make, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "divers.yaml"
    file.write_text(SCENARIO)
    scenario = load_scenario(str(file))
    ports = dict(zip(("image_port", "thruster_port", "telemetry_port"), free_ports(3), strict=True))
    g = graph(*with_ports("auv_zeromq", **ports), "-p", "step_size:=0.01", vehicles=scenario.members)
    active = g.collect_messages(ACTIVE_FAILURES, qos=LATCHED_QUEUE)
    bridge = g.node("bridge")
    g.spin_until(lambda: bridge.active_failures, "the failure")
    assert bridge.active_failures == ["one: link lost at 1"]
    g.spin_until(lambda: active, "the failure on the topic")
    assert active[0].data == "bridge: link lost at 1"
    counters = bridge.front_ends["auv_zeromq"].counters
    g.spin_for(0.1)
    begin_s, sent = g.time_s, counters["telemetry_messages"]
    g.spin_for(0.5)
    # 60 messages a second of one AUV.
    assert counters["telemetry_messages"] - sent == pytest.approx(60 * (g.time_s - begin_s), abs=4)
    g.set_parameter("/bridge", f"one.{FAILURES.name}", [])
    g.spin_until(lambda: active[-1].data == "bridge: none", "the end")
    logged = capfd.readouterr().err
    assert "[bridge]: failure begins: one: link lost at 1\n" in logged
    assert "[bridge]: failure ends: one: link lost at 1\n" in logged
