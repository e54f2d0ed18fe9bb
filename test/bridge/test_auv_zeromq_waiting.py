"""The AUV front-end when the simulation waits for clients."""

from __future__ import annotations

import select
import struct
from collections.abc import Callable
from typing import Any

import zmq

# System time, ms, after which missing input fails the test.
TIMEOUT_MS = 30_000


def command(power: int, auv_id: int = 0) -> bytes:
    return struct.pack("<Bbbbb", auv_id, power, 0, 0, 0)


def wait_readable(bench: Any) -> None:
    poll = select.poll()
    for fileno in bench.front_end.filenos():
        poll.register(fileno, select.POLLIN)
    assert poll.poll(TIMEOUT_MS)


def answered(bench: Any) -> list[list[int]]:
    """Outputs once they are available; wait for input on the file descriptors between attempts."""
    outputs = bench.repeat_step()
    while None in outputs:
        wait_readable(bench)
        outputs = bench.repeat_step()
    return outputs


def test_simulation_pauses_after_each_telemetry_until_thruster_message(
    new_auv_bench: Callable[..., Any],
) -> None:
    bench = new_auv_bench(wait_for_clients=True)
    pusher = bench.pusher()
    for power in range(1, 60):
        # 400 steps and 60 messages a second: six or seven steps, and the last one waits again.
        for _ in range(10):
            if bench.step() == [None]:
                break
        assert bench.repeat_step() == bench.repeat_step() == [None]
        assert bench.front_end.counters["telemetry_messages"] == power
        pusher.send(command(power))
        assert answered(bench)[0][0] == 1500 + 5 * power


def test_only_valid_command_resumes_the_simulation(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(wait_for_clients=True)
    pusher = bench.pusher()
    assert bench.step() == [None]
    for bad in (b"", b"12345678", command(1, auv_id=9)):
        pusher.send(bad)
    wait_readable(bench)
    counters = bench.front_end.counters
    while counters["wrong_length"] < 2 or counters["unknown_id"] < 1:
        assert bench.repeat_step() == [None]
    assert bench.repeat_step() == [None]
    # "Leave all thrusters unchanged" is a command, too.
    pusher.send(struct.pack("<Bbbbb", 0, -127, -127, -127, -127))
    assert answered(bench) == [[1500] * 14]


def test_simulation_waits_for_every_auv(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(2, wait_for_clients=True)
    pusher = bench.pusher()
    assert bench.step() == [None, None]
    pusher.send(command(10, auv_id=1))
    while bench.front_end.counters["commands"] < 1:
        wait_readable(bench)
        bench.repeat_step()
    outputs = bench.repeat_step()
    assert outputs[0] is None
    assert outputs[1][0] == 1550
    pusher.send(command(20, auv_id=0))
    assert answered(bench)[0][0] == 1600


def test_telemetry_is_sent_once_per_wait(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(wait_for_clients=True)
    subscriber, pusher = bench.subscriber("telemetry"), bench.pusher()
    assert bench.step() == [None]
    # A subscription takes effect after a delay.
    while not subscriber.poll(20):
        pusher.send(command(0))
        answered(bench)
        while bench.step() != [None]:
            pass
    while subscriber.poll(200):
        subscriber.recv_multipart(zmq.NOBLOCK)
    for _ in range(100):
        assert bench.repeat_step() == [None]
    assert not subscriber.poll(200)
