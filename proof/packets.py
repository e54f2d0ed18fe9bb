"""Valid and invalid packets sent through the real front-ends, over sockets.

Each function sends `count` packets of a protocol and acts as the simulation. It checks that each valid packet takes
effect, that each step is answered, and that the counters add up to the number of packets sent.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.free_ports import free_ports
from proof.mutations import mutated
from proof.parsers import kept_inputs
from rosflight_py_sim.bridge import fair_inbox
from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.auv_zeromq_front_end import AuvZeromqFrontEnd
from rosflight_py_sim.bridge.front_end_interface import START_OVER, Snapshot
from rosflight_py_sim.bridge.px4_front_end import Px4FrontEnd
from rosflight_py_sim.bridge.px4_peer import FAULTS
from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.ardupilot_json import ProtocolError, ServoFrame, decode_frame, encode_frame
from rosflight_py_sim.protocols.mavlink.common import Heartbeat
from rosflight_py_sim.protocols.mavlink.frames import LARGEST_FRAME, Frame, FrameReader, Mavlink2
from rosflight_py_sim.protocols.px4_simulator.dialect import AUTOPILOT_PX4, HilActuatorControls
from rosflight_py_sim.protocols.px4_simulator.dialect import LAYOUTS as PX4_LAYOUTS
from rosflight_py_sim.protocols.uthere import UthereError, parse_packet
from rosflight_py_sim.step.topics import AirspeedSample, GnssSample, StatusReport

_STEP_NS = 2_500_000
_PERIOD_S = 0.01

# Number of datagrams that a socket's buffer is sure to hold.
_BATCH = 64

# System time without progress after which a packet counts as lost.
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Passed:
    """Result of a run.

    Attributes:
        packets: number of packets sent.
        valid: number of valid ones among them.
        effective: number of valid packets that took effect.
        counted: number of packets that the front-end counted, of all kinds.
        steps: number of steps taken.
        answered: number of steps that were answered.
        seconds: system time.
    """

    packets: int
    valid: int
    effective: int
    counted: int
    steps: int
    answered: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether no packet and no step is missing."""
        return (self.effective, self.counted, self.answered) == (self.valid, self.packets, self.steps)


class _Silent:
    """A logger without output."""

    def info(self, message: str) -> None:
        """Ignore the message."""

    def warning(self, message: str) -> None:
        """Ignore the message."""


def _snapshot(step: int) -> Snapshot:
    truth = np.zeros(19)
    truth[2], truth[3], truth[7] = -50.0, 1.0, 18.0
    zero = (0.0, 0.0, 0.0)
    return Snapshot(step * _STEP_NS, truth, zero, zero, (0.0, 0.0, -9.81))


def _invalid(name: str, seed: int, is_valid: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Endless sequence of invalid packets."""
    for number in itertools.count(seed):
        yield from (one for one in mutated(kept_inputs(name), number, 10_000, 1000) if not is_valid(one))


def ardupilot(count: int, seed: int = 1) -> Passed:
    """Servo frames: each valid one must give a step with its pulse widths."""
    front_end = ArduPilotFrontEnd(ArduPilotFrontEnd.PARAMETERS.checked({"ardupilot.port": free_ports(1)[0]}), _Silent())
    chance, invalid = random.Random(seed), _invalid("ardupilot_frames", seed, _is_servo_frame)
    valid = effective = sent = steps = 0
    began_s = time.monotonic()
    with contextlib.closing(front_end), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        front_end.open()
        sender.connect(("127.0.0.1", int(str(front_end.values["ardupilot.port"]))))
        while sent < count:
            expected: list[int] = []
            for _ in range(min(_BATCH, count - sent)):
                sent += 1
                if chance.random() < 0.25:
                    sender.send(next(invalid))
                    continue
                pulse = 1000 + chance.randrange(1001)
                expected.append(pulse)
                sender.send(encode_frame(ServoFrame(400, valid, (pulse,) * 16)))
                valid += 1
            while (answer := front_end.exchange(0, _snapshot(steps))) is not None:
                if answer is not START_OVER:
                    steps += 1
                    effective += bool(expected) and list(answer) == [expected.pop(0)] * 14
            _drain(sender)
        counters = front_end.counters
        beside = ("lost_frames", "restarts", "unsent_replies")
        counted = sum(number for kind, number in counters.items() if kind not in beside)
        seconds = time.monotonic() - began_s
        return Passed(sent, valid, effective, counted, steps, counters["steps"], seconds)


def _is_servo_frame(datagram: bytes) -> bool:
    try:
        decode_frame(datagram)
    except ProtocolError:
        return False
    return True


def _drain(receiver: socket.socket) -> None:
    with contextlib.suppress(BlockingIOError):
        while True:
            receiver.recv(1 << 16, socket.MSG_DONTWAIT)


def uthere(count: int, seed: int = 1) -> Passed:
    """Packets of commands, 16 in a period: each command and each error is counted; no period waits for packets."""
    own, out = free_ports(2)
    values = {"uthere.udp_port_in": own, "uthere.udp_port_out": out, "uthere.reply_errors": False}
    front_end = UthereFrontEnd(UthereFrontEnd.PARAMETERS.checked(values), _Silent(), ("plane",))
    chance = random.Random(seed)
    others = itertools.chain.from_iterable(
        mutated(kept_inputs("uthere_commands"), number, 10_000, 200) for number in itertools.count(seed)
    )
    plane = front_end.planes[0].number
    expected: Counter[str] = Counter()
    sent = steps = answered = 0
    began_s = time.monotonic()
    with contextlib.closing(front_end), _without_limit(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        front_end.open()
        sender.connect(("127.0.0.1", own))
        snapshot = _flying()
        while sent < count:
            for _ in range(min(_BATCH // 4, count - sent)):
                roll = chance.uniform(-20.0, 20.0)
                packet = f"fly(plane={plane},roll={roll:.3f},pitch=1,throttle=50)".encode()
                packet = next(others) if chance.random() < 0.5 else packet
                found = parse_packet(packet)
                expected["bad_commands"] += sum(isinstance(one, UthereError) for one in found)
                expected["commands"] += sum(not isinstance(one, UthereError) for one in found)
                sender.send(packet)
                sent += 1
            end_s = time.monotonic() + _TIMEOUT_S
            while front_end.counters["packets"] < sent and time.monotonic() < end_s:
                front_end.serve()
            command = front_end.command(0, replace(snapshot, time_ns=steps * int(_PERIOD_S * NANOSECONDS)), _PERIOD_S)
            steps += 1
            answered += command is None or bool(np.isfinite(command.u).all())
        counters = front_end.counters
        seconds = time.monotonic() - began_s
        valid = expected["commands"]
        missing = abs(counters["bad_commands"] - expected["bad_commands"])
        return Passed(sent, valid, counters["commands"], counters["packets"] - missing, steps, answered, seconds)


@contextlib.contextmanager
def _without_limit() -> Iterator[None]:
    """Disable the rate limit, which would drop most packets of a flood."""
    before = fair_inbox.RATE, fair_inbox.BURST
    fair_inbox.RATE = fair_inbox.BURST = 1 << 40
    try:
        yield
    finally:
        fair_inbox.RATE, fair_inbox.BURST = before


def _flying() -> Snapshot:
    return replace(
        _snapshot(0),
        airspeed=AirspeedSample(0, 18.5, 0.5 * 1.1 * 18.5**2, 280.0),
        battery=(23.5, 12.5),
        rc_us=(1500, 1500, 1000, 1500, 1000, 1000, 1500, 1500),
        status=StatusReport(0, True, False, 0, True, 0, 0, 0, 0),
        attitude=(0.01, 0.02, -0.03),
        gnss=GnssSample(0, 3, 15, 40.2463, -111.6474, 1437.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0),
        outputs=(0.0,) * 14,
    )


def auv_zeromq(count: int, seed: int = 1) -> Passed:
    """Thruster messages from a client that never waits: all are read in order; the last one sets the outputs."""
    import zmq

    ports = dict(zip(("image", "thruster", "telemetry"), free_ports(3), strict=True))
    values = {f"auv_zeromq.{name}_port": port for name, port in ports.items()}
    front_end = AuvZeromqFrontEnd(AuvZeromqFrontEnd.PARAMETERS.checked(values), _Silent(), ("auv",))
    chance, invalid = random.Random(seed), _invalid("auv_commands", seed, lambda one: len(one) == 5)
    valid = steps = answered = 0
    messages: list[bytes] = []
    last = 0
    for _ in range(count - 1):
        right = chance.random() < 0.75
        messages.append(bytes((0, *(chance.randrange(101) for _ in range(4)))) if right else next(invalid))
        valid += right
    last = chance.randrange(101)
    messages.append(bytes((0, last, 0, 0, 0)))
    valid += 1
    began_s = time.monotonic()
    with contextlib.closing(front_end), zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        front_end.open()
        pusher.connect(f"tcp://127.0.0.1:{ports['thruster']}")
        sender = threading.Thread(target=lambda: [pusher.send(one) for one in messages], daemon=True)
        sender.start()
        counters = front_end.counters
        kinds = ("commands", "wrong_length", "unknown_id", "multipart", "refused_commands")
        counted, end_s = 0, time.monotonic() + _TIMEOUT_S
        outputs: list[int] | None = None
        while counted < count and time.monotonic() < end_s:
            outputs = front_end.exchange(0, _snapshot(steps))
            steps += 1
            answered += outputs is not None
            if (now := sum(counters[kind] for kind in kinds)) != counted:
                counted, end_s = now, time.monotonic() + _TIMEOUT_S
        sender.join(_TIMEOUT_S)
        # Full power is 500 us from the centre.
        effective = counters["commands"] - (outputs is None or outputs[0] != 1500 + 5 * last)
        return Passed(count, valid, effective, counted, steps, answered, time.monotonic() - began_s)


def px4(count: int, seed: int = 1) -> Passed:
    """Outputs of a PX4: each valid message must give a step with its values, whatever precedes it in the stream."""
    front_end = Px4FrontEnd(Px4FrontEnd.PARAMETERS.checked({"px4.port": free_ports(1)[0]}), _Silent())
    chance, invalid = random.Random(seed), _invalid("px4_frames", seed, _has_px4_frame)
    counters, began_s = front_end.counters, time.monotonic()
    valid = effective = sent = counted = steps = taken = 0
    with contextlib.closing(front_end):
        front_end.open()
        with socket.create_connection(("127.0.0.1", int(str(front_end.values["px4.port"])))) as program:
            program.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            program.setblocking(False)
            program.sendall(_px4_frame(Heartbeat(0, AUTOPILOT_PX4)))

            def taken_step(shown: Snapshot, expected: int) -> bool:
                """Answer a snapshot; return whether the step has the outputs of the answer."""
                answer = front_end.exchange(0, shown)
                controls = (1e-3 * (expected - 1000),) * 16
                program.sendall(_px4_frame(HilActuatorControls(shown.time_ns // 1000, controls, 1, 1)))
                end_s = time.monotonic() + _TIMEOUT_S
                while answer is None and time.monotonic() < end_s:
                    answer = front_end.exchange(0, shown)
                _drain(program)
                return answer == [expected] * 14

            while not counters["steps"]:
                taken_step(_snapshot(taken), 1000)
                taken += 1
            before = counters["steps"]
            while sent < count:
                shown = _snapshot(taken)
                while sent < count and chance.random() < 0.25:
                    faults = sum(counters[name] for name in FAULTS)
                    # The zeros complete a message that has lost its end.
                    program.sendall(next(invalid) + bytes(LARGEST_FRAME))
                    sent += 1
                    end_s = time.monotonic() + _TIMEOUT_S
                    while sum(counters[name] for name in FAULTS) == faults and time.monotonic() < end_s:
                        front_end.exchange(0, shown)
                    counted += sum(counters[name] for name in FAULTS) > faults
                    while not front_end.links[0].peer.is_idle:
                        front_end.exchange(0, shown)
                if sent < count:
                    effective += taken_step(shown, 1000 + chance.randrange(1001))
                    sent, valid, steps, taken = sent + 1, valid + 1, steps + 1, taken + 1
            answered = counters["steps"] - before
    return Passed(count, valid, effective, counted + answered, steps, answered, time.monotonic() - began_s)


def _px4_frame(message: Any) -> bytes:
    return Mavlink2.encode(PX4_LAYOUTS, Frame(message, 0, 1, 1))


def _has_px4_frame(data: bytes) -> bool:
    return any(True for _ in FrameReader(Mavlink2, PX4_LAYOUTS).frames(data + bytes(LARGEST_FRAME)))


PROTOCOLS: dict[str, Callable[[int], Passed]] = {
    "ardupilot": ardupilot,
    "px4": px4,
    "uthere": uthere,
    "auv_zeromq": auv_zeromq,
}
"""Runs by name of the front-end."""
