"""ArduPilot's stand-in with a socket of the test: its frames, its two parsers, and its behaviour."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import random
import socket
import time
from collections.abc import Iterator

import pytest
from ardupilot_frames import servo_frame
from ardupilot_lines import LineError, LineReader, Reading, read_as_ardupilot, read_as_json
from ardupilot_stand_in import StandIn
from unreliable_line import UnreliableLine

from rosflight_py_sim.protocols.ardupilot_json import BatteryStatus, Reply, Windvane, decode_frame, encode_reply

LINE = (
    b'\n{"timestamp":0.0025,"imu":{"gyro":[0,-1e-05,0.25],"accel_body":[0,0,-9.81]},"position":[1,2,-3],'
    b'"velocity":[4,5,-6],"quaternion":[1,0,0,0],"velocity_wind":[7,8,9]}\n'
)

ZERO = (0.0, 0.0, 0.0)

# System time, s, after which a datagram over loopback counts as lost.
TIMEOUT_S = 20.0


@pytest.mark.parametrize(("channels", "magic"), [(16, b"\x1a\x48"), (32, b"\x81\x73")])
def test_frame_is_little_endian_and_readable_by_the_codec(channels: int, magic: bytes) -> None:
    pwm = tuple(range(1000, 1000 + channels))
    frame = servo_frame(1200, 0x01020304, pwm)
    assert len(frame) == 8 + 2 * channels
    assert frame[:10] == magic + b"\xb0\x04" + b"\x04\x03\x02\x01" + b"\xe8\x03"
    decoded = decode_frame(frame)
    assert (decoded.frame_rate, decoded.frame_count, decoded.pwm_us) == (1200, 0x01020304, pwm)


def test_ardupilot_parser_and_json_parser_agree() -> None:
    assert read_as_json(LINE) == read_as_ardupilot(LINE)
    reading = LineReader().read(LINE)
    assert reading.gyro == (0.0, -1e-05, 0.25)
    assert reading.velocity == (4.0, 5.0, -6.0)
    assert reading.others == {"velocity_wind": (7.0, 8.0, 9.0)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n{", b"{"),
        (b"}\n", b"}"),
        (b"}\n", b"}}\n"),
        (b'"timestamp":', b'"timestamp": '),
        (b'"timestamp":', b'"timestamp" :'),
        (b"0.0025", b".0025"),
        (b"0.0025", b"NaN"),
        (b"0.0025", b"1e400"),
        (b"0.0025", b'"0.0025"'),
        (b"[4,5,-6]", b"[4,5]"),
        (b"[4,5,-6]", b"[4,5,-6,7]"),
        (b"[4,5,-6]", b"[4,5,-Infinity]"),
        (b"[4,5,-6]", b"4"),
        (b'"velocity":[4,5,-6],', b""),
        (b'"velocity":[4,5,-6]', b'"velocity":[4,5,-6],"velocity":[4,5,-6]'),
        (b'"velocity":[4,5,-6],"quaternion"', b'"velocity_wind":[7,8,9],"velocity":[4,5,-6],"quaternion"'),
        (b'"quaternion":[1,0,0,0]', b'"attitude":[0,0,0]'),
        (b'"quaternion":[1,0,0,0]', b'"quaternion":[1,0,0,0],"attitude":[0.1,0,0]'),
        (b'"quaternion":[1,0,0,0]', b'"quaternion":[0.9,0,0,0]'),
        (b'"velocity_wind":[7,8,9]', b'"rc":{"rc_10":1500,"rc_1":1100}'),
        (b'"velocity_wind":[7,8,9]', b'"unheard_of":1'),
        (b'"velocity_wind":[7,8,9]', b'"airspeed":12,"windvane":{"direction":1,"sped":2}'),
    ],
)
def test_line_that_ardupilot_would_misread_is_rejected(old: bytes, new: bytes) -> None:
    assert old in LINE
    with pytest.raises(LineError):
        LineReader().read(LINE.replace(old, new, 1))


def test_wind_field_preceding_velocity_is_misread_and_rejected() -> None:
    wind = b'"velocity_wind":[7,8,9],'
    line = LINE.replace(b',"velocity_wind":[7,8,9]', b"").replace(b'"velocity"', wind + b'"velocity"')
    # The parser finds "velocity" in "velocity_wind", without a list two characters after it.
    with pytest.raises(LineError, match="velocity"):
        LineReader().read(line)


def test_intermittent_fields_are_rejected() -> None:
    reader = LineReader()
    reader.read(LINE)
    with pytest.raises(LineError, match="velocity_wind"):
        reader.read(LINE.replace(b',"velocity_wind":[7,8,9]', b""))


def test_all_encoder_output_is_read_the_same_by_both_parsers() -> None:
    chance = random.Random(4)

    def some(count: int = 3) -> tuple[float, ...]:
        return tuple(chance.choice((-1.0, 1.0)) * 10.0 ** chance.uniform(-12.0, 4.0) for _ in range(count))

    optional = ("attitude", "windvane", "velocity_wind", "airspeed", "battery")
    for present in itertools.product((False, True), repeat=len(optional)):
        has = dict(zip(optional, present, strict=True))
        for ranges, channels in ((0, 0), (1, 8), (6, 12)):
            reply = Reply(
                timestamp=chance.uniform(0.0, 1e5),
                gyro=some(),
                accel_body=some(),
                position_ned=some(),
                velocity_ned=some(),
                quaternion=(math.cos(0.3), math.sin(0.3), 0.0, 0.0),
                attitude=(0.6, 0.0, 0.0) if has["attitude"] else None,
                ranges=some(ranges),
                windvane=Windvane(*some(2)) if has["windvane"] else None,
                velocity_wind=some() if has["velocity_wind"] else None,
                airspeed=some(1)[0] if has["airspeed"] else None,
                rc_us=tuple(chance.randrange(800, 2200) for _ in range(channels)),
                battery=BatteryStatus(*some(2)) if has["battery"] else None,
            )
            reading = LineReader().read(encode_reply(reply))
            assert (reading.timestamp, reading.position) == (reply.timestamp, reply.position_ned)
            expected = 6 + 1 * has["attitude"] + 2 * has["windvane"] + has["velocity_wind"] + has["airspeed"]
            assert len(reading.others) + 6 == expected + 2 * has["battery"] + ranges + channels


class Standing:
    """A pilot that stays on the ground."""

    phase = "standing"
    is_done = False

    def command(self, now: Reading, dt: float) -> list[int]:
        """Half the travel on two channels."""
        return [1500, 1501]


class Simulator:
    """The simulator's side: receives frames and sends the given answers."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(TIMEOUT_S)
        self.port = self.socket.getsockname()[1]

    def take(self) -> tuple[int, int, tuple[int, ...]]:
        """Rate, count and pulse widths of the next frame."""
        datagram, self.peer = self.socket.recvfrom(2048)
        frame = decode_frame(datagram)
        return frame.frame_rate, frame.frame_count, frame.pwm_us

    def answer(self, timestamp: float) -> None:
        self.socket.sendto(LINE.replace(b"0.0025", repr(timestamp).encode()), self.peer)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    made = Simulator()
    yield made
    made.socket.close()


@pytest.fixture
def make(simulator: Simulator) -> Iterator[object]:
    """A function that starts a stand-in."""
    with contextlib.ExitStack() as closing:

        def start(**options: object) -> StandIn:
            made = StandIn(Standing(), port=simulator.port, **options)  # type: ignore[arg-type]
            closing.callback(made.close)
            made.start()
            return made

        yield start


def answered(stand_in: StandIn, simulator: Simulator, timestamp: float) -> tuple[int, int, tuple[int, ...]]:
    """The frame that the stand-in sends after an answer with this timestamp."""
    simulator.answer(timestamp)
    end = time.monotonic() + TIMEOUT_S
    while not stand_in.work(0.1):
        assert time.monotonic() < end, "the answer was not taken"
    return simulator.take()


def test_frame_count_rises_with_each_reply_and_outputs_follow_after_boot(make, simulator: Simulator) -> None:
    stand_in = make(boot_frames=10, channels=32)
    assert simulator.take() == (400, 0, (0,) * 32)
    frames = [answered(stand_in, simulator, 0.0025 * k) for k in range(1, 80)]
    assert [count for _, count, _ in frames] == list(range(1, 80))
    with_output = {count for _, count, pwm in frames if pwm[:2] == (1500, 1501)}
    without = {count for _, count, pwm in frames if pwm == (0,) * 32}
    assert without == {*range(1, 10), *range(60, 64)}
    assert with_output == set(range(1, 80)) - without
    assert stand_in.time_us == 78 * 2500


def test_unanswered_frame_is_resent_unchanged(make, simulator: Simulator) -> None:
    stand_in = make(resend_s=0.02)
    first = simulator.take()
    while stand_in.counters["resent"] < 3:
        assert not stand_in.work(1.0)
    assert [simulator.take() for _ in range(3)] == [first] * 3


def test_second_reply_to_a_frame_is_taken_as_reply_to_the_next(make, simulator: Simulator) -> None:
    stand_in = make()
    simulator.take()
    answered(stand_in, simulator, 1.0)
    assert answered(stand_in, simulator, 1.0)[1] == 2
    assert stand_in.counters["frozen"] == 1


def test_frame_rate_is_the_rate_of_the_last_step_moved_by_one_hertz_towards_sim_rate(
    make, simulator: Simulator
) -> None:
    stand_in = make(sim_rate_hz=400, start_rate_hz=1200)
    assert simulator.take()[0] == 1200
    # The first reply has no step before it.
    assert answered(stand_in, simulator, 1.0)[0] == 1199
    # Cut to whole hertz: 398.5 and 499.
    assert [answered(stand_in, simulator, 1.0 + k / 397.5)[0] for k in range(1, 4)] == [398, 398, 398]
    rates = [answered(stand_in, simulator, 2.0 + k / 500.0)[0] for k in range(4)]
    assert rates[1:] == pytest.approx([499, 499, 499], abs=1)
    # A step of the requested length each time: down to SIM_RATE_HZ, then to another.
    time_s, rate_hz = 3.0, answered(stand_in, simulator, 3.0)[0]
    for sim_rate_hz in (400, 410):
        stand_in.set_sim_rate(sim_rate_hz)
        for _ in range(120):
            time_s += 1.0 / rate_hz
            rate_hz = answered(stand_in, simulator, time_s)[0]
        assert rate_hz in (sim_rate_hz, sim_rate_hz - 1)


def test_time_is_truncated_to_microseconds(make, simulator: Simulator) -> None:
    stand_in = make(sim_rate_hz=1200)
    simulator.take()
    for k in range(13):
        answered(stand_in, simulator, k / 1200)
    assert stand_in.time_us == 12 * 833


def test_physics_going_back_in_time_is_recorded_and_flight_continues(make, simulator: Simulator) -> None:
    stand_in = make()
    simulator.take()
    for k, timestamp in enumerate((5.0, 5.0025, 0.0025, 0.005)):
        assert answered(stand_in, simulator, timestamp)[1] == k + 1
    assert stand_in.counters["physics_resets"] == 1
    assert stand_in.time_us == 5000


def test_each_start_uses_its_own_port_and_each_instance_its_own_destination_port(make, simulator: Simulator) -> None:
    first = make()
    simulator.take()
    assert simulator.peer[1] == first.own_port
    second = StandIn(Standing(), port=simulator.port - 20, instance=2)
    second.start()
    simulator.take()
    assert simulator.peer[1] == second.own_port != first.own_port
    second.close()


def test_unreliable_link_drops_duplicates_and_delays_configured_share() -> None:
    line = UnreliableLine(loss=0.1, doubling=0.1, delay=0.1, answer_loss=0.1)
    arrived = [line.arriving(bytes([k % 256, k // 256])) for k in range(2000)]
    lost = sum(not datagrams for datagrams in arrived)
    answers = sum(line.answer_arrives() for _ in range(2000))
    # Five deviations of 2000 draws of 0.1.
    assert lost == line.happened["loss"] == pytest.approx(200, abs=67)
    assert line.happened["doubling"] == sum(d[:1] == d[1:2] for d in arrived if d) == pytest.approx(180, abs=67)
    assert line.happened["delay"] == sum(len(set(d)) == 2 for d in arrived) == pytest.approx(180, abs=67)
    assert answers == 2000 - line.happened["answer_loss"] == pytest.approx(1800, abs=67)


def test_documented_line_is_valid_json() -> None:
    assert json.loads(LINE)["imu"]["accel_body"] == [0, 0, -9.81]
