"""Connection of one PX4: the first that sends a message of the protocol; others are refused while it is connected."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

from rosflight_py_sim.bridge.brief_wait import BriefWait
from rosflight_py_sim.bridge.incidents import Incidents
from rosflight_py_sim.bridge.peers import Address, AllowedPeers, address_text
from rosflight_py_sim.bridge.stream_server import Connection, StreamServer
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.protocols.mavlink.frames import FrameReader, Mavlink2
from rosflight_py_sim.protocols.px4_simulator.dialect import LAYOUTS

# Bytes that wait for a PX4 that does not read, and bytes without a message after which a connection is refused.
LARGEST_BACKLOG = 1 << 18
MOST_STRAY = 1 << 12

# Interval at which other connections are served while PX4 sends, s.
_OTHERS_EVERY_S = 0.02

# Time after which a refused connection is no longer reported.
_REFUSED_S = 2.0

FAULTS = ("unknown_message", "wrong_length", "wrong_checksum", "unsupported_flags", "stray_bytes")
"""Counters of what is not a message of the protocol; see `FrameReader`."""


class _Px4Connection(Connection):
    """A connection, and the messages in its bytes.

    Attributes:
        reader: finds the messages.
        received: number of bytes received.
        address: address and port of the other side.
    """

    def __init__(self, peer: socket.socket, address: Address) -> None:
        super().__init__(peer, address)
        self.address = address
        self.reader = FrameReader(Mavlink2, LAYOUTS)
        self.received = 0
        self._unread = b""
        self._brief_wait = BriefWait([peer.fileno()])

    def receive(self) -> bytes:
        """Bytes that were put back, or have arrived; empty if there are none or the connection has ended."""
        if not self.has_unread:
            return super().receive()
        data, self._unread, self.has_unread = self._unread, b"", False
        return data

    def receive_into(self, buffer: memoryview) -> int:
        """Wait for bytes, and return their number; 0 after a `BriefWait`, or if the connection has ended."""
        try:
            try:
                return self.socket.recv_into(buffer)
            except BlockingIOError:
                return self.socket.recv_into(buffer) if self._brief_wait.is_readable_soon() else 0
        except OSError:
            return 0

    def put_back(self, data: bytes) -> None:
        """Let `receive` return these bytes first."""
        self._unread, self.has_unread = data, True


class Px4Peer:
    """TCP server for one PX4.

    The connection that first sends a message becomes PX4's. Until it ends, all others are refused; a PX4 does not try
    again after that. A connection that sends something else is refused, too.

    Attributes:
        own: address on which connections are expected.
        connections: number of connections so far that were PX4's.
    """

    def __init__(self, own: Address, allowed: AllowedPeers, incidents: Incidents) -> None:
        """`open` opens the port."""
        self.own = own
        self.connections = 0
        self._allowed, self._incidents = allowed, incidents
        self._server: StreamServer[_Px4Connection] | None = None
        self._px4: _Px4Connection | None = None
        self._refused: tuple[str, float] | None = None
        self._others_due_s = 0.0

    @property
    def is_connected(self) -> bool:
        """Whether a PX4 is connected."""
        return self._px4 is not None

    @property
    def is_contacted(self) -> bool:
        """Whether a PX4 has connected, or a connection waits to be read."""
        return self.connections > 0 or not self.is_idle

    @property
    def is_idle(self) -> bool:
        """Whether no connection waits to be accepted or read."""
        return self._server is None or self._server.is_idle

    @property
    def refused(self) -> str:
        """Address of another PX4 that was refused a moment ago; empty if none."""
        if self._refused is None or time.monotonic() - self._refused[1] > _REFUSED_S:
            return ""
        return self._refused[0]

    def open(self) -> None:
        """Listen.

        Raises:
            ParameterError: the address cannot be used.
        """
        try:
            self._server = StreamServer(self.own, _Px4Connection, self._count_refused)
        except OSError as error:
            raise ParameterError(
                f"parameters 'px4.address' and 'px4.port': {address_text(self.own)} given, which cannot be used: "
                f"{error.strerror}; allowed: a local address and a free port"
            ) from error

    def close(self) -> None:
        """Close the port and all connections; may be called again, and without `open`."""
        if self._server is not None:
            self._server.close()
            self._server = self._px4 = None

    def filenos(self) -> list[int]:
        """File descriptor that is readable while there is something to serve."""
        assert self._server is not None
        return [self._server.fileno()]

    def messages(self) -> Iterator[Any]:
        """Messages of the PX4, of a bounded number of bytes; a connection may begin or end meanwhile."""
        px4, now_s = self._px4, time.monotonic()
        if px4 is not None and now_s < self._others_due_s and not px4.backlog and (data := px4.receive()):
            yield from self._messages_in(px4, data)
            return
        self._others_due_s = now_s + _OTHERS_EVERY_S
        server = self._server
        assert server is not None
        for one in server.turns():
            if one.ended:
                continue
            if self._px4 is not None and self._px4 is not one:
                # A PX4 that restarts while the simulation is paused ends one connection and begins another.
                if not self._px4.is_closed:
                    self._refuse(one, "another PX4 is connected")
                    continue
                self._end()
            if one.address not in self._allowed:
                self._incidents.count_of(
                    one.address[0], "not_allowed", "%s:%s is not in px4.allowed_peers", *one.address
                )
                one.ended = True
                continue
            yield from self._messages_in(one, one.receive())
            if self._px4 is not one and one.received > MOST_STRAY:
                self._refuse(one, "it sends no messages of PX4's simulator interface")
        if self._px4 is not None and self._px4.ended:
            self._end()
        server.drop_ended()

    def _messages_in(self, one: _Px4Connection, data: bytes) -> Iterator[Any]:
        """Messages in the bytes of a connection, which becomes PX4's with the first one."""
        one.received += len(data)
        for frame in one.reader.frames(data):
            if self._px4 is None:
                self._connect(one)
            yield frame.message
        if one.reader.counters.keys() != {"frames"}:
            self._count_faults(one)

    def refuse_all(self, commander: str) -> None:
        """Refuse all connections, to a vehicle that another program commands."""
        assert self._server is not None
        for one in self._server.turns():
            one.ended = True
            text = "connection of %s refused: the vehicle is commanded by %s"
            self._incidents.count_of(one.address[0], "refused_commands", text, one.client, commander)
        self._server.drop_ended()

    @property
    def is_direct(self) -> bool:
        """Whether only PX4's connection needs to be served now, and PX4 has read everything that was sent."""
        px4 = self._px4
        return px4 is not None and not (px4.backlog or px4.has_unread) and time.monotonic() < self._others_due_s

    def receive_into(self, buffer: memoryview) -> int:
        """Wait for bytes of the PX4 for up to a millisecond, and return their number; `is_direct` must be true."""
        assert self._px4 is not None
        return self._px4.receive_into(buffer)

    def put_back(self, data: bytes) -> None:
        """Let `messages` read these bytes first."""
        assert self._px4 is not None
        if data:
            self._px4.put_back(data)

    def send(self, data: bytes | memoryview) -> None:
        """Send bytes to the PX4."""
        assert self._server is not None and self._px4 is not None
        if not self._server.send(self._px4, data, LARGEST_BACKLOG):
            self._incidents.count("unsent", "measurements not sent: PX4 at %s does not read", self._px4.client)

    def _connect(self, one: _Px4Connection) -> None:
        self._px4, one.is_established, self._refused = one, True, None
        self.connections += 1
        self._incidents.inform(f"PX4 at {one.client} is connected")

    def _end(self) -> None:
        assert self._px4 is not None
        self._incidents.inform(f"PX4 at {self._px4.client} has ended the connection")
        self._px4.ended, self._px4 = True, None

    def _refuse(self, one: _Px4Connection, reason: str) -> None:
        one.ended = True
        self._refused = one.client, time.monotonic()
        self._count_refused(one, reason)

    def _count_refused(self, one: _Px4Connection, reason: str) -> None:
        text = "connection of %s refused: %s"
        self._incidents.count_of((one.address[0], reason), "refused_connections", text, one.client, reason)

    def _count_faults(self, one: _Px4Connection) -> None:
        counted = one.reader.counters
        for fault in FAULTS:
            if times := counted.pop(fault, 0):
                text = "%s sent bytes that are not messages of PX4's simulator interface: %s"
                self._incidents.counters[fault] += times
                self._incidents.warn_of(one.address[0], fault, text, one.client, fault)
