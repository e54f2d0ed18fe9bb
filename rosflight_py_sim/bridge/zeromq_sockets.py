"""Non-blocking ZeroMQ sockets with bounded queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosflight_py_sim.parameters import ParameterError, Values, number

if TYPE_CHECKING:
    import zmq

# Limits of messages read in one call and of queued messages: a flood remains at its sender and does not delay the step.
_MOST_FRAMES = 256

# Greatest size of a message, bytes; ZeroMQ disconnects the sender of a larger one.
_LONGEST_FRAME = 1 << 20


class Publisher:
    """PUB socket; slow subscribers miss messages."""

    def __init__(self, socket: zmq.Socket[bytes], no_wait: int) -> None:
        self._socket = socket
        self._no_wait = no_wait

    def send(self, frames: list[bytes]) -> None:
        """Send a multipart message."""
        self._socket.send_multipart(frames, self._no_wait)


class Puller:
    """PULL socket; messages arrive in order."""

    def __init__(self, socket: zmq.Socket[bytes], no_wait: int, more: int, again: type[Exception]) -> None:
        self._socket = socket
        self.fileno = socket.fileno()
        self._no_wait, self._more, self._again = no_wait, more, again
        self._in_multipart = False

    def messages(self) -> Iterator[bytes | None]:
        """Queued messages; None for a multipart one. Yields a bounded number; call again for the rest."""
        socket, no_wait, again = self._socket, self._no_wait, self._again
        for _ in range(_MOST_FRAMES):
            try:
                frame = socket.recv(no_wait)
            except again:
                return
            more = bool(socket.getsockopt(self._more))
            if not more:
                yield None if self._in_multipart else frame
            self._in_multipart = more


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

    def publisher(self, name: str, held: int) -> Publisher:
        """PUB socket with a queue of `held` messages per subscriber.

        Raises:
            ParameterError: the address cannot be used.
        """
        zmq = self._zmq
        return Publisher(self._bound(zmq.PUB, name, zmq.SNDHWM, held), zmq.NOBLOCK)

    def puller(self, name: str) -> Puller:
        """A PULL socket.

        Raises:
            ParameterError: the address cannot be used.
        """
        zmq = self._zmq
        return Puller(self._bound(zmq.PULL, name, zmq.RCVHWM, _MOST_FRAMES), zmq.NOBLOCK, zmq.RCVMORE, zmq.Again)

    def close(self) -> None:
        """Close all sockets; unsent messages are dropped."""
        self._context.destroy(linger=0)

    def _bound(self, kind: int, name: str, limit: int, held: int) -> zmq.Socket[bytes]:
        zmq = self._zmq
        address = str(self._values[f"{self._prefix}.address"])
        port = int(number(self._values, f"{self._prefix}.{name}_port"))
        made = self._context.socket(kind)
        made.setsockopt(limit, held)
        made.setsockopt(zmq.MAXMSGSIZE, _LONGEST_FRAME)
        try:
            made.bind(f"tcp://{address}:{port}")
        except zmq.ZMQError as error:
            raise ParameterError(
                f"parameters '{self._prefix}.address' and '{self._prefix}.{name}_port': {address}:{port} given, which "
                f"cannot be used: {error.strerror}; allowed: a local address and a free port"
            ) from error
        return made
