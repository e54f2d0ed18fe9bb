"""The simulation as a server of AUV clients that connect before it starts, outlive it, or never read."""

from __future__ import annotations

import contextlib
import math
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from diagnostic_msgs.msg import DiagnosticArray
from free_ports import free_ports
from zeromq_flood import MOST_MIB, attack

from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC

TIMEOUT_S = 40.0
STEP_S = 0.02


@pytest.fixture
def ports() -> dict[str, int]:
    """Ports of images, thrusters and telemetry."""
    return dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))


@pytest.fixture
def connect(ports: dict[str, int]) -> Iterator[Callable[..., Any]]:
    """A function (kind, port, **socket options) that makes a client socket."""
    with zmq.Context() as context, contextlib.ExitStack() as closing:

        def make(kind: int, port: str, **options: int) -> Any:
            made = closing.enter_context(context.socket(kind))
            made.linger = 0
            for name, value in options.items():
                setattr(made, name, value)
            if kind == zmq.SUB:
                made.subscribe(b"\0")
            made.connect(f"tcp://127.0.0.1:{ports[port]}")
            return made

        yield make


def arguments(ports: dict[str, int]) -> list[str]:
    return [word for name, port in ports.items() for word in ("-p", f"auv_zeromq.{name}_port:={port}")]


def telemetry(subscriber: Any) -> tuple[float, ...]:
    """The next telemetry: x, y, z, yaw, pitch, roll."""
    assert subscriber.poll(1000 * TIMEOUT_S), "no telemetry"
    _, data = subscriber.recv_multipart()
    return struct.unpack("<6f", data)


def test_client_with_open_sockets_reconnects_to_restarted_server(
    processes: Any, ports: dict[str, int], connect: Callable[..., Any]
) -> None:
    subscriber, pusher = connect(zmq.SUB, "telemetry"), connect(zmq.PUSH, "thruster")
    for _ in range(2):
        server = processes.run(
            "commands.cli", "sim", "--vehicle", "auv", "--no-camera", "--ros-args", *arguments(ports)
        )
        before = telemetry(subscriber)
        end = time.monotonic() + TIMEOUT_S
        yaw = before[3]
        # One command per telemetry message: a command sent before the server is ready may arrive late or be lost.
        while math.remainder(yaw - before[3], 360.0) < 10.0:
            pusher.send(struct.pack("Bbbbb", 0, 100, -100, 0, 0))
            yaw = telemetry(subscriber)[3]
            assert time.monotonic() < end, "no turn to the right"
        server.signal(signal.SIGTERM)
        assert server.wait() == 130, server.stderr
        while subscriber.poll(100):
            subscriber.recv_multipart()


def test_stalled_client_costs_no_memory_in_five_minutes(
    processes: Any, ports: dict[str, int], connect: Callable[..., Any]
) -> None:
    # The test reads the time from the reports, which are fewer than the truth states.
    observer = processes.observer(truth="none")
    times_s: list[float] = []
    observer.node.create_subscription(
        DiagnosticArray, DIAGNOSTICS_TOPIC, lambda m: times_s.append(time_ns_of(m.header.stamp) / NANOSECONDS), 10
    )
    pace = ["-p", "real_time_multiplier:=0.0", "-p", f"step_size:={STEP_S}"]
    server = processes.run(
        "commands.cli", "sim", "--vehicle", "auv", "--no-camera", "--ros-args", *arguments(ports), *pace
    )

    # Small, so that messages wait at the server rather than here or in the operating system.
    slow = connect(zmq.SUB, "telemetry", rcvhwm=1, rcvbuf=4096)
    telemetry(slow)
    observer.wait_for(lambda: bool(times_s) and times_s[-1] > 20.0, "the first messages")
    before, begin_s = resident_mib(server), times_s[-1]
    observer.wait_for(lambda: times_s[-1] >= begin_s + 300.0, "five minutes more")
    # Without a limit, queued telemetry takes 1.6 MiB.
    assert resident_mib(server) - before < 1.0


def test_time_goes_on_under_subscriptions_to_long_topics_and_a_flood_of_connections(
    processes: Any, ports: dict[str, int], connect: Callable[..., Any]
) -> None:
    pace = ["-p", "real_time_multiplier:=0.0", "-p", f"step_size:={STEP_S}"]
    server = processes.run(
        "commands.cli", "sim", "--vehicle", "auv", "--no-camera", "--ros-args", *arguments(ports), *pace
    )
    client = connect(zmq.SUB, "telemetry")
    for _ in range(100):
        telemetry(client)
    before = resident_mib(server)
    with attack("subscriptions", ports["telemetry"]) as subscriber, attack("connections", *ports.values()) as flood:
        assert subscriber.stdout is not None
        assert subscriber.stdout.readline() == "received\n"
        for _ in range(100):
            telemetry(client)
        # The end of the client, with all its subscriptions.
        subscriber.kill()
        for _ in range(1000):
            telemetry(client)
        assert flood.poll() is None
        telemetry(connect(zmq.SUB, "telemetry"))
    assert resident_mib(server) - before < MOST_MIB


def resident_mib(server: Any) -> float:
    """Resident memory of a program."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize() / 2**20


@pytest.mark.parametrize("port", ["image", "thruster", "telemetry"])
def test_port_in_use_is_reported_and_node_exits_with_1(processes: Any, ports: dict[str, int], port: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports[port]))
        other.listen()
        program = processes.node(
            "bridge", "-p", "use_sim_time:=true", "-p", "front_ends:=[auv_zeromq]", *arguments(ports)
        )
        assert program.wait() == 1
    (line,) = program.error_lines
    assert (
        f"'auv_zeromq.{port}_port': 127.0.0.1:{ports[port]} given, which cannot be used: Address already in use" in line
    )
