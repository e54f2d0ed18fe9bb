"""Notification when sockets become readable, from a separate thread."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterable

# Time limit of a poll: a descriptor may meanwhile refer to another socket, which a poll under way does not detect.
_LOOK_AGAIN_MS = 200


class SocketWatch:
    """Calls a function from a separate thread when a file descriptor is readable, once each time the watch is armed.

    The thread reads no data. It sleeps while unarmed, so that a flood remains in the kernel's bounded buffer.
    """

    def __init__(self, filenos: Iterable[int], on_readable: Callable[[], None]) -> None:
        """Start the thread, unarmed."""
        self._on_readable = on_readable
        self._closing = False
        self._armed = False
        self._go = threading.Lock()
        self._go.acquire()
        self._end_seen, self._end = os.pipe()
        self._poll = select.poll()
        for fileno in filenos:
            self._poll.register(fileno, select.POLLIN)
        self._poll.register(self._end_seen, select.POLLIN)
        self._thread = threading.Thread(target=self._run, name="socket_watch", daemon=True)
        self._thread.start()

    def arm(self) -> None:
        """Call the function once when a descriptor becomes readable, or at once if one already is."""
        if not self._armed:
            self._armed = True
            self._go.release()

    def close(self) -> None:
        """End the thread; may be called again. The descriptors must still be open."""
        if self._closing:
            return
        self._closing = True
        os.write(self._end, b"\0")
        self.arm()
        self._thread.join()
        os.close(self._end)
        os.close(self._end_seen)

    def _run(self) -> None:
        while True:
            self._go.acquire()
            while not self._poll.poll(_LOOK_AGAIN_MS):
                pass
            if self._closing:
                return
            self._armed = False
            self._on_readable()
