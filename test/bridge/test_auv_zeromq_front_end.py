"""The AUV front-end on real sockets, fed with snapshots instead of a simulation."""

from __future__ import annotations

import contextlib
import random
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zmq

from rosflight_py_sim.ground.parameters import ParameterError

CENTRED = [1500] * 14


def command(left: int, right: int, side: int, vertical: int, *, auv_id: int = 0) -> bytes:
    """A thruster message as packed by clients."""
    return struct.pack("Bbbbb", auv_id, left, right, side, vertical)


@pytest.mark.parametrize(("waits", "text"), [(False, "does not wait for clients"), (True, "waits for a client")])
def test_announcement_shows_client_addresses_and_wait_mode(
    new_auv_bench: Callable[..., Any], waits: bool, text: str
) -> None:
    bench = new_auv_bench(vehicles=2, id=3, wait_for_clients=waits)
    line = bench.front_end.announcement()
    assert line.startswith(
        f"AUVs 3 to 4 on tcp://127.0.0.1: images on port {bench.port('image')}, thruster commands on"
    )
    assert f"port {bench.port('thruster')}, telemetry on port {bench.port('telemetry')}" in line
    assert text in line


def test_thrusters_are_stopped_before_first_command(auv_bench: Any) -> None:
    assert auv_bench.step() == [CENTRED]
    assert auv_bench.front_end.filenos() == []


def test_command_drives_thrusters_until_the_next_one(auv_bench: Any) -> None:
    pusher = auv_bench.pusher()
    pusher.send(command(75, -50, 1, 100))
    assert auv_bench.step_until_counted("commands", 1) == [[1875, 1250, 1505, 2000, *[1500] * 10]]
    for _ in range(1000):
        outputs = auv_bench.step()
    assert outputs == [[1875, 1250, 1505, 2000, *[1500] * 10]]
    pusher.send(command(0, 0, 0, 0))
    assert auv_bench.step_until_counted("commands", 2) == [CENTRED]


@pytest.mark.parametrize("kept", range(4))
def test_minus_127_keeps_current_thruster_power(auv_bench: Any, kept: int) -> None:
    pusher = auv_bench.pusher()
    pusher.send(command(10, 20, 30, 40))
    pusher.send(command(*(-127 if i == kept else -10 for i in range(4))))
    (outputs,) = auv_bench.step_until_counted("commands", 2)
    assert outputs[:4] == [(1550, 1600, 1650, 1700)[i] if i == kept else 1450 for i in range(4)]
    assert auv_bench.front_end.counters["out_of_range"] == 0


@pytest.mark.parametrize(("power", "us"), [(-128, 1000), (-126, 1000), (-101, 1000), (101, 2000), (127, 2000)])
def test_power_beyond_full_is_clamped_and_counted_once(auv_bench: Any, power: int, us: int) -> None:
    pusher = auv_bench.pusher()
    pusher.send(command(power, 0, 0, 0))
    pusher.send(command(-127, 0, 0, 0))
    (outputs,) = auv_bench.step_until_counted("commands", 2)
    assert outputs[:4] == [us, 1500, 1500, 1500]
    assert auv_bench.front_end.counters["out_of_range"] == 1
    assert auv_bench.log.warnings == [
        f"powers [{power}, 0, 0, 0] of AUV 0 are clamped; allowed: -100 to 100 (out_of_range: 1 so far)"
    ]


def test_full_power_is_in_range(auv_bench: Any) -> None:
    auv_bench.pusher().send(command(-100, 100, -100, 100))
    (outputs,) = auv_bench.step_until_counted("commands", 1)
    assert outputs[:4] == [1000, 2000, 1000, 2000]
    assert auv_bench.front_end.counters["out_of_range"] == 0


def test_commands_are_applied_in_sending_order(auv_bench: Any) -> None:
    pusher = auv_bench.pusher()
    for power in range(100):
        pusher.send(command(power, -127, -power, -127))
    (outputs,) = auv_bench.step_until_counted("commands", 100)
    assert outputs[:4] == [1995, 1500, 1005, 1500]


def test_each_auv_receives_only_commands_for_its_own_id(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(3, id=7)
    pusher = bench.pusher()
    for auv_id in (9, 7, 8, 6, 10):
        pusher.send(command(auv_id, 0, 0, 0, auv_id=auv_id))
    outputs = bench.step_until_counted("unknown_id", 2)
    assert [us[0] for us in outputs] == [1535, 1540, 1545]
    assert bench.log.warnings == [
        "ignored: thruster message for AUV 6; allowed: 7 to 9 (unknown_id: 1 so far)",
    ]


def test_id_range_must_cover_all_auvs(new_auv_bench: Callable[..., Any]) -> None:
    new_auv_bench(2, id=254)
    with pytest.raises(ParameterError, match=r"'auv_zeromq.id': 254 given, .*; allowed: at most 253 for 3"):
        new_auv_bench(3, id=254)


def test_side_thruster_pushes_left_when_configured(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(side_positive="left")
    bench.pusher().send(command(10, 20, 30, 40))
    assert bench.step_until_counted("commands", 1)[0][:4] == [1550, 1600, 1350, 1700]


def test_outputs_are_configurable_sums_of_powers(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(outputs=["right - side", "", "left + side"])
    bench.pusher().send(command(10, 20, 30, 40))
    assert bench.step_until_counted("commands", 1)[0][:4] == [1450, 1500, 1700, 1500]


BAD = {
    "wrong_length": [b"", b"\0", command(1, 1, 1, 1)[:4], command(1, 1, 1, 1) + b"\0", b"\0" * 70000],
    "unknown_id": [command(1, 1, 1, 1, auv_id=1), command(1, 1, 1, 1, auv_id=255)],
}


@pytest.mark.parametrize(("kind", "message"), [(kind, message) for kind, some in BAD.items() for message in some])
def test_invalid_message_is_counted_and_changes_nothing(auv_bench: Any, kind: str, message: bytes) -> None:
    pusher = auv_bench.pusher()
    pusher.send(command(10, 20, 30, 40))
    pusher.send(message)
    outputs = auv_bench.step_until_counted(kind, 1)
    assert outputs[0][:4] == [1550, 1600, 1650, 1700]
    pusher.send(command(0, 0, 0, 0))
    assert auv_bench.step_until_counted("commands", 2) == [CENTRED]
    (warning,) = auv_bench.log.warnings
    assert warning.startswith("ignored: thruster message ") and warning.endswith(f"({kind}: 1 so far)")


@pytest.mark.parametrize("parts", [2, 3, 1000])
def test_multipart_message_counts_as_one_invalid_message(auv_bench: Any, parts: int) -> None:
    pusher = auv_bench.pusher()
    pusher.send_multipart([command(99, 99, 99, 99)] * parts)
    pusher.send(command(10, 20, 30, 40))
    assert auv_bench.step_until_counted("commands", 1)[0][:4] == [1550, 1600, 1650, 1700]
    assert auv_bench.front_end.counters["multipart"] == 1


def test_message_part_over_128_kib_disconnects_only_its_sender(auv_bench: Any) -> None:
    huge, pusher = auv_bench.pusher(), auv_bench.pusher()
    huge.send(b"\0" * ((1 << 17) + 1))
    pusher.send(command(10, 20, 30, 40))
    auv_bench.step_until_counted("commands", 1)
    auv_bench.step_until_counted("refused_connections", 1)
    (warning,) = auv_bench.log.warnings
    assert warning.endswith("closed: frame of 131073 bytes; allowed: 131072 (refused_connections: 1 so far)")

    # The disconnected socket reconnects by itself; until then, it queues a limited number of messages.
    def is_reconnected() -> bool:
        if huge.poll(1, zmq.POLLOUT):
            huge.send(command(0, 0, 0, 0))
        return bool(auv_bench.front_end.counters["commands"] > 1)

    auv_bench.step_until(is_reconnected)


def test_flood_uses_a_tenth_of_the_time_and_latest_message_wins(
    auv_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = auv_bench.front_end.counters
    now_s = time.monotonic()
    monkeypatch.setattr("rosflight_py_sim.bridge.zeromq_sockets.time.monotonic", lambda: now_s)
    # The first step uses up the reading time accumulated since the socket was opened.
    auv_bench.step()
    pusher = auv_bench.pusher()
    for i in range(256):
        pusher.send(command(i % 100, -127, 0, 0))
    # With the clock stopped, there is no time to read more than the sixteen messages that any step may read. A step
    # may find fewer, because the messages arrive in another thread.
    full_steps = 0
    while full_steps < 3:
        before = counters["commands"]
        (outputs,) = auv_bench.step()
        taken = counters["commands"]
        assert taken - before <= 16
        assert not taken or outputs[0] == 1500 + 5 * ((taken - 1) % 100)
        full_steps += taken - before == 16
    now_s += 1.0
    # With time to spare, the front-end reads all messages.
    auv_bench.step_until_counted("commands", 256)


def test_last_message_within_a_step_sets_each_thruster_power(auv_bench: Any) -> None:
    pusher = auv_bench.pusher()
    for message in ((10, 20, 30, 40), (-127, 1, -127, -127), (50, -127, -127, -127), (-127,) * 4):
        pusher.send(command(*message))
    assert auv_bench.step_until_counted("commands", 4)[0][:4] == [1750, 1505, 1650, 1700]


def test_100_000_random_messages_change_only_permitted_state(auv_bench: Any) -> None:
    count, seeded = 100_000, random.Random(1)
    lengths = [*range(5), *[5] * 20, *range(6, 40), 300]
    messages = [seeded.randbytes(seeded.choice(lengths)) for _ in range(count)]
    pusher = auv_bench.pusher()
    parts = 0

    def send() -> None:
        for i, message in enumerate(messages):
            pusher.send(message, zmq.SNDMORE if i % 50 == 0 else 0)

    sender = threading.Thread(target=send)
    sender.start()
    counters = auv_bench.front_end.counters
    kinds = ("commands", "wrong_length", "unknown_id", "multipart")
    # Every fiftieth part begins a message of two parts.
    parts = count - count // 50
    began = time.monotonic()
    auv_bench.step_until(lambda: sum(counters[kind] for kind in kinds) >= parts)
    sender.join()
    single = [message for i, message in enumerate(messages) if i % 50 > 1]
    right = [message for message in single if len(message) == 5]
    assert counters["multipart"] == count // 50
    assert counters["wrong_length"] == len(single) - len(right)
    assert counters["commands"] == sum(message[0] == 0 for message in right)
    assert counters["unknown_id"] == len(right) - counters["commands"]
    assert counters.keys() <= set(auv_bench.front_end.COUNTERS)
    assert len(auv_bench.log.warnings) <= time.monotonic() - began + 1.0
    pusher.send(command(10, 20, 30, 40))
    assert auv_bench.step_until_counted("commands", counters["commands"] + 1)[0][:4] == [1550, 1600, 1650, 1700]


@pytest.mark.parametrize("port", ["image", "thruster", "telemetry"])
def test_non_zeromq_bytes_affect_no_other_client(auv_bench: Any, port: str) -> None:
    seeded = random.Random(2)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", auv_bench.port(port))) as stranger, contextlib.suppress(OSError):
            stranger.sendall(seeded.randbytes(5000))
        auv_bench.step()
    auv_bench.pusher().send(command(10, 20, 30, 40))
    assert auv_bench.step_until_counted("commands", 1)[0][:4] == [1550, 1600, 1650, 1700]
    assert auv_bench.receive(auv_bench.subscriber("telemetry"))[0] == b"\0"


def test_telemetry_reports_true_auv_position(auv_bench: Any) -> None:
    subscriber = auv_bench.subscriber("telemetry")
    auv_bench.truth[0:3] = 1.5, -2.5, 3.5
    auv_bench.truth[3:7] = 0.5**0.5, 0.0, 0.0, -(0.5**0.5)
    auv_id, where = auv_bench.telemetry(subscriber)
    assert (auv_id, where.x, where.y, where.z) == (0, -2.5, 1.5, -3.5)
    # To single precision.
    assert (where.yaw, where.pitch, where.roll) == pytest.approx((-90.0, 0.0, 0.0), abs=1e-5)


def test_z_points_down_when_configured(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(z_axis="down")
    bench.truth[1:3] = 1.0, 3.5
    assert bench.telemetry(bench.subscriber("telemetry"))[1].z == 3.5


@pytest.mark.parametrize(
    ("settings", "rate"), [({}, 60), ({"telemetry_rate": 100.0}, 100), ({"telemetry_rate": 1000.0}, 400)]
)
def test_telemetry_rate_is_in_simulated_time_with_at_most_one_message_per_step(
    new_auv_bench: Callable[..., Any], settings: dict[str, float], rate: int
) -> None:
    bench = new_auv_bench(2, **settings)
    for _ in range(4000):
        bench.step()
    # 10 s of two AUVs; the first tick is that of the first step.
    assert bench.front_end.counters["telemetry_messages"] == pytest.approx(2 * 10 * rate, abs=2)


def test_subscriber_receives_only_the_auv_it_subscribed_to(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(2)
    first, second = bench.subscriber("telemetry", 0), bench.subscriber("telemetry", 1)
    for _ in range(20):
        assert bench.receive(first)[0] == b"\0"
        assert bench.receive(second)[0] == b"\1"


def test_non_finite_telemetry_is_counted_and_not_sent(auv_bench: Any) -> None:
    auv_bench.truth[0] = float("nan")
    auv_bench.step_until_counted("unsent_telemetry", 3)
    assert auv_bench.front_end.counters["telemetry_messages"] == 0
    assert "no telemetry of AUV 0" in auv_bench.log.warnings[0]


def film_until_received(bench: Any, subscriber: Any) -> int:
    """Take steps, each with a new pair of images, until one arrives; return the number of pairs."""
    numbers = iter(range(10**6))

    def receive() -> object:
        number = next(numbers)
        bench.images = {"front": b"front %d" % number, "bottom": b"bottom %d" % number}
        return subscriber.poll(1)

    bench.step_until(receive)
    return next(numbers)


def test_image_message_has_three_parts(auv_bench: Any) -> None:
    subscriber = auv_bench.subscriber("image")
    film_until_received(auv_bench, subscriber)
    auv_id, front, bottom = subscriber.recv_multipart()
    assert auv_id == b"\0"
    assert front.startswith(b"front ") and bottom == front.replace(b"front", b"bottom")


def test_images_carry_the_id_of_their_auv(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(2)
    subscriber = bench.subscriber("image", 1)
    pairs = film_until_received(bench, subscriber)
    assert subscriber.recv_multipart()[0] == b"\1"
    # The last pair was created after the last step.
    assert bench.front_end.counters["image_messages"] == 2 * (pairs - 1)


def test_images_are_sent_when_both_cameras_have_a_new_one(auv_bench: Any) -> None:
    counts = []
    for front, bottom in (
        (b"f1", None),
        (b"f1", b"b1"),
        (b"f2", b"b1"),
        (b"f3", b"b1"),
        (b"f3", b"b2"),
        (b"f3", b"b3"),
    ):
        auv_bench.images = {"front": front} | ({"bottom": bottom} if bottom else {})
        auv_bench.step()
        counts.append(auv_bench.front_end.counters["image_messages"])
    assert counts == [0, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("images", "silent"),
    [({}, "front and bottom"), ({"front": b"x"}, "bottom"), ({"front": b"", "bottom": b"x"}, "front")],
)
def test_missing_images_are_logged_once(auv_bench: Any, images: dict[str, bytes], silent: str) -> None:
    auv_bench.images = images
    for _ in range(4000):
        auv_bench.step()
    # No client is subscribed to images.
    assert auv_bench.log.infos == []
    auv_bench.subscriber("image")
    auv_bench.step_until(lambda: auv_bench.front_end.needs_images(0))
    for _ in range(4000):
        auv_bench.step()
    (line,) = auv_bench.log.infos
    assert line.startswith(f"no {silent} image of AUV 0 received: port {auv_bench.port('image')} sends its images once")
    assert auv_bench.front_end.counters["image_messages"] == 0


def test_images_are_requested_only_while_a_client_is_subscribed(new_auv_bench: Callable[..., Any]) -> None:
    bench = new_auv_bench(3)

    def needed() -> list[bool]:
        bench.step()
        return [bench.front_end.needs_images(vehicle) for vehicle in range(3)]

    assert needed() == [False] * 3
    first, same, second = (bench.subscriber("image", auv_id) for auv_id in (0, 0, 1))
    bench.step_until(lambda: needed() == [True, True, False])
    second.unsubscribe(b"\1")
    bench.step_until(lambda: needed() == [True, False, False])
    first.close()
    second.subscribe(b"")
    bench.step_until(lambda: needed() == [True] * 3)
    second.close()
    bench.step_until(lambda: needed() == [True, False, False])
    same.subscribe(b"\2 and what no message begins with")
    # A subscription to telemetry does not request images.
    bench.receive(bench.subscriber("telemetry", 1))
    assert needed() == [True, False, False]
    same.close()
    bench.step_until(lambda: needed() == [False] * 3)


@pytest.mark.parametrize("auvs", [1, 16])
@pytest.mark.parametrize("size", [10_000, 200_000, 400_000])
def test_stalled_subscriber_is_sent_less_than_a_megabyte(
    new_auv_bench: Callable[..., Any], auvs: int, size: int
) -> None:
    bench = new_auv_bench(auvs)
    # The subscriber's own buffers are small.
    reluctant = bench.subscriber("image", options={zmq.RCVHWM: 1, zmq.RCVBUF: 4096})
    bench.step_until(lambda: bench.front_end.needs_images(0))
    counters = bench.front_end.counters
    while counters["image_messages"] < 2_000_000 // size + 200:
        number = b"%05d" % counters["image_messages"]
        bench.images = {"front": number * (size // 10), "bottom": number * (size // 10)}
        bench.step()
        # As slow as rendering, so that the socket's thread can fill all buffers.
        time.sleep(1e-3)
    received = 0
    while reluctant.poll(300):
        received += sum(map(len, reluctant.recv_multipart()))
    assert 0 < received < 1_000_000 + 2 * size


STALLED_SUBSCRIBER = """
import sys, zmq
context = zmq.Context()
sockets = [context.socket(zmq.SUB) for _ in sys.argv[1:]]
for made, port in zip(sockets, sys.argv[1:]):
    made.subscribe(bytes([0]))
    made.connect(f"tcp://127.0.0.1:{port}")
for made in sockets:
    made.recv_multipart()
print("received", flush=True)
sys.stdin.read()
"""


def resident_mib() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def test_stalled_subscriber_uses_no_extra_memory_in_two_minutes(auv_bench: Any) -> None:
    ports = [str(auv_bench.port(name)) for name in ("image", "telemetry")]
    jpeg = random.Random(3).randbytes(20_000)
    numbers = iter(range(10**6))

    def fly(seconds: float) -> None:
        for step in range(round(seconds * 400)):
            if step % 13 == 0:  # about 30 Hz
                number = next(numbers).to_bytes(4, "little")
                auv_bench.images = {"front": number + jpeg, "bottom": number + jpeg}
            auv_bench.step()

    arguments = [sys.executable, "-c", STALLED_SUBSCRIBER, *ports]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reluctant:
        assert reluctant.stdout is not None
        try:
            while not select.select([reluctant.stdout], [], [], 0.0)[0]:
                assert reluctant.poll() is None
                fly(1.0)
            fly(20.0)
            before, counted = resident_mib(), auv_bench.front_end.counters.copy()
            fly(120.0)
            # 140 MiB were sent; the allocator's own memory varies by a few MiB.
            assert resident_mib() - before < 16.0
        finally:
            reluctant.terminate()
    sent = auv_bench.front_end.counters - counted
    assert (sent["telemetry_messages"], sent["image_messages"]) == (7_200, 3_693)


def test_clients_with_open_sockets_reconnect_to_restarted_server(auv_bench: Any) -> None:
    pusher, subscriber = auv_bench.pusher(), auv_bench.subscriber("telemetry")
    pusher.send(command(10, 20, 30, 40))
    auv_bench.step_until_counted("commands", 1)
    auv_bench.receive(subscriber)
    for start in range(1, 4):
        auv_bench.front_end.close()
        auv_bench.open()
        assert auv_bench.step() == [CENTRED]
        auv_bench.truth[1] = start
        assert auv_bench.telemetry(subscriber)[1].x == start
        pusher.send(command(start, 0, 0, 0))
        auv_bench.step_until(lambda start=start: auv_bench.step()[0][0] == 1500 + 5 * start)


@pytest.mark.parametrize("port", ["image", "thruster", "telemetry"])
def test_port_in_use_is_reported_and_no_socket_stays_bound(
    new_auv_bench: Callable[..., Any], auv_bench: Any, port: str
) -> None:
    second = new_auv_bench()
    second.front_end.close()
    taken = auv_bench.port(port)
    second.settings[f"auv_zeromq.{port}_port"] = taken
    with pytest.raises(ParameterError) as refusal:
        second.open()
    assert f"'auv_zeromq.{port}_port': 127.0.0.1:{taken} given, which cannot be used: Address already in use" in str(
        refusal.value
    )
    for name in {"image", "thruster", "telemetry"} - {port}:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", second.port(name)))


@pytest.mark.parametrize("address", ["192.0.2.1", "nowhere.invalid", "", "1.2.3"])
def test_non_local_address_is_rejected(new_auv_bench: Callable[..., Any], address: str) -> None:
    with pytest.raises(ParameterError, match=r"'auv_zeromq\.address' and 'auv_zeromq.image_port'"):
        new_auv_bench(address=address)


def test_bridge_needs_no_pyzmq(new_auv_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zmq", None)
    assert new_auv_bench().step() == [CENTRED]
