"""Failures of the links to uThere's programs and AUV clients, on real sockets."""

from __future__ import annotations

import contextlib
import runpy
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.auv_zeromq_front_end import AuvZeromqFrontEnd
from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.failures.failure import LINKS
from rosflight_py_sim.failures.schedule import FailureSchedule, Signals
from test.bridge.uthere_bench import Program, UthereBench

FLY = "fly(plane={},roll=-15,pitch=2,throttle=65)"


def signals(*texts: str, seed: int = 0) -> Signals:
    schedule = FailureSchedule(texts, LINKS, seed)
    schedule.switch(0)
    return schedule.signals()


@pytest.fixture
def make_bench() -> Iterator[Callable[..., UthereBench]]:
    with contextlib.ExitStack() as closing:
        yield lambda **settings: UthereBench(closing, **settings)


class Flown:
    """A plane that a program flies by fly() at 5 Hz, with data of one variable at 10 Hz."""

    def __init__(self, bench: UthereBench, program: Program) -> None:
        self.bench, self.program = bench, program
        self.number = bench.front_end.planes[0].number
        self.pilot = bench.front_end.planes[0].pilot
        bench.step()
        program.send(f"data_request(plane={self.number},variable=altitude,interval=0.1)")
        program.send(f"fly_engage(plane={self.number})")
        bench.read(2)
        self.stream(1.0)
        assert self.pilot.enabled
        program.packets()

    def stream(self, seconds: float, line: str = FLY) -> None:
        for _ in range(round(seconds / 0.2)):
            self.program.send(line.format(self.number))
            self.bench.step(20)

    @property
    def counters(self) -> Counter[str]:
        return Counter(self.bench.front_end.counters)


def raw(program: Program) -> list[bytes]:
    """Received packets, which need not be text."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(program.listener.recv(1 << 16))
    return found


@pytest.fixture
def flown(make_bench: Callable[..., UthereBench]) -> Flown:
    bench = make_bench(lost_comm_timeout=5.0)
    return Flown(bench, bench.program())


def test_lost_link_ends_flight_by_packets_and_then_counts_as_lost_comm(flown: Flown) -> None:
    flown.bench.front_end.fail(0, signals("link lost"))
    flown.stream(1.6)
    assert flown.pilot.enabled
    flown.stream(0.8)
    # ap_target_from_packet_timeout is 2 s.
    assert not flown.pilot.enabled
    assert flown.pilot.triggered_last & 1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE
    assert not flown.pilot.cage_triggered & 1 << CageBit.PACKET_TIMEOUT_LOST_COMM
    flown.stream(3.2)
    assert flown.pilot.cage_triggered & 1 << CageBit.PACKET_TIMEOUT_LOST_COMM
    assert raw(flown.program) == []
    flown.bench.front_end.fail(0, {})
    flown.program.send("request_plane_list")
    flown.bench.step(2)
    assert not flown.pilot.cage_triggered & 1 << CageBit.PACKET_TIMEOUT_LOST_COMM
    assert f"plane_list({flown.number})".encode() in raw(flown.program)


def test_plane_flies_on_without_the_direction_to_the_program(flown: Flown) -> None:
    flown.bench.front_end.fail(0, signals("downlink lost"))
    flown.stream(3.0)
    assert flown.pilot.enabled
    assert raw(flown.program) == []


def test_data_arrive_without_the_direction_to_the_plane(flown: Flown) -> None:
    flown.bench.front_end.fail(0, signals("uplink lost"))
    flown.stream(3.0)
    assert not flown.pilot.enabled
    assert len(raw(flown.program)) == 30


def test_late_link_delays_commands_and_data_in_simulated_time(flown: Flown) -> None:
    bench, program = flown.bench, flown.program
    bench.front_end.fail(0, signals("link late 0.5"))
    bench.step()
    begin_ns = bench.time_ns
    program.packets()
    program.send("request_plane_list")
    replies: dict[str, int] = {}
    for _ in range(150):
        bench.step()
        for packet in program.packets():
            replies.setdefault(packet.partition("(")[0], bench.time_ns - begin_ns)
    # The request and its reply are delayed by half a second each; the bench's time is that of the next period.
    assert replies["plane_list"] == pytest.approx(1_010_000_000, abs=10_000_000)
    assert 500_000_000 < replies["data"] <= 610_000_000


def test_damaged_commands_are_refused_and_damaged_data_are_no_text(flown: Flown) -> None:
    before = flown.counters
    flown.bench.front_end.fail(0, signals("link damaged 1"))
    flown.stream(2.4)
    after = flown.counters
    assert after["packets"] - before["packets"] == 12
    assert after["bad_commands"] - before["bad_commands"] == 12
    assert after["commands"] == before["commands"]
    assert not flown.pilot.enabled
    packets = raw(flown.program)
    assert len(packets) >= 24 and not [one for one in packets if one.isascii()]


def test_example_program_drops_damaged_packets(flown: Flown) -> None:
    example = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "examples" / "uthere_client.py"))
    bench = flown.bench
    # The example binds the same port.
    flown.program.close()
    bench.front_end.fail(0, signals("downlink damaged 0.8"))
    found: list[list[int]] = []
    client = example["GroundControl"]("127.0.0.1", bench.port_in, bench.port_out)
    asking = threading.Thread(target=lambda: found.append(client.planes()))
    asking.start()
    bench.serve_until(lambda: not asking.is_alive())
    client.close()
    assert found == [[flown.number]]
    assert bench.front_end.counters["replies"] > 1


def test_same_seed_damages_the_same_packets(make_bench: Callable[..., UthereBench]) -> None:
    def run(seed: int) -> tuple[list[bytes], Counter[str]]:
        bench = make_bench()
        flown = Flown(bench, bench.program())
        bench.front_end.fail(0, signals("link damaged 0.3", seed=seed))
        flown.stream(3.0)
        return raw(flown.program), flown.counters

    assert run(1) == run(1) != run(2)


def test_link_of_all_planes_fails_with_that_of_one(make_bench: Callable[..., UthereBench]) -> None:
    bench = make_bench(vehicles=2)
    program = bench.program()
    bench.front_end.fail(1, signals("link lost"))
    program.send("request_plane_list")
    bench.step(10)
    assert program.packets() == []


def test_connections_by_tcp_fail_as_well(make_bench: Callable[..., UthereBench]) -> None:
    bench = make_bench()
    with socket.create_connection(("127.0.0.1", bench.port_in)) as one:
        one.sendall(b"request_plane_list\n")
        bench.serve_until(lambda: bench.front_end.counters["replies"] == 1)
        assert one.recv(100).startswith(b"plane_list(")
        bench.front_end.fail(0, signals("link damaged 1"))
        one.sendall(b"request_plane_list\n")
        bench.serve_until(lambda: bench.front_end.counters["bad_commands"] == 1)
        assert not one.recv(1000).isascii()
        bench.front_end.fail(0, signals("link late 0.1"))
        one.sendall(b"request_plane_list\n")
    # The program has gone before its request arrives.
    bench.serve_until(lambda: bench.front_end.details(0)["tcp_connections"] == 0)
    bench.step(50)
    assert bench.front_end.counters["replies"] == 2
    assert bench.front_end.counters["unsent"] == 0


# AUV clients.


def thrusters(*powers: int, auv_id: int = 0) -> bytes:
    return struct.pack("<Bbbbb", auv_id, *powers)


def held_by(outputs: list[list[int]]) -> list[list[int]]:
    return [one[:4] for one in outputs]


def test_thrusters_keep_their_power_while_the_link_is_lost(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(2)
    pusher, telemetry = bench.pusher(), [bench.subscriber("telemetry", k) for k in range(2)]
    for k in range(2):
        pusher.send(thrusters(10, 20, 30, 40, auv_id=k))
        bench.receive(telemetry[k])
    bench.step_until(lambda: bench.front_end.counters["commands"] == 2)
    bench.front_end.fail(0, signals("link lost"))
    while telemetry[0].poll(100):
        telemetry[0].recv_multipart()
    for k in range(2):
        pusher.send(thrusters(0, 0, 0, 0, auv_id=k))
    outputs = bench.step_until(lambda: bench.front_end.counters["commands"] == 3)
    # Only the link of the first AUV is lost.
    assert held_by(outputs) == [[1550, 1600, 1650, 1700], [1500] * 4]
    bench.receive(telemetry[1])
    assert not telemetry[0].poll(100)
    bench.front_end.fail(0, {})
    assert bench.receive(telemetry[0])[0] == b"\0"
    pusher.send(thrusters(0, 0, 0, 0))
    assert held_by(bench.step_until(lambda: bench.front_end.counters["commands"] == 4))[0] == [1500] * 4


def test_late_commands_and_telemetry_arrive_in_simulated_time(auv_bench: Any) -> None:
    bench = auv_bench
    telemetry = bench.subscriber("telemetry")
    bench.receive(telemetry)
    bench.front_end.fail(0, signals("link late 0.25"))
    while telemetry.poll(100):
        telemetry.recv_multipart()
    bench.truth[1] = 7.0
    counters, steps = bench.front_end.counters, 0
    sent = counters["telemetry_messages"]
    while counters["telemetry_messages"] == sent:
        bench.step()
        steps += 1
    # 100 steps of 2.5 ms, after up to seven to the next telemetry of 60 Hz.
    assert 100 <= steps <= 108
    assert struct.unpack("<6f", telemetry.recv_multipart()[1])[0] == 7.0
    pusher = bench.pusher()
    pusher.send(thrusters(10, 20, 30, 40))
    bench.step_until(lambda: counters["commands"] == 1)
    assert held_by(bench.step())[0] == [1550, 1600, 1650, 1700]


def test_damaged_frames_differ_in_one_byte_and_keep_their_topic(auv_bench: Any) -> None:
    bench = auv_bench
    bench.front_end.fail(0, signals("link damaged 1"))
    telemetry, pusher = bench.subscriber("telemetry"), bench.pusher()
    bench.truth[:3] = 1.0, 2.0, 3.0
    auv_id, data = bench.receive(telemetry)
    sound = struct.pack("<6f", 2.0, 1.0, -3.0, 0.0, 0.0, 0.0)
    assert auv_id == b"\0" and len(data) == 24
    assert sum(a != b for a, b in zip(data, sound, strict=True)) == 1
    for _ in range(40):
        pusher.send(thrusters(10, 20, 30, 40))
    counters = bench.front_end.counters
    outputs = bench.step_until(lambda: counters["commands"] + counters["unknown_id"] == 40)
    # A fifth of the damaged bytes are ids.
    assert 0 < counters["unknown_id"] < 40
    assert held_by(outputs)[0] != [1550, 1600, 1650, 1700]


def test_images_are_damaged_in_one_of_them(auv_bench: Any) -> None:
    bench = auv_bench
    images = bench.subscriber("image")
    bench.step_until(lambda: bench.front_end.needs_images(0))
    bench.front_end.fail(0, signals("downlink damaged 1"))
    bench.images = {"front": bytes(300), "bottom": bytes(200)}
    auv_id, front, bottom = bench.receive(images)
    assert (auv_id, len(front), len(bottom)) == (b"\0", 300, 200)
    assert sum(map(bool, front + bottom)) == 1


def test_link_that_moves_simulated_time_cannot_fail() -> None:
    assert UthereFrontEnd.link_obstacle({}) == ""
    assert "simulated time" in ArduPilotFrontEnd.link_obstacle({})
    assert AuvZeromqFrontEnd.link_obstacle({"auv_zeromq.wait_for_clients": False}) == ""
    assert "auv_zeromq.wait_for_clients" in AuvZeromqFrontEnd.link_obstacle({"auv_zeromq.wait_for_clients": True})
