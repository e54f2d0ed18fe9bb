"""TCP port for lines of text: bounded in connections, line length and memory, without blocking."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

from rosflight_py_sim.bridge.peers import Address
from rosflight_py_sim.bridge.stream_server import Connection, StreamServer

LONGEST_LINE = 8192
"""Bytes; longer lines are dropped."""
LARGEST_BACKLOG = 1 << 18
"""Bytes that wait for a client to read them; further lines to it are dropped."""


class _LineConnection(Connection):
    """A connection that splits its input into lines; it is established by its first line."""

    def __init__(self, peer: socket.socket, address: Address) -> None:
        super().__init__(peer, address)
        self._received = b""
        self._is_dropping = False

    def read(self) -> tuple[list[bytes], int]:
        """Complete lines received, and the number of lines that were too long."""
        chunk = self.receive()
        if self.ended:
            chunk = b"\n"
        *lines, self._received = (self._received + chunk).split(b"\n")
        self.is_established |= bool(lines)
        too_long = 0
        if lines and self._is_dropping:
            self._is_dropping, lines = False, lines[1:]
        kept = [line for line in lines if len(line) <= LONGEST_LINE]
        too_long += len(lines) - len(kept)
        if len(self._received) > LONGEST_LINE:
            too_long += not self._is_dropping
            self._is_dropping, self._received = True, b""
        return kept, too_long


class LineServer:
    """Accepts connections, yields lines in turn, and sends lines; a client is named by its address and port."""

    def __init__(self, own: Address, on_dropped: Callable[[str, str, int], None]) -> None:
        """Listen; `on_dropped` receives the kind (too_long or too_many_connections), a text and a number.

        Raises:
            OSError: the port cannot be bound.
        """
        self._on_dropped = on_dropped
        self._of_client: dict[str, _LineConnection] = {}
        self._server = StreamServer(own, _LineConnection, self._refuse)

    def close(self) -> None:
        """Close the port and all connections."""
        self._server.close()
        self._of_client.clear()

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._server.connections)

    @property
    def backlog(self) -> int:
        """Bytes that wait for clients to read them."""
        return sum(one.backlog for one in self._server.connections)

    def __contains__(self, client: str) -> bool:
        return client in self._of_client

    def send(self, client: str, line: bytes) -> bool:
        """Send a line to a client that has sent one; return whether there was room for it."""
        return self._server.send(self._of_client[client], line + b"\n", LARGEST_BACKLOG)

    def lines(self, may_read: Callable[[], bool]) -> Iterator[tuple[bytes, str]]:
        """Received lines with their clients, each connection in turn, while `may_read` returns true."""
        for one in self._server.turns():
            if not may_read():
                return
            lines, too_long = one.read()
            if too_long:
                self._on_dropped("too_long", f"line of more than {LONGEST_LINE} bytes from {one.client}", too_long)
            for line in lines:
                if line.strip():
                    self._of_client[one.client] = one
                    yield line.rstrip(b"\r"), one.client

    def drop_ended(self) -> list[str]:
        """Close the connections that have ended, and return those of their clients that have sent a line."""
        ended = [one.client for one in self._server.drop_ended()]
        return [client for client in ended if self._of_client.pop(client, None) is not None]

    def _refuse(self, one: _LineConnection, reason: str) -> None:
        self._on_dropped("too_many_connections", f"{one.client} refused: {reason}", 1)
        one.send(f"error({reason})\n".encode(), LARGEST_BACKLOG)
