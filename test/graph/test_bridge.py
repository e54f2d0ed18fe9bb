"""A client of ArduPilot's protocol flies the composed graph through the bridge."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked_python import ForkedPython
from free_ports import free_ports
from rosflight_msgs.msg import PwmOutput, SimState
from std_msgs.msg import String

from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.topics import PWM_OUTPUT, TRUTH_STATE, WAITING_FOR
from test.graph.ardupilot_client import ArduPilotClient

STEP_S = 0.0025


@pytest.fixture
def port() -> int:
    """An unused UDP port."""
    return free_ports()[0]


@pytest.fixture
def bridged(graph: Callable[..., Any], port: int) -> Any:
    """A graph with the bridge as the flight controller, as fast as the machine allows."""
    return graph("-p", f"ardupilot.port:={port}", flight_controller="ardupilot")


@pytest.fixture
def new_client(bridged: Any, port: int) -> Iterator[Callable[[], ArduPilotClient]]:
    """A function that makes a client."""
    made: list[ArduPilotClient] = []

    def make() -> ArduPilotClient:
        made.append(ArduPilotClient(bridged, port))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(new_client: Callable[[], ArduPilotClient]) -> ArduPilotClient:
    """A client that has flown its first step."""
    made = new_client()
    made.step()
    return made


def seconds(stamp: Any) -> float:
    return time_ns_of(stamp) / NANOSECONDS


def test_first_frame_is_answered_with_vehicle_at_rest(bridged: Any, new_client: Callable[[], ArduPilotClient]) -> None:
    reply = new_client().step()
    assert reply.timestamp == STEP_S
    # The skids are 0.12 m below the centre of mass, and sink into the ground by less than a millimetre.
    assert reply.position_ned == pytest.approx((0.0, 0.0, -0.12), abs=1e-3)
    assert reply.quaternion == pytest.approx((1.0, 0.0, 0.0, 0.0), abs=1e-3)
    # Six deviations of the accelerometer's noise and its greatest bias.
    assert reply.accel_body == pytest.approx((0.0, 0.0, -9.81), abs=6 * 0.2 + 0.6)


def test_each_frame_advances_one_step_and_its_timestamp(bridged: Any, client: ArduPilotClient) -> None:
    pwm: list[PwmOutput] = bridged.collect_messages(PWM_OUTPUT)
    bridged.spin_until(lambda: bridged.tester.count_publishers(PWM_OUTPUT.name), "discovery")
    timestamps = [client.step(1200).timestamp for _ in range(200)]
    bridged.idle(0.1)
    # The first step was that of the fixture; time is a whole number of nanoseconds.
    assert timestamps == [round((i + 2) * STEP_S, 9) for i in range(200)]
    assert bridged.time_s == pytest.approx(201 * STEP_S, abs=1e-9)
    assert bridged.node("bridge").front_ends["ardupilot"].counters == {"steps": 201}
    stamps = {seconds(message.header.stamp) for message in pwm if message.values[0] == 1200}
    assert stamps <= {round((i + 1) * STEP_S, 9) for i in range(200)}
    assert max(stamps) == 200 * STEP_S


def test_reply_is_the_true_state_after_the_step(bridged: Any, client: ArduPilotClient) -> None:
    truths: list[SimState] = bridged.collect_messages(TRUTH_STATE)
    for _ in range(100):
        reply = client.step(1900)
    bridged.idle(0.1)
    truth = truths[-1]
    assert seconds(truth.header.stamp) == reply.timestamp
    p = truth.pose.position
    assert reply.position_ned == (p.x, p.y, p.z)


def test_throttle_lifts_vehicle_and_reply_is_in_ned(bridged: Any, client: ArduPilotClient) -> None:
    first = client.step(1000)
    for _ in range(400):
        reply = client.step(1700)
    assert reply.timestamp - first.timestamp == pytest.approx(1.0, abs=1e-9)
    assert reply.position_ned[2] < first.position_ned[2] - 0.5
    assert reply.velocity_ned[2] < -0.5
    assert bridged.truth.pose.position.z < -0.5
    # All rotors turn at the same speed: the vehicle climbs vertically.
    assert reply.position_ned[:2] == pytest.approx((0.0, 0.0), abs=0.05)


def test_repeated_frame_gets_same_reply_and_no_step(bridged: Any, client: ArduPilotClient) -> None:
    client.count += 1
    client.send(1300)
    answer = client.answer()
    # The reply may arrive before the tester has received the truth state.
    bridged.idle(0.1)
    time_s = bridged.time_s
    for _ in range(3):
        # A frame repeated sooner may have crossed the reply.
        bridged.idle(0.5)
        client.send(1300)
        assert client.answer() == answer
    bridged.idle(0.1)
    assert bridged.time_s == time_s
    assert client.received() is None
    assert bridged.node("bridge").front_ends["ardupilot"].counters["duplicates"] == 3


def test_frame_count_gap_is_one_step_and_is_counted(bridged: Any, client: ArduPilotClient) -> None:
    before = client.step().timestamp
    client.count += 4
    assert client.step().timestamp == pytest.approx(before + STEP_S, abs=1e-9)
    assert bridged.node("bridge").front_ends["ardupilot"].counters["lost_frames"] == 4


def test_flight_continues_despite_garbage(bridged: Any, client: ArduPilotClient) -> None:
    for step in range(50):
        for datagram in (b"", b"\0" * 40, b"nonsense", bytes([0x1A, 0x48]) + b"\xff" * 37):
            client.send_bytes(datagram)
        assert client.step().timestamp == round((step + 2) * STEP_S, 9)
    counters = bridged.node("bridge").front_ends["ardupilot"].counters
    assert (counters["wrong_length"], counters["wrong_magic"]) == (100, 100)


def test_second_client_is_rejected_without_disturbance(
    bridged: Any, client: ArduPilotClient, new_client: Callable[[], ArduPilotClient]
) -> None:
    second = new_client()
    for step in range(50):
        second.count += 1
        second.send(2000)
        assert client.step().timestamp == round((step + 2) * STEP_S, 9)
    bridged.idle(0.1)
    assert second.received() is None
    assert bridged.node("bridge").front_ends["ardupilot"].counters["refused_frames"] == 50


def test_graph_pauses_for_silent_client_and_resumes_with_it(bridged: Any, client: ArduPilotClient) -> None:
    waiting: list[String] = bridged.collect_messages(WAITING_FOR, qos=LATCHED)
    bridged.spin_until(lambda: waiting, "the latched text")
    assert [message.data for message in waiting] == [""]
    pwm: list[PwmOutput] = bridged.collect_messages(PWM_OUTPUT)
    time_s = client.step().timestamp
    # Long enough for the time manager to repeat the time ten times.
    bridged.idle(2.6)
    assert bridged.time_s == time_s
    assert waiting and waiting[-1].data.startswith("ArduPilot on UDP 127.0.0.1:")
    assert {seconds(m.header.stamp) for m in pwm} <= {time_s - STEP_S}
    for i in range(20):
        assert client.step(1400).timestamp == pytest.approx(time_s + (i + 1) * STEP_S, abs=1e-9)
    bridged.spin_until(lambda: waiting[-1].data == "", "an empty waiting_for")
    assert bridged.node("bridge").front_ends["ardupilot"].counters == {"steps": 22}


def test_restarted_bridge_continues_from_current_time(
    bridged: Any, client: ArduPilotClient, new_client: Callable[[], ArduPilotClient]
) -> None:
    time_s = client.step().timestamp
    bridged.remove(bridged.node("bridge"))
    bridged.executor.add_node(bridged.add("bridge", namespace=""))
    assert client.step().timestamp == pytest.approx(time_s + STEP_S, abs=1e-9)
    assert client.step().timestamp == pytest.approx(time_s + 2 * STEP_S, abs=1e-9)


def test_removed_bridge_releases_port_and_thread(bridged: Any, client: ArduPilotClient, port: int) -> None:
    bridged.remove(bridged.node("bridge"))
    assert not any(thread.name == "socket_watch" for thread in threading.enumerate())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", port))


@pytest.mark.parametrize("time_mode", ["wall", "paced"])
def test_bridge_rejects_time_modes_other_than_lockstep(command_line: Callable[..., Any], time_mode: str) -> None:
    options = ("--flight-controller", "ardupilot", "--time-mode", time_mode)
    ended = command_line("-m", "rosflight_py_sim", "sim", *options)
    assert ended.returncode == 1
    assert (
        ended.stderr
        == f"rosflight_py_sim: parameter 'time_mode': '{time_mode}' given; allowed: text, one of lockstep\n"
    )


def test_command_waits_for_ardupilot_and_exits_on_ctrl_c(ros_domain: int, port: int, tmp_path: Path) -> None:
    project = Path(__file__).parents[2]
    options = ["sim", "--flight-controller", "ardupilot", "--ros-args", "-p", f"ardupilot.port:={port}"]
    log = tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": str(project)}
    process = ForkedPython(["-m", "rosflight_py_sim", *options], env=environment, cwd=project, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 30.0
        while "waiting for ArduPilot" not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30.0) == 130
    finally:
        process.kill()
        process.wait()
    assert log.read_text().count("waiting for ArduPilot") == 1
    assert "in another terminal: sim_vehicle.py -v ArduCopter -f X --model JSON:127.0.0.1" in log.read_text()
    assert "Traceback" not in log.read_text()
