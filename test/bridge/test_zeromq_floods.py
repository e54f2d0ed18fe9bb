"""Clients of the AUV front-end that send or connect as much as they can: memory stays bounded and steps go on."""

from __future__ import annotations

import contextlib
import random
import resource
import select
import socket
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from zeromq_flood import MOST_MIB, attack

from rosflight_py_sim.bridge.stream_server import MOST_CONNECTIONS
from rosflight_py_sim.protocols.zmtp import GREETING, Frame, encode_frame, ready


def resident_mib() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def raw(bench: Any, port: str) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", bench.port(port)))
    made.settimeout(0.01)
    return made


def assert_serves(bench: Any) -> None:
    """A new client of each port is served."""
    counted = bench.front_end.counters["commands"]
    bench.pusher().send(struct.pack("<Bbbbb", 0, 10, 20, 30, 40))
    bench.step_until(lambda: bench.front_end.counters["commands"] > counted)
    assert bench.receive(bench.subscriber("telemetry"))[0] == b"\0"
    bench.subscriber("image")
    bench.step_until(lambda: bench.front_end.needs_images(0))


@pytest.mark.parametrize("port", ["telemetry", "image"])
def test_long_topics_cost_no_memory_and_leave_no_work_when_their_client_ends(auv_bench: Any, port: str) -> None:
    auv_bench.step()
    before = resident_mib()
    with attack("subscriptions", auv_bench.port(port)) as attacker:
        assert attacker.stdout is not None
        auv_bench.images = {"front": b"front", "bottom": b"bottom"}
        # The client receives something only after its last subscription has been read.
        auv_bench.step_until(lambda: auv_bench.front_end.needs_images(0) or port == "telemetry")
        numbers = iter(range(10**9))

        def is_received() -> bool:
            auv_bench.images = {"front": b"%d" % next(numbers), "bottom": b"%d" % next(numbers)}
            return has_line(attacker)

        auv_bench.step_until(is_received)
        assert resident_mib() - before < MOST_MIB
        attacker.kill()
        assert_serves(auv_bench)
    assert resident_mib() - before < MOST_MIB


def has_line(process: subprocess.Popen[str]) -> bool:
    return bool(select.select([process.stdout], [], [], 0.0)[0])


def test_flood_of_connections_with_random_bytes_blocks_no_client(auv_bench: Any) -> None:
    before = resident_mib()
    ports = [auv_bench.port(name) for name in ("image", "thruster", "telemetry")]
    with attack("connections", *ports) as attacker:
        auv_bench.step_until(lambda: auv_bench.front_end.counters["refused_connections"] > 3000)
        assert attacker.poll() is None
        assert_serves(auv_bench)
    assert resident_mib() - before < MOST_MIB
    assert all("not ZeroMQ: first byte" in line for line in auv_bench.log.warnings)


@pytest.mark.parametrize("port", ["image", "thruster", "telemetry"])
def test_silent_connections_give_way_to_new_clients(auv_bench: Any, port: str) -> None:
    with contextlib.ExitStack() as closing:
        for number in range(2 * MOST_CONNECTIONS):
            closing.enter_context(raw(auv_bench, port)).sendall(GREETING[: number % 65])
            auv_bench.step()
        assert auv_bench.front_end.counters["refused_connections"] == MOST_CONNECTIONS
        assert_serves(auv_bench)


def test_clients_beyond_the_limit_are_refused_until_one_ends(auv_bench: Any) -> None:
    counters = auv_bench.front_end.counters
    with contextlib.ExitStack() as closing:
        for _ in range(MOST_CONNECTIONS):
            one = closing.enter_context(raw(auv_bench, "telemetry"))
            one.sendall(GREETING + ready("SUB") + encode_frame(Frame(b"\1\0")))
            received = bytearray()
            # Greeting, READY and a telemetry message.
            auv_bench.step_until(lambda received=received, one=one: len(read_into(received, one)) > 64 + 27)
        late = closing.enter_context(raw(auv_bench, "telemetry"))
        auv_bench.step_until_counted("refused_connections", 1)
        answer = bytearray()
        auv_bench.step_until(lambda: b"64 other connections are open; close one of them" in read_into(answer, late))
        one.close()
    assert_serves(auv_bench)
    assert counters["refused_connections"] == 1


def read_into(received: bytearray, one: socket.socket) -> bytearray:
    with contextlib.suppress(TimeoutError):
        received += one.recv(4096)
    return received


def test_socket_of_another_type_is_refused_with_the_reason(auv_bench: Any) -> None:
    with raw(auv_bench, "telemetry") as wrong:
        wrong.sendall(GREETING + ready("PUSH"))
        answer = bytearray()
        auv_bench.step_until(lambda: b"ERROR" in read_into(answer, wrong))
    assert b"socket type PUSH; allowed: SUB or XSUB" in answer
    (warning,) = auv_bench.log.warnings
    assert f"port {auv_bench.port('telemetry')} closed: socket type PUSH" in warning


def test_heartbeat_is_answered(auv_bench: Any) -> None:
    with raw(auv_bench, "thruster") as client:
        client.sendall(GREETING + ready("PUSH") + encode_frame(Frame(b"\4PING\0\x0aabc", is_command=True)))
        answer = bytearray()
        auv_bench.step_until(lambda: read_into(answer, client).endswith(b"\4PONGabc"))


def test_large_image_arrives_whole_though_it_exceeds_all_buffers(new_auv_bench: Callable[..., Any]) -> None:
    # While the simulation waits for a client, too: the front-end's descriptors signal when there is room again.
    bench = new_auv_bench(wait_for_clients=True)
    subscriber, pusher = bench.subscriber("image"), bench.pusher()
    jpeg = random.Random(4).randbytes(3_000_000)
    bench.step_until(lambda: bench.front_end.needs_images(0) or pusher.send(bytes(5)))
    bench.images = {"front": jpeg, "bottom": jpeg[::-1]}
    bench.step_until(lambda: bench.front_end.counters["image_messages"] or pusher.send(bytes(5)))
    while not subscriber.poll(1):
        if is_readable(bench):
            bench.step()
    assert subscriber.recv_multipart() == [b"\0", jpeg, jpeg[::-1]]


def is_readable(bench: Any) -> bool:
    poll = select.poll()
    for fileno in bench.front_end.filenos():
        poll.register(fileno, select.POLLIN)
    return bool(poll.poll(0))
