"""A UDP port on which one partner is talked to while anybody may call."""

from __future__ import annotations

import os
import socket

from rosflight_py_sim.bridge.peers import Address

_LONGEST_DATAGRAM = 2048

# A pause of the simulation lets repetitions pile up, and garbage must not push out the first frame among it.
_RECEIVE_BUFFER = 1 << 20


class PartnerSockets:
    """Two sockets on one port: one connected to the partner, and one for what all others send.

    The kernel gives a datagram to the socket that is connected to its sender. So whatever others send, and however
    much, it cannot push the partner's datagrams out of a buffer, nor make them wait.
    """

    def __init__(self, own: Address) -> None:
        """Bind the port.

        Raises:
            OSError: that cannot be.
        """
        self._own = own
        # Without a port, nothing reaches it until there is a partner.
        self._conversation = _udp_socket()
        self._listener = _udp_socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        try:
            self._listener.bind(own)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close both."""
        self._listener.close()
        self._conversation.close()

    def filenos(self) -> list[int]:
        """Descriptors of both; they stay the same."""
        return [self._listener.fileno(), self._conversation.fileno()]

    def converse_with(self, partner: Address) -> None:
        """Have this partner from now on."""
        with _udp_socket() as fresh:
            for one in (self._listener, fresh):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            fresh.bind(self._own)
            fresh.connect(partner)
            # Nobody else is to have this port, too.
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            # Whoever watches the descriptor goes on with it.
            os.dup2(fresh.fileno(), self._conversation.fileno(), inheritable=False)

    def from_partner(self) -> bytes | None:
        """The partner's next datagram; None: there is none."""
        try:
            return self._conversation.recv(_LONGEST_DATAGRAM)
        # The second: what was sent last found nobody there.
        except (BlockingIOError, ConnectionRefusedError):
            return None

    def from_others(self) -> tuple[bytes, Address] | None:
        """The next datagram of anybody else, and whose it is; also what the partner sent before it was the partner."""
        try:
            return self._listener.recvfrom(_LONGEST_DATAGRAM)
        except BlockingIOError:
            return None

    def send(self, datagram: bytes) -> None:
        """Send something to the partner.

        Raises:
            OSError: that cannot be.
        """
        self._conversation.send(datagram)


def _udp_socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
