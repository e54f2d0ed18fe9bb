"""UDP port with one socket connected to the peer and one shared by all other senders."""

from __future__ import annotations

import os
import select
import socket

from rosflight_py_sim.bridge.peers import Address, bind

_LONGEST_DATAGRAM = 2048

# Large enough that frames repeated while the simulation is paused do not displace the first one.
_RECEIVE_BUFFER = 1 << 20


class PeerSockets:
    """Two sockets on one port: one connected to the peer, one for all other senders.

    The kernel delivers a datagram to the socket that is connected to its sender. Datagrams from other senders can
    therefore neither displace nor delay those of the peer.
    """

    def __init__(self, own: Address) -> None:
        """Bind the port.

        Raises:
            OSError: the port cannot be bound.
        """
        self._own = own
        # Unbound, so it receives nothing until there is a peer.
        self._connected = _udp_socket()
        self._shared = _udp_socket()
        self._shared.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        try:
            bind(self._shared, own)
        except OSError:
            self.close()
            raise
        self._poll = select.poll()
        for fileno in self.filenos():
            self._poll.register(fileno, select.POLLIN)

    def close(self) -> None:
        """Close both sockets."""
        self._shared.close()
        self._connected.close()

    def filenos(self) -> list[int]:
        """File descriptors of both sockets; they never change."""
        return [self._shared.fileno(), self._connected.fileno()]

    def unread(self) -> tuple[bool, bool]:
        """Whether there is a datagram from the peer, and one from another sender; faster than to read in vain."""
        ready = [fileno for fileno, _ in self._poll.poll(0)]
        return self._connected.fileno() in ready, self._shared.fileno() in ready

    def connect(self, peer: Address) -> None:
        """Connect to this peer, replacing any previous one."""
        with _udp_socket() as fresh:
            for one in (self._shared, fresh):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bind(fresh, self._own)
            fresh.connect(peer)
            # No other process may bind the port.
            self._shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            # Keeps the file descriptor valid for pollers.
            os.dup2(fresh.fileno(), self._connected.fileno(), inheritable=False)

    def from_peer(self) -> bytes | None:
        """Next datagram from the peer; None if there is none."""
        try:
            return self._connected.recv(_LONGEST_DATAGRAM)
        # ConnectionRefusedError: the last datagram sent reached a closed port.
        except (BlockingIOError, ConnectionRefusedError):
            return None

    def from_others(self) -> tuple[bytes, Address] | None:
        """Next datagram from another sender, or from the peer before `connect`, with its address."""
        try:
            return self._shared.recvfrom(_LONGEST_DATAGRAM)
        except BlockingIOError:
            return None

    def send(self, datagram: bytes) -> None:
        """Send a datagram to the peer.

        Raises:
            OSError: the datagram cannot be sent.
        """
        self._connected.send(datagram)


def _udp_socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
