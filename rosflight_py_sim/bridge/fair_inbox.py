"""A UDP port on which everybody may speak, and nobody can speak so much that others are not heard."""

from __future__ import annotations

import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator

from rosflight_py_sim.bridge.peers import Address

LONGEST_DATAGRAM = 8192
"""Bytes; no program has as much to say at once, and a longer one is passed over."""

# Taken out of the kernel's buffer in one go, and how much that is to hold meanwhile: small ones count 768 bytes there.
_MOST_AT_ONCE = 512
_RECEIVE_BUFFER = 1 << 20

# What reading one costs beside its length, as so many bytes.
_OVERHEAD = 128

# Bytes that are held of one sender, and of all of them, until their turn comes.
_HELD_OF_ONE = 1 << 17
_HELD_OF_ALL = 1 << 21

# Bytes a second of system time that are given out, and how many of them may be saved up. To read text takes up to
# 0.7 us a byte: less than a fifth of a core, and 11 ms in a row.
_RATE = 1 << 18
_SAVED = 1 << 14


class FairInbox:
    """Gives out what has come, one datagram of each sender at a time, and no faster than its bounds allow.

    `receive` empties the kernel's buffer, so that a flood pushes nobody else's datagrams out of it; `datagrams` gives
    out what has come, the senders taking turns. So a flood waits for itself alone, and what is too much is dropped.
    """

    def __init__(self, own: Address, on_dropped: Callable[[str, str], None]) -> None:
        """Bind the port; `on_dropped` is told the kind, too_long or flooding, and a text.

        Raises:
            OSError: that cannot be.
        """
        self._on_dropped = on_dropped
        self._held: dict[Address, deque[bytes]] = {}
        self._held_of: Counter[Address] = Counter()
        self._held_of_all = 0
        self._allowed, self._allowed_at_s = float(_SAVED), time.monotonic()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        try:
            self._socket.bind(own)
        except OSError:
            self._socket.close()
            raise

    def close(self) -> None:
        """Close the port; may be called again."""
        self._socket.close()

    def send(self, datagram: bytes, to: Address) -> bool:
        """Send something from this port; whether that could be."""
        try:
            self._socket.sendto(datagram, to)
        except OSError:
            return False
        return True

    def receive(self) -> None:
        """Take what has come out of the kernel's buffer."""
        receive = self._socket.recvfrom
        for _ in range(_MOST_AT_ONCE):
            try:
                datagram, sender = receive(LONGEST_DATAGRAM + 1)
            except BlockingIOError:
                return
            except OSError:
                # What was sent last found nobody there.
                continue
            if len(datagram) > LONGEST_DATAGRAM:
                self._on_dropped("too_long", f"datagram of more than {LONGEST_DATAGRAM} bytes")
            else:
                self._hold(datagram, sender)

    def _hold(self, datagram: bytes, sender: Address) -> None:
        cost = len(datagram) + _OVERHEAD
        held = self._held_of[sender]
        # Whoever has nothing here yet is let in even where others have filled the place.
        if held + cost > _HELD_OF_ONE or self._held_of_all + cost > (_HELD_OF_ALL if held else 2 * _HELD_OF_ALL):
            self._on_dropped("flooding", "datagram of somebody who sends too many")
            return
        self._held.setdefault(sender, deque()).append(datagram)
        self._held_of[sender] = held + cost
        self._held_of_all += cost

    def datagrams(self) -> Iterator[tuple[bytes, Address]]:
        """What is to be read now, and who has sent it."""
        now_s = time.monotonic()
        self._allowed = min(self._allowed + _RATE * (now_s - self._allowed_at_s), _SAVED)
        self._allowed_at_s = now_s
        while self._held and self._allowed > 0.0:
            # Whose turn it was goes to the end of the line.
            sender = next(iter(self._held))
            waiting = self._held.pop(sender)
            datagram = waiting.popleft()
            cost = len(datagram) + _OVERHEAD
            self._allowed -= cost
            self._held_of_all -= cost
            if waiting:
                self._held[sender] = waiting
                self._held_of[sender] -= cost
            else:
                del self._held_of[sender]
            yield datagram, sender
