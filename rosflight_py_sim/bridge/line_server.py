"""TCP port for lines of text: bounded in connections, line length and memory, without blocking."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator

from rosflight_py_sim.bridge.peers import Address, address_text

MOST_CONNECTIONS = 64
LONGEST_LINE = 8192
"""Bytes; longer lines are dropped."""
LARGEST_BACKLOG = 1 << 18
"""Bytes that wait for a client to read them; further lines to it are dropped."""

# Bytes read from a connection in its turn.
_CHUNK = 4096
_MOST_ACCEPTED = 8


class _Connection:
    """One connection, and its incomplete input and output."""

    def __init__(self, peer: socket.socket, address: Address) -> None:
        self.client = address_text(address)
        self.socket = peer
        self.ended = False
        self._received = b""
        self._is_dropping = False
        self._unsent = bytearray()
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # So that a client whose machine is gone does not keep its place.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def read(self) -> tuple[list[bytes], int]:
        """Complete lines received, and the number of lines that were too long."""
        try:
            chunk = self.socket.recv(_CHUNK)
        except BlockingIOError:
            return [], 0
        except OSError:
            chunk = b""
        if not chunk:
            self.ended = True
            chunk = b"\n"
        *lines, self._received = (self._received + chunk).split(b"\n")
        too_long = 0
        if lines and self._is_dropping:
            self._is_dropping, lines = False, lines[1:]
        kept = [line for line in lines if len(line) <= LONGEST_LINE]
        too_long += len(lines) - len(kept)
        if len(self._received) > LONGEST_LINE:
            too_long += not self._is_dropping
            self._is_dropping, self._received = True, b""
        return kept, too_long

    def send(self, line: bytes) -> bool:
        """Send a line as soon as possible; return whether there was room for it."""
        if len(self._unsent) + len(line) > LARGEST_BACKLOG:
            return False
        self._unsent += line
        self.flush()
        return True

    @property
    def backlog(self) -> int:
        """Bytes that wait for the client to read them."""
        return len(self._unsent)

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


class LineServer:
    """Accepts connections, yields lines in turn, and sends lines; a client is named by its address and port."""

    def __init__(self, own: Address, on_dropped: Callable[[str, str, int], None]) -> None:
        """Listen; `on_dropped` receives the kind (too_long or too_many_connections), a text and a number.

        Raises:
            OSError: the port cannot be bound.
        """
        self._on_dropped = on_dropped
        self._connections: dict[int, _Connection] = {}
        self._of_client: dict[str, _Connection] = {}
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(own)
            self._listener.listen(_MOST_ACCEPTED)
        except OSError:
            self._listener.close()
            raise
        self._listener.setblocking(False)
        self._poll = select.epoll()
        self._poll.register(self._listener, select.EPOLLIN)

    def close(self) -> None:
        """Close the port and all connections."""
        self._poll.close()
        self._listener.close()
        for one in self._connections.values():
            one.socket.close()
        self._connections.clear()
        self._of_client.clear()

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._connections)

    @property
    def backlog(self) -> int:
        """Bytes that wait for clients to read them."""
        return sum(one.backlog for one in self._connections.values())

    def __contains__(self, client: str) -> bool:
        return client in self._of_client

    def send(self, client: str, text: str) -> bool:
        """Send a line to a connected client; return whether there was room for it."""
        return self._of_client[client].send(text.encode("ascii") + b"\n")

    def lines(self, may_read: Callable[[], bool]) -> Iterator[tuple[bytes, str]]:
        """Received lines with their clients, each connection in turn, while `may_read` returns true."""
        ready = {fileno for fileno, _ in self._poll.poll(0)}
        if self._listener.fileno() in ready:
            self._accept()
        for fileno in [fileno for fileno in self._connections if fileno in ready]:
            if not may_read():
                return
            # Last in the next turn.
            one = self._connections[fileno] = self._connections.pop(fileno)
            lines, too_long = one.read()
            if too_long:
                self._on_dropped("too_long", f"line of more than {LONGEST_LINE} bytes from {one.client}", too_long)
            for line in lines:
                if line.strip():
                    yield line.rstrip(b"\r"), one.client

    def drop_ended(self) -> list[str]:
        """Close the connections that have ended, and return their clients; send to the others what waits."""
        dropped = []
        for fileno, one in list(self._connections.items()):
            one.flush()
            if one.ended:
                self._poll.unregister(fileno)
                one.socket.close()
                del self._connections[fileno], self._of_client[one.client]
                dropped.append(one.client)
        return dropped

    def _accept(self) -> None:
        for _ in range(_MOST_ACCEPTED):
            try:
                peer, address = self._listener.accept()
            except OSError:
                return
            one = _Connection(peer, address)
            if len(self._connections) >= MOST_CONNECTIONS:
                text = f"{MOST_CONNECTIONS} other connections are open; close one of them"
                self._on_dropped("too_many_connections", f"{one.client} refused: {text}", 1)
                one.send(f"error({text})\n".encode())
                peer.close()
                continue
            self._connections[peer.fileno()] = self._of_client[one.client] = one
            self._poll.register(peer, select.EPOLLIN)
