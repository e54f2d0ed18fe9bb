"""UDP sockets of a client of uThere Ground Control."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable

from rosflight_py_sim.ground.parameters import ParameterError

PORT_IN, PORT_OUT = 10000, 10001
"""Default ports: Ground Control receives commands on the first and sends to the second."""

_LARGEST_PACKET = 65536


class GroundLink:
    """Sends packets, and passes on received ones from a separate thread."""

    def __init__(
        self,
        address: str,
        port_in: int,
        port_out: int,
        on_packet: Callable[[str], None],
        on_error: Callable[[str], None],
    ) -> None:
        """Open the sockets; after `start`, packets are passed to `on_packet` and errors to `on_error`.

        Raises:
            ParameterError: an address or a port cannot be used; the text names it and gives the reason.
        """
        self._on_packet = on_packet
        self._on_error = on_error
        there = _resolved(address, port_in)
        self._peer = f"{there[0]}:{there[1]}"
        self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._in = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Closing it wakes the thread.
        self._ours, self._theirs = socket.socketpair()
        try:
            # Connected, so that a closed port is reported as an error.
            self._out.connect(there)
            _bind(self._in, "127.0.0.1" if there[0].startswith("127.") else "", port_out)
        except BaseException:
            self._close_sockets()
            raise
        self._thread = threading.Thread(target=self._listen, name="ground link", daemon=True)

    def start(self) -> None:
        """Start to receive packets."""
        self._thread.start()

    def send(self, text: str) -> None:
        """Send a packet."""
        packet = text.encode("utf-8", "surrogateescape")
        try:
            self._out.send(packet)
        except ConnectionRefusedError:
            # The error belongs to the previous packet, and prevented this one from being sent.
            self._report_refusal()
            with contextlib.suppress(ConnectionRefusedError):
                self._out.send(packet)
        except OSError as error:
            self._on_error(f"cannot send to UDP {self._peer}: {error.strerror}")

    def _report_refusal(self) -> None:
        self._on_error(f"no reply from UDP {self._peer}: the port is closed; is the simulation running?")

    def _listen(self) -> None:
        while True:
            readable, _, _ = select.select([self._in, self._out, self._theirs], [], [])
            if self._theirs in readable:
                return
            for one in readable:
                try:
                    packet = one.recv(_LARGEST_PACKET)
                except ConnectionRefusedError:
                    self._report_refusal()
                else:
                    self._on_packet(packet.decode("ascii", "backslashreplace"))

    def close(self) -> None:
        """Close the sockets."""
        self._ours.close()
        if self._thread.is_alive():
            self._thread.join()
        self._close_sockets()

    def _close_sockets(self) -> None:
        for one in (self._out, self._in, self._ours, self._theirs):
            one.close()


def _resolved(address: str, port: int) -> tuple[str, int]:
    try:
        found = socket.getaddrinfo(address, port, socket.AF_INET, socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise ParameterError(
            f"address '{address}' given: {_reason(error)}; allowed: an IPv4 address or a name of one"
        ) from error
    host, number = found[0][4][:2]
    return str(host), int(number)


def _bind(into: socket.socket, address: str, port: int) -> None:
    try:
        into.bind((address, port))
    except OSError as error:
        raise ParameterError(
            f"cannot receive on UDP port {port} ({error.strerror}); is another client running? --port-out chooses "
            "another port, which must be the simulation's uthere.udp_port_out"
        ) from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
