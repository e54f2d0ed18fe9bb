"""A UDP port with a fair share for each sender: a flood from one sender does not displace the others."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator

from rosflight_py_sim.bridge.peers import Address, bind

LONGEST_DATAGRAM = 8192
"""Size above which datagrams are dropped, bytes; larger than any message of the protocol."""

# Linux reports with each datagram how many were dropped before it for lack of buffer space; Python has no name for the
# option.
_SO_RXQ_OVFL = 40
_DROPPED = struct.Struct("I")
_RECEIVE_BUFFER = 1 << 20

# Cost of reading a datagram in addition to its length, in bytes.
_OVERHEAD = 128

RATE = 1 << 18
"""Rate limit, bytes per second of system time. Parsing takes up to 0.7 us per byte: less than a fifth of a core."""

BURST = 1 << 14
"""Bytes that may be read at once: 11 ms of parsing."""

MOST_SENDERS = 64
"""Greatest number of senders with a separate socket."""

SILENT_S = 10.0
"""Silence (s) after which a new sender may replace one."""

# Datagrams that a new sender sent before its socket was opened are read before those on the socket, up to this number
# and for up to this time (s).
_MOST_EARLIER = 256
_EARLIER_S = 0.25


class _Socket:
    """One socket on the port: connected to one sender, or shared by all others."""

    def __init__(self, own: Address, sender: Address | None = None) -> None:
        self.sender = sender
        self.last_received_s = self.opened_s = time.monotonic()
        self._dropped = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)
        try:
            if sender is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bind(self.socket, own)
            if sender is not None:
                self.socket.connect(sender)
        except OSError:
            self.socket.close()
            raise

    def take(self) -> tuple[bytes, Address, int] | None:
        """Next datagram, its sender, and the number of datagrams dropped before it; None if there is none."""
        try:
            datagram, extras, _, sender = self.socket.recvmsg(LONGEST_DATAGRAM + 1, socket.CMSG_SPACE(_DROPPED.size))
        # ConnectionRefusedError: the last datagram sent reached a closed port.
        except (BlockingIOError, ConnectionRefusedError):
            return None
        dropped = _DROPPED.unpack(extras[0][2])[0] if extras else self._dropped
        newly, self._dropped = dropped - self._dropped, dropped
        return datagram, sender, newly


class FairInbox:
    """Yields received datagrams, one per sender in turn, within a rate limit.

    Each `welcome` sender gets a connected socket. The kernel delivers a sender's datagrams to the socket connected to
    it, and each socket has its own buffer. A flood therefore fills only its sender's buffer, and the kernel drops the
    excess.
    """

    def __init__(self, own: Address, on_dropped: Callable[[str, str, int], None]) -> None:
        """Bind the port; `on_dropped` receives the kind (too_long or flooding), a text and the number of datagrams.

        Raises:
            OSError: the port cannot be bound.
        """
        self._own, self._on_dropped = own, on_dropped
        self._allowed, self._allowed_at_s = float(BURST), time.monotonic()
        self._granted = 0.0
        self._shared = _Socket(own)
        # By file descriptor, least recently read first.
        self._sockets = {self._shared.socket.fileno(): self._shared}
        self._newcomers: dict[Address, None] = {}
        self._earlier: deque[tuple[bytes, Address, int]] = deque()
        self._poll = select.epoll()
        self._poll.register(self._shared.socket, select.EPOLLIN)

    @property
    def senders(self) -> list[Address]:
        """Senders with a socket of their own."""
        return [one.sender for one in self._sockets.values() if one.sender]

    def close(self) -> None:
        """Close the port; may be called again."""
        self._poll.close()
        for one in self._sockets.values():
            one.socket.close()

    def send(self, datagram: bytes, to: Address) -> bool:
        """Send a datagram from this port; return whether that succeeded."""
        try:
            self._shared.socket.sendto(datagram, to)
        except OSError:
            return False
        return True

    def grant(self, size: float) -> None:
        """Permit to read bytes, by which the rate limit in system time permits less."""
        self._allowed = min(self._allowed + size, BURST)
        self._granted += size

    @property
    def may_read(self) -> bool:
        """Whether the rate limit permits to read now."""
        return self._allowed > 0.0

    def charge(self, size: float) -> None:
        """Count bytes besides the length of the last datagram, for expensive content."""
        self._allowed -= size

    def welcome(self, sender: Address) -> None:
        """Open a socket for this sender if it has none; at the limit, only in place of a silent sender's."""
        self._newcomers[sender] = None

    def datagrams(self) -> Iterator[tuple[bytes, Address]]:
        """Datagrams that may be read now, with their senders."""
        if self._newcomers:
            self._open_sockets()
        now_s = time.monotonic()
        more = max(RATE * (now_s - self._allowed_at_s) - self._granted, 0.0)
        self._allowed = min(self._allowed + more, BURST)
        self._allowed_at_s, self._granted = now_s, 0.0
        ready = self._ready(now_s)
        while ready and self._allowed > 0.0:
            for fileno in [fileno for fileno in self._sockets if fileno in ready]:
                one = self._sockets[fileno] = self._sockets.pop(fileno)
                taken = self._take(one)
                if taken is None:
                    ready.discard(fileno)
                    continue
                one.last_received_s = now_s
                datagram, sender, dropped = taken
                self._allowed -= len(datagram) + _OVERHEAD
                if dropped:
                    self._on_dropped("flooding", "datagrams over the rate limit", dropped)
                if len(datagram) > LONGEST_DATAGRAM:
                    self._on_dropped("too_long", f"datagram of more than {LONGEST_DATAGRAM} bytes", 1)
                else:
                    yield datagram, sender
                if self._allowed <= 0.0:
                    break

    def _ready(self, now_s: float) -> set[int]:
        """File descriptors of the sockets with datagrams to read."""
        ready = {fileno for fileno, _ in self._poll.poll(0)}
        if self._earlier:
            ready.add(self._shared.socket.fileno())
            ready -= {n for n, one in self._sockets.items() if one.sender and now_s - one.opened_s < _EARLIER_S}
        return ready

    def _take(self, one: _Socket) -> tuple[bytes, Address, int] | None:
        return self._earlier.popleft() if one is self._shared and self._earlier else one.take()

    def _open_sockets(self) -> None:
        known = {one.sender for one in self._sockets.values()}
        newcomers = [sender for sender in self._newcomers if sender not in known]
        self._newcomers.clear()
        opened = [sender for sender in newcomers if self._open_socket(sender)]
        while opened and len(self._earlier) < _MOST_EARLIER:
            taken = self._shared.take()
            if taken is None:
                break
            self._earlier.append(taken)

    def _open_socket(self, sender: Address) -> bool:
        """Open a socket for this sender; return whether that succeeded."""
        if len(self._sockets) > MOST_SENDERS:
            fileno = min(
                (n for n, one in self._sockets.items() if one.sender),
                key=lambda n: self._sockets[n].last_received_s,
            )
            if time.monotonic() - self._sockets[fileno].last_received_s < SILENT_S:
                return False
            self._poll.unregister(fileno)
            self._sockets.pop(fileno).socket.close()
        shared = self._shared.socket
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one = _Socket(self._own, sender)
        except OSError:
            return False
        finally:
            # No other process may bind the port.
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        self._sockets[one.socket.fileno()] = one
        self._poll.register(one.socket, select.EPOLLIN)
        return True
