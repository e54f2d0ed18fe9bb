"""A UDP port on which everybody may speak, and nobody can speak so much that others are not heard."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator

from rosflight_py_sim.bridge.peers import Address

LONGEST_DATAGRAM = 8192
"""Bytes; no program has as much to say at once, and a longer one is passed over."""

# Linux tells with each datagram how many did not fit into the buffer before it; Python has no name for that option.
_SO_RXQ_OVFL = 40
_DROPPED = struct.Struct("I")
_RECEIVE_BUFFER = 1 << 20

# What reading one costs beside its length, as so many bytes.
_OVERHEAD = 128

# Bytes a second of system time that are given out, and how many of them may be saved up. To read text takes up to
# 0.7 us a byte: less than a fifth of a core, and 11 ms in a row.
_RATE = 1 << 18
_SAVED = 1 << 14

# Senders with a line of their own, and how long one must have been silent, s, before a newcomer gets it.
_MOST_LINES = 64
_SILENT_S = 10.0

# What a newcomer has sent before it got its line is read before what comes on that, if it is not more than this, or
# takes longer (s).
_MOST_EARLIER = 256
_EARLIER_S = 0.25


class _Line:
    """A socket on the port: connected to one sender, or the one for all others."""

    def __init__(self, own: Address, sender: Address | None = None) -> None:
        self.sender = sender
        self.heard_s = self.opened_s = time.monotonic()
        self._dropped = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)
        try:
            if sender is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(own)
            if sender is not None:
                self.socket.connect(sender)
        except OSError:
            self.socket.close()
            raise

    def take(self) -> tuple[bytes, Address, int] | None:
        """The next datagram, whose it is, and how many were dropped since the one before; None: there is none."""
        try:
            datagram, extras, _, sender = self.socket.recvmsg(LONGEST_DATAGRAM + 1, socket.CMSG_SPACE(_DROPPED.size))
        # The second: what was sent last found nobody there.
        except (BlockingIOError, ConnectionRefusedError):
            return None
        dropped = _DROPPED.unpack(extras[0][2])[0] if extras else self._dropped
        newly, self._dropped = dropped - self._dropped, dropped
        return datagram, sender, newly


class FairInbox:
    """Gives out what has come, one datagram of each sender at a time, and no faster than its bounds allow.

    Whoever is `welcome` gets a line of its own. The kernel gives a datagram to the line that is connected to its
    sender, each of which has a buffer: so a flood pushes nobody else's datagrams out, waits for itself alone, and what
    is too much of it the kernel drops.
    """

    def __init__(self, own: Address, on_dropped: Callable[[str, str, int], None]) -> None:
        """Bind the port; `on_dropped` is told the kind, too_long or flooding, a text, and how many datagrams.

        Raises:
            OSError: that cannot be.
        """
        self._own, self._on_dropped = own, on_dropped
        self._allowed, self._allowed_at_s = float(_SAVED), time.monotonic()
        self._everybody = _Line(own)
        # By file descriptor; who was read last stands last.
        self._lines = {self._everybody.socket.fileno(): self._everybody}
        self._newcomers: dict[Address, None] = {}
        self._earlier: deque[tuple[bytes, Address, int]] = deque()
        self._poll = select.epoll()
        self._poll.register(self._everybody.socket, select.EPOLLIN)

    def close(self) -> None:
        """Close the port; may be called again."""
        self._poll.close()
        for line in self._lines.values():
            line.socket.close()

    def send(self, datagram: bytes, to: Address) -> bool:
        """Send something from this port; whether that could be."""
        try:
            self._everybody.socket.sendto(datagram, to)
        except OSError:
            return False
        return True

    def welcome(self, sender: Address) -> None:
        """Have a line for this sender, if it has none; if there are too many, only in the place of a silent one."""
        self._newcomers[sender] = None

    def datagrams(self) -> Iterator[tuple[bytes, Address]]:
        """What is to be read now, and who has sent it."""
        if self._newcomers:
            self._open_lines()
        now_s = time.monotonic()
        self._allowed = min(self._allowed + _RATE * (now_s - self._allowed_at_s), _SAVED)
        self._allowed_at_s = now_s
        ready = self._ready(now_s)
        while ready and self._allowed > 0.0:
            for fileno in [fileno for fileno in self._lines if fileno in ready]:
                line = self._lines[fileno] = self._lines.pop(fileno)
                taken = self._take(line)
                if taken is None:
                    ready.discard(fileno)
                    continue
                line.heard_s = now_s
                datagram, sender, dropped = taken
                self._allowed -= len(datagram) + _OVERHEAD
                if dropped:
                    self._on_dropped("flooding", "datagrams of somebody who sends too many", dropped)
                if len(datagram) > LONGEST_DATAGRAM:
                    self._on_dropped("too_long", f"datagram of more than {LONGEST_DATAGRAM} bytes", 1)
                else:
                    yield datagram, sender
                if self._allowed <= 0.0:
                    break

    def _ready(self, now_s: float) -> set[int]:
        """File descriptors of the lines on which there is something to read."""
        ready = {fileno for fileno, _ in self._poll.poll(0)}
        if self._earlier:
            ready.add(self._everybody.socket.fileno())
            ready -= {n for n, line in self._lines.items() if line.sender and now_s - line.opened_s < _EARLIER_S}
        return ready

    def _take(self, line: _Line) -> tuple[bytes, Address, int] | None:
        return self._earlier.popleft() if line is self._everybody and self._earlier else line.take()

    def _open_lines(self) -> None:
        known = {line.sender for line in self._lines.values()}
        newcomers = [sender for sender in self._newcomers if sender not in known]
        self._newcomers.clear()
        opened = [sender for sender in newcomers if self._open_line(sender)]
        while opened and len(self._earlier) < _MOST_EARLIER:
            taken = self._everybody.take()
            if taken is None:
                break
            self._earlier.append(taken)

    def _open_line(self, sender: Address) -> bool:
        """Whether there is a line for this sender now."""
        if len(self._lines) > _MOST_LINES:
            fileno = min((n for n, line in self._lines.items() if line.sender), key=lambda n: self._lines[n].heard_s)
            if time.monotonic() - self._lines[fileno].heard_s < _SILENT_S:
                return False
            self._poll.unregister(fileno)
            self._lines.pop(fileno).socket.close()
        everybody = self._everybody.socket
        everybody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line = _Line(self._own, sender)
        except OSError:
            return False
        finally:
            # Nobody else is to have this port, too.
            everybody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        self._lines[line.socket.fileno()] = line
        self._poll.register(line.socket, select.EPOLLIN)
        return True
