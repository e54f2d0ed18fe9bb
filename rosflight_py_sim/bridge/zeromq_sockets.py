"""Non-blocking ZeroMQ sockets with bounded queues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING

from rosflight_py_sim.parameters import ParameterError, Values, number

if TYPE_CHECKING:
    import zmq

# Message parts queued for reading. ZeroMQ stops receiving beyond this number, and a faster sender has to wait.
_PARTS_HELD = 256

# Message parts read in a call in any case. Beyond this number, reading and processing take at most this share of the
# time since the previous call, and not more than the longest time after a pause (s).
_LEAST_PARTS = 16
_SHARE = 0.1
_LONGEST_S = 0.01

# Bytes queued for each subscriber, but one message in any case, and the size of the kernel's buffer (bytes, which Linux
# doubles): a subscriber that does not read costs less than a megabyte.
_BYTES_HELD = 1 << 19
_SEND_BUFFER = 1 << 17

# First byte of the messages by which an XPUB socket reports subscriptions.
_UNSUBSCRIBED, _SUBSCRIBED = _CHANGES = b"\0\1"

# Greatest size of a message part, bytes; ZeroMQ disconnects the sender of a larger one.
_LONGEST_PART = 1 << 20


class _Reader:
    """Reads a socket for a bounded share of the time."""

    def __init__(self, socket: zmq.Socket[bytes], no_wait: int, again: type[Exception]) -> None:
        self._socket = socket
        self._no_wait, self._again = no_wait, again
        self._in_multipart = False
        self._ended_s = time.monotonic()

    def messages(self) -> Iterator[bytes | None]:
        """Queued messages; None for a multipart one.

        Yields as many as a share of the system time since the previous call allows, which includes the time that the
        caller takes for them; call again for the rest.
        """
        socket, no_wait, again = self._socket, self._no_wait, self._again
        began_s = time.monotonic()
        end_s = began_s + min(_SHARE * (began_s - self._ended_s), _LONGEST_S)
        for parts in count(1):
            try:
                # A part knows whether more follow; asking the socket takes twice as long as reading.
                part = socket.recv(no_wait, copy=False)
            except again:
                break
            if not part.more:
                yield None if self._in_multipart else part.bytes
            self._in_multipart = part.more
            if parts % _LEAST_PARTS == 0 and time.monotonic() >= end_s:
                break
        self._ended_s = time.monotonic()


class Publisher:
    """PUB or XPUB socket; slow subscribers miss messages."""

    def __init__(self, socket: zmq.Socket[bytes], held: int, zmq: ModuleType) -> None:
        """Hold at most `held` messages for each subscriber, and fewer if they are large."""
        self._socket, self._zmq = socket, zmq
        self._held = self._most_held = held
        self._changes = _Reader(socket, zmq.NOBLOCK, zmq.Again)
        self._topics: set[bytes] = set()
        socket.setsockopt(zmq.SNDHWM, held)
        socket.setsockopt(zmq.SNDBUF, _SEND_BUFFER)

    def has_subscriber(self, topic: bytes) -> bool:
        """Whether a client is subscribed to messages whose first part is `topic`, a single byte; XPUB only."""
        for change in self._changes.messages():
            if not change or change[0] not in _CHANGES or len(change) > 2:
                continue
            self._topics.discard(change[1:])
            if change[0] == _SUBSCRIBED:
                self._topics.add(change[1:])
        return topic in self._topics or b"" in self._topics

    def send(self, parts: list[bytes]) -> None:
        """Send a multipart message."""
        size = sum(map(len, parts))
        held = min(self._most_held, max(_BYTES_HELD // size, 1))
        if held != self._held:
            self._held = held
            self._socket.setsockopt(self._zmq.SNDHWM, held)
        self._socket.send_multipart(parts, self._zmq.NOBLOCK)


class Puller(_Reader):
    """PULL socket; messages arrive in order."""

    def __init__(self, socket: zmq.Socket[bytes], zmq: ModuleType) -> None:
        super().__init__(socket, zmq.NOBLOCK, zmq.Again)
        socket.setsockopt(zmq.RCVHWM, _PARTS_HELD)
        self.fileno = socket.fileno()


class ZeroMqSockets:
    """Sockets bound to ports of one address, from the parameters PREFIX.address and PREFIX.NAME_port."""

    def __init__(self, prefix: str, values: Values) -> None:
        """Start ZeroMQ.

        Raises:
            ParameterError: pyzmq is not installed.
        """
        try:
            import zmq
        except ImportError as error:
            raise ParameterError(
                f"parameter 'front_ends': '{prefix}' given, which needs pyzmq; install it: pip install pyzmq"
            ) from error
        self._zmq = zmq
        self._prefix, self._values = prefix, values
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()

    def publisher(self, name: str, held: int, *, watched: bool = False) -> Publisher:
        """PUB socket with a queue of at most `held` messages per subscriber; XPUB if its subscribers are `watched`.

        Raises:
            ParameterError: the address cannot be used.
        """
        zmq = self._zmq
        made = self._context.socket(zmq.XPUB if watched else zmq.PUB)
        publisher = Publisher(made, held, zmq)
        self._bind(made, name)
        return publisher

    def puller(self, name: str) -> Puller:
        """A PULL socket.

        Raises:
            ParameterError: the address cannot be used.
        """
        zmq = self._zmq
        made = self._context.socket(zmq.PULL)
        puller = Puller(made, zmq)
        self._bind(made, name)
        return puller

    def close(self) -> None:
        """Close all sockets; unsent messages are dropped."""
        self._context.destroy(linger=0)

    def _bind(self, made: zmq.Socket[bytes], name: str) -> None:
        zmq = self._zmq
        address = str(self._values[f"{self._prefix}.address"])
        port = int(number(self._values, f"{self._prefix}.{name}_port"))
        made.setsockopt(zmq.MAXMSGSIZE, _LONGEST_PART)
        try:
            made.bind(f"tcp://{address}:{port}")
        except zmq.ZMQError as error:
            raise ParameterError(
                f"parameters '{self._prefix}.address' and '{self._prefix}.{name}_port': {address}:{port} given, which "
                f"cannot be used: {error.strerror}; allowed: a local address and a free port"
            ) from error
