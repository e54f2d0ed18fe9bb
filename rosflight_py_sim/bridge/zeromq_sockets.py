"""ZeroMQ sockets PUB and PULL, bounded in connections, memory and time, without a thread.

libzmq stores each subscription for as long as its client is connected, also in XPUB's manual mode, and inserts and
removes them in the thread that sends: 20,000 subscriptions of 250 bytes cost 230 MB and, at their end, 3 s. These
sockets speak libzmq's wire protocol (`protocols/zmtp.py`) instead, and hold no more than their constants state.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.bridge.stream_server import Connection, StreamServer
from rosflight_py_sim.ground.parameters import ParameterError, Values, number
from rosflight_py_sim.protocols.zmtp import (
    GREETING,
    Decoder,
    Frame,
    ZmtpError,
    encode_message,
    pong_for,
    ready,
    refusal,
    socket_type_of,
    subscription_of,
)

OnRefused: TypeAlias = Callable[[str], None]
"""Receives a text about a connection that is closed because of its bytes or for lack of room."""

# Frames read in a call in any case. Beyond this number, reading and processing take at most this share of the time
# since the previous call, and not more than the longest time after a pause (s).
_LEAST_FRAMES = 16
_SHARE = 0.1
_LONGEST_S = 0.01

# Bytes queued for each subscriber, but one message in any case, and the size of the kernel's buffer (bytes, which Linux
# doubles): a subscriber that does not read costs less than a megabyte.
_BYTES_HELD = 1 << 19
_SEND_BUFFER = 1 << 17

# Greatest size of a frame, bytes; the sender of a larger one is disconnected.
_LONGEST_FRAME = 1 << 17

# Greatest length of a topic: the first part of each message is an id of one byte, so longer topics match no message.
_LONGEST_TOPIC = 1


class _Peer(Connection):
    """A connected socket of a client; it is established by its command READY.

    Attributes:
        decoder: splits its bytes into frames.
        topics: topics to which it is subscribed, of at most one byte.
        in_multipart: whether the next frame continues a message.
    """

    def __init__(self, peer: socket.socket, address: Address) -> None:
        super().__init__(peer, address)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        self.decoder = Decoder(_LONGEST_FRAME)
        self.topics: set[bytes] = set()
        self.in_multipart = False
        self.send(GREETING, _BYTES_HELD)


class _ZeroMqSocket:
    """A socket of one type that reads for a bounded share of the time."""

    _TYPE: str
    _PEER_TYPES: tuple[str, ...]

    def __init__(self, own: Address, on_refused: OnRefused) -> None:
        """Listen.

        Raises:
            OSError: the port cannot be bound.
        """
        self._on_refused, self._port = on_refused, own[1]
        self._server = StreamServer(own, _Peer, self._refuse)
        self._ended_s = time.monotonic()

    def fileno(self) -> int:
        """File descriptor that is readable while there is something to read or to send; it never changes."""
        return self._server.fileno()

    def close(self) -> None:
        """Close the port and all connections; unsent messages are dropped."""
        self._server.close()

    def _frames(self) -> Iterator[tuple[_Peer, Frame]]:
        """Message frames and subscription commands that may be read now, of each client in turn.

        As many as a share of the system time since the previous call allows, which includes the time that the caller
        takes for them; call again for the rest.
        """
        if self._server.is_idle:
            return
        began_s = time.monotonic()
        end_s = began_s + min(_SHARE * (began_s - self._ended_s), _LONGEST_S)
        done = 0
        for peer in self._server.turns():
            try:
                if not peer.has_unread:
                    peer.decoder.feed(peer.receive())
                peer.has_unread = True
                while (frame := peer.decoder.next_frame()) is not None:
                    if not peer.is_established:
                        self._establish(peer, frame)
                    elif pong := pong_for(frame):
                        self._server.send(peer, pong, _BYTES_HELD)
                    else:
                        yield peer, frame
                    done += 1
                    if done % _LEAST_FRAMES == 0 and time.monotonic() >= end_s:
                        break
                else:
                    peer.has_unread = False
                    done += 1
            except ZmtpError as error:
                self._refuse(peer, str(error))
                peer.ended = True
            if done >= _LEAST_FRAMES and time.monotonic() >= end_s:
                break
        self._server.drop_ended()
        self._ended_s = time.monotonic()

    def _establish(self, peer: _Peer, frame: Frame) -> None:
        given = socket_type_of(frame)
        if given not in self._PEER_TYPES:
            raise ZmtpError(f"socket type {given}; allowed: {' or '.join(self._PEER_TYPES)}")
        peer.is_established = True
        self._server.send(peer, ready(self._TYPE), _BYTES_HELD)

    def _refuse(self, peer: _Peer, reason: str) -> None:
        self._on_refused(f"connection from {peer.client} to port {self._port} closed: {reason}")
        if not peer.is_established:
            peer.send(refusal(reason), _BYTES_HELD)


class Publisher(_ZeroMqSocket):
    """PUB socket for messages whose first part is a topic of one byte; slow subscribers miss messages."""

    _TYPE = "PUB"
    _PEER_TYPES = ("SUB", "XSUB")

    def __init__(self, own: Address, on_refused: OnRefused, held: int) -> None:
        """Hold at most `held` messages for each subscriber, and fewer if they are large."""
        super().__init__(own, on_refused)
        self._held = held

    def serve(self) -> None:
        """Accept connections, read subscriptions, and send what waits."""
        for peer, frame in self._frames():
            is_whole = not (peer.in_multipart or frame.more)
            peer.in_multipart = frame.more
            change = subscription_of(frame) if is_whole else None
            if change is None or len(change[0]) > _LONGEST_TOPIC:
                continue
            topic, begins = change
            if begins:
                peer.topics.add(topic)
            else:
                peer.topics.discard(topic)

    def has_subscriber(self, topic: bytes) -> bool:
        """Whether a client is subscribed to messages whose first part is `topic`, as of the last `serve`."""
        return any(_wants(peer, topic) for peer in self._server.connections)

    def send(self, parts: list[bytes]) -> None:
        """Send a multipart message."""
        data = encode_message(parts)
        largest_backlog = max(min(self._held * len(data), _BYTES_HELD), len(data))
        for peer in self._server.connections:
            if _wants(peer, parts[0]):
                self._server.send(peer, data, largest_backlog)


class Puller(_ZeroMqSocket):
    """PULL socket; the messages of each client arrive in order."""

    _TYPE = "PULL"
    _PEER_TYPES = ("PUSH",)

    def messages(self) -> Iterator[bytes | None]:
        """Messages that may be read now; None for a multipart one."""
        for peer, frame in self._frames():
            if frame.is_command:
                continue
            if not frame.more:
                yield None if peer.in_multipart else frame.body
            peer.in_multipart = frame.more


S = TypeVar("S", bound=_ZeroMqSocket)


class ZeroMqSockets:
    """Sockets bound to ports of one address, from the parameters PREFIX.address and PREFIX.NAME_port."""

    def __init__(self, prefix: str, values: Values, on_refused: OnRefused) -> None:
        """Store the parameters."""
        self._prefix, self._values, self._on_refused = prefix, values, on_refused
        self._open: list[_ZeroMqSocket] = []

    def publisher(self, name: str, held: int) -> Publisher:
        """PUB socket with a queue of at most `held` messages per subscriber.

        Raises:
            ParameterError: the address cannot be used.
        """
        return self._opened(name, lambda own: Publisher(own, self._on_refused, held))

    def puller(self, name: str) -> Puller:
        """A PULL socket.

        Raises:
            ParameterError: the address cannot be used.
        """
        return self._opened(name, lambda own: Puller(own, self._on_refused))

    def filenos(self) -> list[int]:
        """File descriptors of all sockets."""
        return [one.fileno() for one in self._open]

    def close(self) -> None:
        """Close all sockets; unsent messages are dropped."""
        while self._open:
            self._open.pop().close()

    def _opened(self, name: str, new: Callable[[Address], S]) -> S:
        address = str(self._values[f"{self._prefix}.address"])
        port = int(number(self._values, f"{self._prefix}.{name}_port"))
        try:
            made = new((address, port))
        except OSError as error:
            raise ParameterError(
                f"parameters '{self._prefix}.address' and '{self._prefix}.{name}_port': {address}:{port} given, which "
                f"cannot be used: {error.strerror}; allowed: a local address and a free port"
            ) from error
        self._open.append(made)
        return made


def _wants(peer: _Peer, topic: bytes) -> bool:
    return topic in peer.topics or b"" in peer.topics
