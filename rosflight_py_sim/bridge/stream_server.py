"""TCP port with a bounded number of connections, served in turn without blocking."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from rosflight_py_sim.bridge.peers import Address, address_text, bind

MOST_CONNECTIONS = 64
"""Greatest number of open connections of a port."""

# Bytes read from a connection in its turn, size of the kernel's receive buffer of each (bytes, which Linux doubles),
# connections accepted in a round, and connections that the kernel holds until then.
_CHUNK = 4096
_RECEIVE_BUFFER = 1 << 16
_MOST_ACCEPTED = 16
_MOST_WAITING = 128


class Connection:
    """One connection, and the bytes that wait to be sent.

    Attributes:
        client: address and port.
        socket: its socket, non-blocking.
        ended: whether it has ended; `drop_ended` then removes it.
        is_established: whether the client has used the protocol; only then does it keep its place at the limit.
        has_unread: whether it holds received input for its next turn.
    """

    def __init__(self, peer: socket.socket, address: Address) -> None:
        """Take over a connected socket."""
        self.client = address_text(address)
        self.socket = peer
        self.ended = self.is_established = self.has_unread = False
        self._unsent = bytearray()
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # So that a client whose machine is gone does not keep its place.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    @property
    def backlog(self) -> int:
        """Bytes that wait for the client to read them."""
        return len(self._unsent)

    @property
    def is_closed(self) -> bool:
        """Whether the client has closed it, and everything that it sent has been received."""
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def receive(self) -> bytes:
        """Bytes that have arrived; empty if there are none or the connection has ended."""
        try:
            chunk = self.socket.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            chunk = b""
        if not chunk:
            self.ended = True
        return chunk

    def send(self, data: bytes | memoryview, largest_backlog: int) -> bool:
        """Send as soon as possible; return whether there was room for it."""
        if len(self._unsent) + len(data) > largest_backlog:
            return False
        self._unsent += data
        self.flush()
        return True

    def flush(self) -> None:
        """Send what waits, as far as the client reads."""
        try:
            while self._unsent:
                del self._unsent[: self.socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
            self._unsent.clear()


C = TypeVar("C", bound=Connection)


class StreamServer(Generic[C]):
    """Accepts connections and yields those with input in turn.

    At the limit, a new connection replaces one whose client has not used the protocol yet, so that silent connections
    cannot block the port; if there is none, it is refused.
    """

    def __init__(
        self,
        own: Address,
        new_connection: Callable[[socket.socket, Address], C],
        on_refused: Callable[[C, str], None],
    ) -> None:
        """Listen; `on_refused` receives a connection that is about to be closed, and the reason.

        Raises:
            OSError: the port cannot be bound.
        """
        self._new_connection, self._on_refused = new_connection, on_refused
        self._connections: dict[int, C] = {}
        self._flushing: set[int] = set()
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Connections inherit the size.
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            bind(self._listener, own)
            self._listener.listen(_MOST_WAITING)
        except OSError:
            self._listener.close()
            raise
        self._listener.setblocking(False)
        self._poll = select.epoll()
        self._poll.register(self._listener, select.EPOLLIN)

    @property
    def connections(self) -> list[C]:
        """Open connections, the least recently served first."""
        return list(self._connections.values())

    def fileno(self) -> int:
        """File descriptor that is readable while there is something to serve; it never changes."""
        return self._poll.fileno()

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to serve."""
        return not self._poll.poll(0) and not any(one.has_unread for one in self._connections.values())

    def close(self) -> None:
        """Close the port and all connections."""
        self._poll.close()
        self._listener.close()
        for one in self._connections.values():
            one.socket.close()
        self._connections.clear()

    def turns(self) -> Iterator[C]:
        """Accept connections, send what waits, and yield each connection with input, least recently served first."""
        events = dict(self._poll.poll(0))
        if events.pop(self._listener.fileno(), 0):
            self._accept()
        served = [n for n, one in self._connections.items() if one.has_unread or events.get(n, 0) & ~select.EPOLLOUT]
        for fileno in self._flushing.intersection(events):
            self._flush(fileno)
        for fileno in served:
            one = self._connections[fileno] = self._connections.pop(fileno)
            yield one

    def send(self, one: C, data: bytes | memoryview, largest_backlog: int) -> bool:
        """Send as soon as possible; return whether there was room for it."""
        if not one.send(data, largest_backlog):
            return False
        fileno = one.socket.fileno()
        if one.backlog and fileno not in self._flushing:
            self._flushing.add(fileno)
            self._poll.modify(fileno, select.EPOLLIN | select.EPOLLOUT)
        return True

    def drop_ended(self) -> list[C]:
        """Close the connections that have ended, and return them."""
        ended = [one for one in self._connections.values() if one.ended]
        for one in ended:
            self._drop(one)
        return ended

    def _flush(self, fileno: int) -> None:
        one = self._connections[fileno]
        one.flush()
        if not one.backlog:
            self._flushing.discard(fileno)
            self._poll.modify(fileno, select.EPOLLIN)

    def _drop(self, one: C) -> None:
        fileno = one.socket.fileno()
        self._poll.unregister(fileno)
        self._flushing.discard(fileno)
        del self._connections[fileno]
        one.socket.close()

    def _accept(self) -> None:
        for _ in range(_MOST_ACCEPTED):
            try:
                peer, address = self._listener.accept()
            except OSError:
                return
            one = self._new_connection(peer, address)
            if len(self._connections) >= MOST_CONNECTIONS and not self._make_room():
                self._on_refused(one, f"{MOST_CONNECTIONS} other connections are open; close one of them")
                peer.close()
                continue
            self._connections[peer.fileno()] = one
            self._poll.register(peer, select.EPOLLIN)

    def _make_room(self) -> bool:
        """End a connection that has not used the protocol; return whether there was one."""
        silent = next((one for one in self._connections.values() if not one.is_established), None)
        if silent is None:
            return False
        self._on_refused(silent, f"{MOST_CONNECTIONS} connections are open, and this one has sent nothing complete")
        silent.ended = True
        self._drop(silent)
        return True
