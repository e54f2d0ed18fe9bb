"""ZeroMQ sockets that a simulation can live with: they never wait, hold little, and say which port is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosflight_py_sim.parameters import ParameterError, Values, number

if TYPE_CHECKING:
    import zmq

# Frames taken in one go, and held for us: a flood stays with its sender, and the step goes on.
_MOST_FRAMES = 256

# A sender of a longer one is cut off.
_LONGEST_FRAME = 1 << 20


class Publisher:
    """Tells whoever listens; who is too slow misses messages."""

    def __init__(self, socket: zmq.Socket[bytes], no_wait: int) -> None:
        self._socket = socket
        self._no_wait = no_wait

    def send(self, frames: list[bytes]) -> None:
        """Send a message of several frames."""
        self._socket.send_multipart(frames, self._no_wait)


class Puller:
    """Takes what senders have pushed, in the order in which it came."""

    def __init__(self, socket: zmq.Socket[bytes], no_wait: int, more: int, again: type[Exception]) -> None:
        self._socket = socket
        self.fileno = socket.fileno()
        self._no_wait, self._more, self._again = no_wait, more, again
        self._in_multipart = False

    def messages(self) -> Iterator[bytes | None]:
        """Messages that wait; None for one of several frames. After many it stops, and goes on when called again."""
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
    """Sockets bound to ports of one address, which parameters give: PREFIX.address and PREFIX.NAME_port."""

    def __init__(self, prefix: str, values: Values) -> None:
        """Start ZeroMQ.

        Raises:
            ParameterError: pyzmq is not installed.
        """
        try:
            import zmq
        except ImportError as error:
            raise ParameterError(
                f"parameter 'front_end': '{prefix}' given, which needs pyzmq, and that is not installed: "
                "pip install pyzmq"
            ) from error
        self._zmq = zmq
        self._prefix, self._values = prefix, values
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()

    def publisher(self, name: str, held: int) -> Publisher:
        """A PUB socket that holds so many messages for each subscriber.

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
        """Close all sockets; what nobody has fetched is dropped."""
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
                f"cannot be used: {error.strerror}; allowed: an address of this machine and a port that nobody uses"
            ) from error
        return made
