"""UDP port of a flight controller's MAVLink link."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rosflight_py_sim.bridge.fair_inbox import FairInbox
from rosflight_py_sim.bridge.front_end_interface import Logger
from rosflight_py_sim.bridge.peers import Address, address_text
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.failures.failure import DOWNLINK, UPLINK
from rosflight_py_sim.failures.packet_link import PacketLink
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import BOARD_COMPONENT
from rosflight_py_sim.protocols.rosflight_mavlink.frames import Frame, FrameReader, encode_frame

MOST_PROGRAMS = 8
"""Greatest number of programs on one link, besides the peer."""

SILENT_S = 10.0
"""System time after which a program that has sent nothing no longer receives, s."""

# Bytes that may be read per second of simulated time: a command at 400 Hz takes 72,000 with what a datagram costs.
_GRANTED_HZ = 1 << 17

MAVLINK_PARAMETERS = ParameterTable(
    Parameter(
        "mavlink.port",
        0,
        "UDP port on which the flight controller speaks ROSflight's MAVLink dialect (docs/mavlink.md); ROSflight's own "
        "simulator uses 14525; 0: none",
        minimum=0,
        maximum=65535,
        read_only=True,
    ),
    Parameter(
        "mavlink.address",
        "127.0.0.1",
        "Local address of that port; 0.0.0.0: all addresses",
        read_only=True,
    ),
    Parameter(
        "mavlink.peer_address",
        "127.0.0.1",
        "Numeric address of the program that receives the messages even before it has sent one",
        read_only=True,
    ),
    Parameter(
        "mavlink.peer_port",
        14520,
        "UDP port of that program; 14520 is that of ROSflight's `rosflight_io`; 0: no such program",
        minimum=0,
        maximum=65535,
        read_only=True,
    ),
)

COUNTERS = (
    "frames",
    "unknown_message",
    "wrong_length",
    "wrong_checksum",
    "stray_bytes",
    "too_many_programs",
    "too_long",
    "flooding",
    "sent",
    "unsent",
)
"""Counters of a port."""


class MavlinkPort:
    """Receives messages from programs, and sends each message to all of them.

    A program takes part from its first valid frame on, until it has sent none for SILENT_S; the peer always receives.
    Failures of the link affect each datagram received, and each message before it is sent to the programs. Each call of
    `messages` reads a bounded number of bytes, and a fair share of them from each program (see FairInbox).

    Attributes:
        own: address of the port.
        counters: number of frames, of what was not a frame (see FrameReader), and of datagrams dropped or not sent.
    """

    def __init__(self, values: Values, logger: Logger) -> None:
        """Open the port that `values` of MAVLINK_PARAMETERS name.

        Raises:
            ParameterError: the port cannot be opened, or the peer is the port itself.
        """
        self.counters: Counter[str] = Counter()
        self._warn = RareWarnings(logger)
        self.own = str(values["mavlink.address"]), int(str(values["mavlink.port"]))
        peer = str(values["mavlink.peer_address"]), int(str(values["mavlink.peer_port"]))
        self._peer = {peer: 0.0} if peer[1] else {}
        if peer == self.own:
            raise ParameterError(
                f"parameters 'mavlink.peer_address' and 'mavlink.peer_port': {address_text(peer)} given, which is the "
                "flight controller's own port; allowed: another port, or 0 for none"
            )
        self._sequence = 0
        self._time_ns = 0
        self._uplink: PacketLink[Address] = PacketLink(UPLINK)
        self._downlink: PacketLink[None] = PacketLink(DOWNLINK)
        # Of each program, and the system time of its last frame.
        self._readers: dict[Address, FrameReader] = {}
        self._last_s: dict[Address, float] = {}
        try:
            self._inbox = FairInbox(self.own, self._count)
        except OSError as error:
            raise ParameterError(
                f"parameters 'mavlink.address' and 'mavlink.port': {address_text(self.own)} given, which cannot be "
                f"used: {error.strerror}; allowed: a local address and a free port"
            ) from error

    def close(self) -> None:
        """Close the port."""
        self._inbox.close()

    def messages(self) -> Iterator[Any]:
        """Messages that have arrived, as many as the rate limit permits."""
        now_s = time.monotonic()
        for datagram, sender in self._uplink.passed(self._time_ns, self._inbox.datagrams()):
            reader = self._readers.get(sender) or FrameReader(self.counters)
            for frame in reader.frames(datagram):
                if sender not in self._readers and not self._admit(sender, reader, now_s):
                    break
                self._last_s[sender] = now_s
                yield frame.message
        if self._last_s and now_s - min(self._last_s.values()) > SILENT_S:
            self._forget_silent(now_s)

    def time_passed(self, time_ns: int) -> None:
        """Grant the bytes that may be read in this time, and send frames whose delay on a late link is over."""
        self._inbox.grant(_GRANTED_HZ * max(time_ns - self._time_ns, 0) / NANOSECONDS)
        self._time_ns = time_ns
        for frame, _ in self._downlink.passed(time_ns):
            self._transmit(frame)

    def fail(self, signals: Signals) -> None:
        """Apply exactly these failures of the link from now on."""
        for direction in (self._uplink, self._downlink):
            direction.fail([signals])

    def send(self, message: Any, system: int) -> None:
        """Send a message of a system's flight controller."""
        frame = encode_frame(Frame(message, self._sequence, system, BOARD_COMPONENT))
        self._sequence = (self._sequence + 1) % 256
        for sent, _ in self._downlink.passed(self._time_ns, [(frame, None)]):
            self._transmit(sent)

    def _transmit(self, frame: bytes) -> None:
        for address in {**self._peer, **self._last_s}:
            self.counters["sent" if self._inbox.send(frame, address) else "unsent"] += 1

    def _admit(self, sender: Address, reader: FrameReader, now_s: float) -> bool:
        """Let a program take part; return whether there is room."""
        self._forget_silent(now_s)
        if len(self._readers) >= MOST_PROGRAMS:
            text = f"message from {address_text(sender)} ignored: {MOST_PROGRAMS} other programs use the MAVLink link"
            self._count("too_many_programs", text)
            return False
        self._readers[sender] = reader
        self._inbox.welcome(sender)
        return True

    def _forget_silent(self, now_s: float) -> None:
        for sender, last_s in list(self._last_s.items()):
            if now_s - last_s > SILENT_S:
                del self._last_s[sender], self._readers[sender]

    def _count(self, kind: str, text: str, times: int = 1) -> None:
        self.counters[kind] += times
        self._warn(kind, text, self.counters[kind])
