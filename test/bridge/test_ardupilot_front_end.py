"""The ArduPilot front-end on a real socket, fed with snapshots instead of a simulation."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import socket
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from free_ports import free_ports

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.front_end_interface import START_OVER, Snapshot
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.protocols.ardupilot_json import Reply, ServoFrame, decode_reply, encode_frame
from test.bridge.logged_lines import LoggedLines

STEP_NS = 2_500_000
REPEATED_AFTER_S = 1.1


class Client:
    """ArduPilot's side of the socket."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to = ("127.0.0.1", port)

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def send(self, count: int, us: int = 1500, *, rate: int = 400, channels: int = 16) -> None:
        self.send_bytes(encode_frame(ServoFrame(rate, count, (us,) * channels)))

    def send_bytes(self, datagram: bytes) -> None:
        self._socket.sendto(datagram, self._to)

    def received(self) -> list[bytes]:
        """All datagrams received since the last call; loopback delivers at once."""
        datagrams = []
        with contextlib.suppress(BlockingIOError):
            while True:
                datagrams.append(self._socket.recv(4096))
        return datagrams

    def reply(self) -> Reply:
        (datagram,) = self.received()
        return decode_reply(datagram)

    def close(self) -> None:
        self._socket.close()


def snapshot(step: int, *, truth: np.ndarray | None = None) -> Snapshot:
    if truth is None:
        truth = np.zeros(19)
        truth[3] = 1.0
    return Snapshot(step * STEP_NS, truth, (1.0, -2.0, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, -9.81))


@dataclasses.dataclass
class Bench:
    front_end: ArduPilotFrontEnd
    log: LoggedLines
    port: int
    new_client: Callable[[], Client]
    client: Client
    now_s: float = 100.0


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """An open front-end, whose clock stands still until the test changes `now_s`, and a client."""
    port, log = free_ports()[0], LoggedLines()
    values = ArduPilotFrontEnd.PARAMETERS.checked({"ardupilot.port": port})
    front_end = ArduPilotFrontEnd(values, log)
    front_end.open()
    with contextlib.ExitStack() as closing:
        closing.callback(front_end.close)

        def new_client() -> Client:
            client = Client(port)
            closing.callback(client.close)
            return client

        made = Bench(front_end, log, port, new_client, new_client())
        monkeypatch.setattr(time, "monotonic", lambda: made.now_s)
        yield made


def test_no_commands_or_replies_before_first_frame(bench: Bench) -> None:
    assert bench.front_end.exchange(0, snapshot(0)) is None
    assert bench.front_end.exchange(0, snapshot(0)) is None
    assert bench.client.received() == []


@pytest.mark.parametrize("channels", [16, 32])
def test_frame_commands_a_step_and_reply_carries_the_resulting_state(bench: Bench, channels: int) -> None:
    bench.client.send(7, 1234, channels=channels)
    assert bench.front_end.exchange(0, snapshot(4)) == [1234] * 14
    assert bench.client.received() == []
    assert bench.front_end.exchange(0, snapshot(5)) is None
    reply = bench.client.reply()
    assert reply.timestamp == 5 * 0.0025
    assert reply.accel_body == (0.0, 0.0, -9.81)
    assert reply.velocity_wind == (1.0, -2.0, 0.5)


def test_reply_is_in_ned(bench: Bench) -> None:
    truth = np.zeros(19)
    half = math.sqrt(0.5)
    truth[0:3] = 10.0, -20.0, -30.0
    truth[3:7] = half, 0.0, 0.0, half  # nose to the east
    truth[7:10] = 5.0, 1.0, -2.0
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1, truth=truth))
    reply = bench.client.reply()
    assert reply.position_ned == (10.0, -20.0, -30.0)
    # The line has nine digits.
    assert reply.velocity_ned == pytest.approx((-1.0, 5.0, -2.0), abs=1e-8)
    assert reply.attitude == pytest.approx((0.0, 0.0, math.pi / 2), abs=1e-8)
    assert reply.quaternion == pytest.approx((half, 0.0, 0.0, half), abs=1e-8)


def test_channel_without_output_gets_neutral_value(bench: Bench) -> None:
    bench.client.send_bytes(encode_frame(ServoFrame(400, 1, (0, 1600, *[0] * 14))))
    assert bench.front_end.exchange(0, snapshot(0)) == [1000, 1600, *[1000] * 12]


def test_repeated_frame_gets_identical_reply_and_no_step(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    (first,) = bench.client.received()
    bench.now_s += REPEATED_AFTER_S
    bench.client.send(1, 1900)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    assert bench.client.received() == [first]
    assert bench.front_end.counters == {"steps": 1, "duplicates": 1}


def test_frames_repeated_during_a_step_are_not_answered_twice(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    for _ in range(3):
        bench.client.send(1)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    assert len(bench.client.received()) == 1
    assert bench.front_end.exchange(0, snapshot(1)) is None
    assert bench.client.received() == []
    assert bench.front_end.counters["duplicates"] == 3


def test_repetitions_queued_after_the_reply_are_answered_once(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    bench.client.received()
    bench.now_s += REPEATED_AFTER_S
    for _ in range(5):
        bench.client.send(1)
    bench.front_end.exchange(0, snapshot(1))
    assert len(bench.client.received()) == 1


def test_repetition_that_crossed_the_reply_gets_no_second_reply(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    bench.client.received()
    bench.client.send(1)
    bench.now_s += 0.2
    bench.front_end.exchange(0, snapshot(1))
    assert bench.client.received() == []
    assert bench.front_end.counters["duplicates"] == 1


def test_repetition_followed_by_next_frame_is_skipped(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    bench.client.received()
    bench.client.send(1)
    bench.client.send(2, 1700)
    assert bench.front_end.exchange(0, snapshot(1)) == [1700] * 14
    assert bench.client.received() == []


def test_each_frame_sent_ahead_is_one_step(bench: Bench) -> None:
    for count in range(1, 6):
        bench.client.send(count, 1500 + count)
    commands = [bench.front_end.exchange(0, snapshot(step)) for step in range(6)]
    assert commands == [[1500 + count] * 14 for count in range(1, 6)] + [None]
    timestamps = [decode_reply(datagram).timestamp for datagram in bench.client.received()]
    assert timestamps == [step * 0.0025 for step in range(1, 6)]


def test_gap_in_frame_count_is_one_step_and_is_counted(bench: Bench) -> None:
    for step, count in enumerate((10, 11, 15)):
        bench.client.send(count)
        assert bench.front_end.exchange(0, snapshot(step)) is not None
    assert bench.front_end.counters["lost_frames"] == 3
    assert bench.log.warnings == ["lost 3 frames of ArduPilot between 11 and 15 (lost_frames: 3 so far)"]


def test_frame_count_wrap_is_neither_gap_nor_restart(bench: Bench) -> None:
    for step, count in enumerate((2**32 - 1, 0, 1)):
        bench.client.send(count)
        assert bench.front_end.exchange(0, snapshot(step)) is not None
    assert bench.front_end.counters == {"steps": 3}


def test_frame_count_going_back_resets_vehicle_before_next_step(bench: Bench) -> None:
    bench.client.send(5000)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    bench.client.received()
    bench.client.send(0, 1234)
    assert bench.front_end.exchange(0, snapshot(1)) is START_OVER
    assert bench.client.received() == []
    assert bench.front_end.exchange(0, snapshot(1)) == [1234] * 14
    bench.client.send(1)
    assert bench.front_end.exchange(0, snapshot(2)) == [1500] * 14
    assert bench.client.reply().timestamp == 2 * 0.0025
    assert bench.front_end.counters == {"steps": 3, "restarts": 1}
    text = "ArduPilot restarted: frame 0 after 5000; the vehicle starts over (restarts: 1 so far)"
    assert bench.log.warnings == [text]


def test_restarted_client_gets_no_reply_to_its_old_frame(bench: Bench) -> None:
    bench.client.send(5000)
    bench.front_end.exchange(0, snapshot(0))
    bench.client.send(0)
    assert bench.front_end.exchange(0, snapshot(1)) is START_OVER
    assert bench.client.received() == []


def test_out_of_order_frame_is_not_a_restart(bench: Bench) -> None:
    for step, count in enumerate((6, 7)):
        bench.client.send(count)
        bench.front_end.exchange(0, snapshot(step))
    bench.client.send(6)
    assert bench.front_end.exchange(0, snapshot(2)) is None
    assert bench.front_end.counters == {"steps": 2, "late_frames": 1}


def test_garbage_is_counted_by_kind_and_does_not_block_valid_frame(bench: Bench) -> None:
    good = encode_frame(ServoFrame(400, 1, (1500,) * 16))
    for datagram in (b"", b"\x1a\x48", good[:-1], good + b"\0", b"\0" * 40, b"{}" * 600):
        bench.client.send_bytes(datagram)
    bench.client.send(1, rate=0)
    bench.client.send_bytes(good)
    assert bench.front_end.exchange(0, snapshot(0)) == [1500] * 14
    assert bench.front_end.counters == {"steps": 1, "wrong_length": 4, "wrong_magic": 2, "zero_frame_rate": 1}


def test_garbage_is_logged_at_most_once_a_second(bench: Bench) -> None:
    for _ in range(50):
        bench.client.send_bytes(b"garbage" * 3)
        bench.front_end.exchange(0, snapshot(0))
    assert len(bench.log.warnings) == 1
    bench.now_s += 1.0
    bench.client.send_bytes(b"garbage" * 3)
    bench.front_end.exchange(0, snapshot(0))
    assert len(bench.log.warnings) == 2
    assert bench.log.warnings[1].endswith("(wrong_magic: 51 so far)")


def test_second_client_is_rejected_while_the_first_is_active(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    second = bench.new_client()
    second.send(1)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    bench.client.send(2)
    assert bench.front_end.exchange(0, snapshot(1)) is not None
    bench.now_s += REPEATED_AFTER_S
    second.send(1)
    assert bench.front_end.exchange(0, snapshot(2)) is None
    assert second.received() == []
    assert len(bench.client.received()) == 2
    assert bench.front_end.counters["refused_frames"] == 2
    (warning,) = bench.log.warnings
    assert f"refused a second ArduPilot at 127.0.0.1:{second.port}" in warning


def test_each_second_client_is_warned_about_once_however_long_it_sends(bench: Bench) -> None:
    others = [bench.new_client(), bench.new_client()]
    for step in range(40):
        bench.client.send(step)
        # Both at once, and one after the other has ended.
        for other in others[:1] if step < 10 else others if step < 30 else others[1:]:
            other.send(0)
        bench.front_end.exchange(0, snapshot(step))
        bench.now_s += REPEATED_AFTER_S
        bench.front_end.exchange(0, snapshot(step))
    assert bench.front_end.counters["refused_frames"] > 40
    assert [[f":{other.port}:" in text for other in others] for text in bench.log.warnings] == [
        [True, False],
        [False, True],
    ]


def test_senders_that_are_not_allowed_are_warned_about_once_each_and_a_flood_of_them_only_so_often() -> None:
    port = free_ports()[0]
    log = LoggedLines()
    values = {"ardupilot.port": port, "ardupilot.allowed_peers": ["127.0.0.9"]}
    front_end = ArduPilotFrontEnd(ArduPilotFrontEnd.PARAMETERS.checked(values), log)
    front_end.open()
    strangers = [Client(port) for _ in range(30)]
    try:
        for stranger in strangers:
            for _ in range(3):
                stranger.send(1)
                front_end.exchange(0, snapshot(0))
        assert front_end.counters == {"not_allowed": 90}
        # The warnings of others fall into the second after the first.
        assert len(log.warnings) == 1
    finally:
        front_end.close()
        for stranger in strangers:
            stranger.close()


def test_client_restarted_on_another_port_is_not_reported_as_second_client(bench: Bench) -> None:
    bench.client.send(5000)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    restarted = bench.new_client()
    answers = []
    for _ in range(3):
        bench.now_s += 0.8
        restarted.send(0)
        answers.append(bench.front_end.exchange(0, snapshot(1)))
        assert bench.front_end.refused(0) == ""
    assert answers == [None, None, START_OVER]
    assert bench.log.warnings == [
        "ArduPilot restarted: frame 0 after 5000; the vehicle starts over (restarts: 1 so far)"
    ]
    # The front-end still warns of a second ArduPilot after the restart.
    bench.front_end.exchange(0, snapshot(1))
    other = bench.new_client()
    for step in range(2, 5):
        bench.now_s += REPEATED_AFTER_S
        other.send(0)
        restarted.send(step - 1)
        bench.front_end.exchange(0, snapshot(step))
        bench.front_end.exchange(0, snapshot(step))
    assert "a second ArduPilot" in bench.log.warnings[1]


def steps(bench: Bench, rates: Sequence[int], *, us: int = 1500, count: int = 0) -> int:
    """Send one frame for each rate, take its step, and return the next count."""
    for rate in rates:
        bench.client.send(count, us, rate=rate)
        assert bench.front_end.exchange(0, snapshot(count)) is not None
        count += 1
    return count


def test_frame_rate_is_logged_each_time_it_settles(bench: Bench) -> None:
    count = steps(bench, [1200] * 1500, us=0)
    (connected,) = bench.log.infos
    assert connected == f"ArduPilot at 127.0.0.1:{bench.client.port} is connected: 16 channels, frame 0"
    count = steps(bench, [*range(1199, 800, -1), *[800] * 1000, *[799, 800] * 500], count=count)
    assert bench.log.infos[1:] == ["ArduPilot sends 800 frames per simulated second"]
    steps(bench, [*range(799, 400, -1), *[400] * 1000], count=count)
    assert bench.log.infos[2:] == ["ArduPilot sends 400 frames per simulated second"]


def test_second_client_takes_over_after_the_first_times_out(bench: Bench) -> None:
    bench.client.send(900)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    second = bench.new_client()
    bench.now_s += 1.9
    second.send(0)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    bench.now_s += 0.1
    second.send(0)
    assert bench.front_end.exchange(0, snapshot(1)) is START_OVER
    assert bench.front_end.exchange(0, snapshot(1)) is not None
    bench.front_end.exchange(0, snapshot(2))
    assert len(second.received()) == 1
    assert bench.front_end.counters["restarts"] == 1


def test_long_step_does_not_time_out_the_peer(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.now_s += 60.0
    bench.new_client().send(1)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    assert bench.front_end.counters["refused_frames"] == 1


@pytest.mark.parametrize(("rate", "step_s"), [(1200, 1 / 1200), (400, 0.0025), (100, 0.005)])
def test_frame_rate_sets_requested_step_up_to_maximum(bench: Bench, rate: int, step_s: float) -> None:
    assert bench.front_end.requested_step(0) is None
    bench.client.send(1, rate=rate)
    bench.front_end.exchange(0, snapshot(0))
    assert bench.front_end.requested_step(0) == step_s


def test_non_finite_state_is_never_sent(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1, truth=np.full(19, math.nan)))
    bench.now_s += REPEATED_AFTER_S
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(1))
    assert bench.client.received() == []
    assert bench.front_end.counters["unsent_replies"] == 1
    assert "finite" in bench.log.warnings[0]


def test_port_in_use_is_rejected_by_name(bench: Bench) -> None:
    other = ArduPilotFrontEnd(bench.front_end.values, bench.log)
    with pytest.raises(ParameterError, match=rf"'ardupilot.port': 127.0.0.1:{bench.port} given.*in use"):
        other.open()


def test_closed_port_can_be_reopened(bench: Bench) -> None:
    bench.front_end.close()
    bench.front_end.close()
    other = ArduPilotFrontEnd(bench.front_end.values, bench.log)
    other.open()
    other.close()


def test_vehicles_have_ports_ten_apart_and_separate_sessions() -> None:
    port, log = free_ports()[0], LoggedLines()
    # The second port may be in use: try another pair.
    for _ in range(20):
        front_end = ArduPilotFrontEnd(ArduPilotFrontEnd.PARAMETERS.checked({"ardupilot.port": port}), log, ("a", "b"))
        try:
            front_end.open()
            break
        except ParameterError:
            port = free_ports()[0]
    clients = [Client(port), Client(port + 10)]
    try:
        assert len(set(front_end.filenos())) == 4
        assert front_end.peer(1) == f"ArduPilot on UDP 127.0.0.1:{port + 10}"
        clients[1].send(1, 1700, rate=800)
        assert front_end.exchange(0, snapshot(0)) is None
        assert front_end.exchange(1, snapshot(0)) == [1700] * 14
        assert (front_end.requested_step(0), front_end.requested_step(1)) == (None, 1 / 800)
        clients[0].send(5)
        assert front_end.exchange(0, snapshot(0)) == [1500] * 14
        assert front_end.exchange(1, snapshot(1)) is None
        assert (clients[0].received(), clients[1].reply().timestamp) == ([], 0.0025)
        clients[1].send(5)
        front_end.exchange(1, snapshot(1))
        assert [line.split(" ")[0] for line in log.infos] == ["b:", "a:"]
        assert [line.split(" ")[:3] for line in log.warnings] == [["b:", "lost", "3"]]
    finally:
        front_end.close()
        for client in clients:
            client.close()


def test_base_port_too_high_for_last_vehicle_is_rejected() -> None:
    values = ArduPilotFrontEnd.PARAMETERS.checked({"ardupilot.port": 65530})
    with pytest.raises(ParameterError, match="65530 given, which gives vehicle 'b' 65540; allowed: at most 65525"):
        ArduPilotFrontEnd(values, LoggedLines(), ("a", "b"))


def test_only_allowed_peers_can_connect() -> None:
    port = free_ports()[0]
    client, stranger = Client(port), Client(port)
    client.send_bytes(b"")  # assigns the client's port
    values = {"ardupilot.port": port, "ardupilot.allowed_peers": [f"127.0.0.1:{client.port}"]}
    front_end = ArduPilotFrontEnd(ArduPilotFrontEnd.PARAMETERS.checked(values), LoggedLines())
    front_end.open()
    try:
        stranger.send(1, 1900)
        client.send(1, 1600)
        assert front_end.exchange(0, snapshot(0)) == [1600] * 14
        assert front_end.exchange(0, snapshot(1)) is None
        assert (len(client.received()), stranger.received()) == (1, [])
        assert front_end.counters == {"steps": 1, "not_allowed": 1}
    finally:
        front_end.close()
        client.close()
        stranger.close()


def test_second_client_is_reported_for_a_while(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    assert bench.front_end.refused(0) == ""
    second = bench.new_client()
    second.send(1)
    bench.front_end.exchange(0, snapshot(1))
    bench.client.send(2)
    bench.front_end.exchange(0, snapshot(1))
    second.send(1)
    bench.front_end.exchange(0, snapshot(2))
    assert bench.front_end.refused(0) == f"127.0.0.1:{second.port}"
    bench.now_s += 2.1
    assert bench.front_end.refused(0) == ""


def test_flood_uses_bounded_share_of_step_and_frame_behind_it_is_processed(bench: Bench) -> None:
    looked_at = 64
    flood = bench.new_client()
    for _ in range(looked_at + 40):
        flood.send_bytes(b"garbage")
    bench.client.send(1)
    assert bench.front_end.exchange(0, snapshot(0)) is None
    assert bench.front_end.counters == {"wrong_length": looked_at}
    assert bench.front_end.exchange(0, snapshot(0)) == [1500] * 14
    assert bench.front_end.counters == {"wrong_length": looked_at + 40, "steps": 1}
    assert len(bench.log.warnings) == 1


def test_channels_map_to_outputs_as_configured() -> None:
    port = free_ports()[0]
    outputs = ["2", "-1", "", *[""] * 11]
    values = {"ardupilot.port": port, "ardupilot.outputs": outputs, "ardupilot.no_output": [1500] * 14}
    front_end = ArduPilotFrontEnd(ArduPilotFrontEnd.PARAMETERS.checked(values), LoggedLines())
    front_end.open()
    client = Client(port)
    try:
        client.send_bytes(encode_frame(ServoFrame(400, 1, (1100, 1200, 1300, *[0] * 13))))
        assert front_end.exchange(0, snapshot(0)) == [1200, 1900, *[1500] * 12]
    finally:
        front_end.close()
        client.close()


def test_flood_from_other_senders_does_not_delay_peer_frame(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.front_end.exchange(0, snapshot(1))
    flood = bench.new_client()
    # More than any socket buffer holds.
    for _ in range(20_000):
        flood.send_bytes(b"garbage")
    bench.client.send(2, 1800)
    assert bench.front_end.exchange(0, snapshot(1)) == [1800] * 14
    assert bench.front_end.counters["wrong_length"] <= 64


def test_frames_received_before_the_peer_socket_opens_stay_in_order(bench: Bench) -> None:
    for count in (1, 1, 2):
        bench.client.send(count, 1500 + count)
    assert bench.front_end.exchange(0, snapshot(0)) == [1501] * 14
    assert bench.front_end.exchange(0, snapshot(1)) == [1502] * 14
    bench.client.send(3, 1503)
    assert bench.front_end.exchange(0, snapshot(2)) == [1503] * 14
    assert bench.front_end.counters == {"steps": 3, "duplicates": 1}


def test_port_stays_closed_to_other_senders_while_peer_is_connected(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", bench.port))


def test_undeliverable_reply_does_not_end_the_session(bench: Bench) -> None:
    bench.client.send(1)
    bench.front_end.exchange(0, snapshot(0))
    bench.client.close()
    assert bench.front_end.exchange(0, snapshot(1)) is None
    # The kernel has reported the closed port.
    assert bench.front_end.exchange(0, snapshot(1)) is None
    bench.now_s += 2.0
    second = bench.new_client()
    second.send(1)
    assert bench.front_end.exchange(0, snapshot(1)) is None
    second.send(0)
    assert bench.front_end.exchange(0, snapshot(1)) is START_OVER
    assert bench.front_end.exchange(0, snapshot(1)) is not None
    bench.front_end.exchange(0, snapshot(2))
    assert len(second.received()) >= 1
