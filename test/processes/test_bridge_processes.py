"""ArduPilot flies a graph of processes: steps at its rate, a restarted bridge, a restart in the air."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from free_ports import free_ports

from rosflight_py_sim.protocols.ardupilot_json import Reply, ServoFrame, decode_reply, encode_frame
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import (
    IMU,
    PWM_OUTPUT,
    SIM_STEP_SIZE,
    SIM_STEP_SIZE_REQUEST,
    TRUTH_STATE,
    TRUTH_WIND,
    StepSize,
)
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(300)

MULTIROTOR = vehicle("multirotor")
NODES = ("standalone_dynamics", "multirotor_forces_and_moments", "standalone_sensors", "rc", "bridge")

RATE_HZ = 500
STEP_S = 1.0 / RATE_HZ
TIMEOUT_S = 90.0
REPEATED_AFTER_S = 1.1
SILENCE_S = 1.2


class Client:
    """ArduPilot's side of the socket; it resends unanswered frames."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(REPEATED_AFTER_S)
        self._to = ("127.0.0.1", port)
        self.count = 0
        self._last = b""

    def send(self, us: int, rate_hz: int = RATE_HZ) -> None:
        """Send the frame with the current count."""
        self._socket.sendto(encode_frame(ServoFrame(rate_hz, self.count, (us,) * 16)), self._to)

    def step(self, us: int, rate_hz: int = RATE_HZ) -> Reply:
        end_s = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end_s:
            self.send(us, rate_hz)
            try:
                # A frame that was repeated on a busy machine is answered twice.
                while (answer := self._socket.recv(4096)) == self._last:
                    pass
            except (TimeoutError, ConnectionRefusedError):
                continue
            self.count += 1
            self._last = answer
            return decode_reply(answer)
        pytest.fail(f"no answer to frame {self.count}")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def port() -> int:
    """An unused UDP port."""
    return free_ports()[0]


@pytest.fixture
def new_client(port: int) -> Iterator[Callable[[], Client]]:
    """A function that makes a client."""
    made: list[Client] = []

    def new() -> Client:
        made.append(Client(port))
        return made[-1]

    yield new
    for client in made:
        client.close()


def test_multi_process_flight_survives_restart_of_bridge_and_ardupilot(
    processes: Any, port: int, new_client: Callable[[], Client]
) -> None:
    parameters = ["--params-file", str(MULTIROTOR.parameter_file), "-p", "use_sim_time:=true"]
    parameters += ["-p", "time_mode:=lockstep", "-p", "real_time_multiplier:=0.0", "-p", "device:=none"]
    parameters += ["-p", f"ardupilot.port:={port}", "-p", f"ardupilot.silence:={SILENCE_S}"]
    for executable in (*NODES, "lockstep_time_manager"):
        processes.node(executable, *parameters)

    client = new_client()
    start = client.step(1000)
    assert start.timestamp == STEP_S
    for step in range(2, 252):
        reply = client.step(1700)
        assert reply.timestamp == pytest.approx(step * STEP_S, abs=1e-9)

    processes.programs["bridge"].signal(signal.SIGTERM)
    assert processes.programs["bridge"].wait() == 0
    processes.node("bridge", *parameters)
    for step in range(252, 502):
        reply = client.step(1700)
        assert reply.timestamp == pytest.approx(step * STEP_S, abs=1e-9)
    assert reply.position_ned[2] < start.position_ned[2] - 0.5

    successor = new_client()
    after = successor.step(0)
    assert after.timestamp == pytest.approx(reply.timestamp + STEP_S, abs=1e-9)
    assert after.position_ned == pytest.approx(start.position_ned, abs=1e-4)
    assert after.velocity_ned == pytest.approx((0.0, 0.0, 0.0), abs=1e-2)
    assert [one.error_lines for one in processes.all] == [[] for _ in processes.all]


def test_each_step_of_processes_has_the_requested_length_beside_another_vehicle(
    processes: Any, port: int, new_client: Callable[[], Client]
) -> None:
    parameters = ["--params-file", str(MULTIROTOR.parameter_file), "-p", "use_sim_time:=true"]
    parameters += ["-p", "time_mode:=lockstep", "-p", "device:=none", "-p", f"ardupilot.port:={port}"]
    for name, controller in (("flown", "rc"), ("other", "sil_board")):
        for executable in (*NODES[:3], controller):
            processes.node(executable, *parameters, "-r", f"__ns:=/{name}")
    shared = [*parameters, "-p", "vehicles:=[flown, other]"]
    processes.node("bridge", *shared, "-p", "commanders:=[ardupilot, none]")
    pace = ["-p", "real_time_multiplier:=0.0", "-p", "step_size_requests:=[flown]"]
    processes.node("lockstep_time_manager", *shared, *pace)

    # The other vehicle could take the step long before the frame arrives.
    client, time_s = new_client(), 0.0
    for step in range(120):
        rate_hz = 1200 - step if step < 60 else 1080 + step
        if step % 10 == 0:
            time.sleep(0.02)
        reply = client.step(1000, rate_hz)
        assert reply.timestamp - time_s == pytest.approx(1.0 / rate_hz, abs=1.1e-9), f"step {step}"
        time_s = reply.timestamp


def test_step_size_from_before_the_request_is_no_reply_to_it(
    processes: Any, port: int, new_client: Callable[[], Client]
) -> None:
    # The test takes the place of all other nodes, and of the time manager.
    observer = processes.observer()
    send = {
        topic: observer.node.create_publisher(topic.message_type, topic.name, topic.qos).publish
        for topic in (TRUTH_WIND, TRUTH_STATE, IMU)
    }
    node, message_type = observer.node, SIM_STEP_SIZE.message_type
    send_step_size = node.create_publisher(message_type, SIM_STEP_SIZE.name, LATCHED).publish
    requests: list[bytes] = []
    outputs: list[bytes] = []
    node.create_subscription(message_type, SIM_STEP_SIZE_REQUEST.name, requests.append, LATCHED, raw=True)
    observer.node.create_subscription(PWM_OUTPUT.message_type, PWM_OUTPUT.name, outputs.append, CHAIN, raw=True)
    processes.node(
        "bridge",
        "--params-file",
        str(MULTIROTOR.parameter_file),
        "-p",
        "time_mode:=lockstep",
        "-p",
        f"ardupilot.port:={port}",
    )
    for topic in (TRUTH_WIND, TRUTH_STATE, IMU):
        send[topic](topic.message_type())
    client = new_client()

    def is_requested() -> bool:
        client.send(1000, 200)
        return bool(requests)

    observer.wait_for(is_requested, "the request", every_s=0.1)
    assert SIM_STEP_SIZE_REQUEST.decode(requests[-1]) == StepSize(0, 5_000_000, is_requested=True)
    send_step_size(SIM_STEP_SIZE.encode(StepSize(0, 2_500_000, is_requested=False)))
    observer.spin(0.3)
    assert not outputs
    send_step_size(SIM_STEP_SIZE.encode(StepSize(0, 5_000_000, is_requested=True)))
    observer.wait_for(lambda: bool(outputs), "the step")
