"""UDP port of a companion computer, which speaks MAVLink with one flight controller."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rosflight_py_sim.bridge.peers import Address, address_text, bind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import COMPANION_COMPONENT, COMPANION_SYSTEM
from rosflight_py_sim.protocols.rosflight_mavlink.frames import Frame, FrameReader, encode_frame

_LONGEST_DATAGRAM = 8192
_RECEIVE_BUFFER = 1 << 22

# Greatest number of datagrams read in one call: a tenth of a second of all messages.
_MOST = 256


def _port(name: str, default: int, text: str) -> Parameter:
    return Parameter(name, default, text, minimum=1, maximum=65535, read_only=True)


COMPANION_PARAMETERS = ParameterTable(
    Parameter("bind_host", "127.0.0.1", "Local address for the messages of the flight controller", read_only=True),
    _port("bind_port", 14520, "UDP port of that address"),
    Parameter("remote_host", "127.0.0.1", "Address of the flight controller", read_only=True),
    _port("remote_port", 14525, "UDP port of the flight controller: `mavlink.port` of `sil_board`"),
)


class CompanionPort:
    """Exchanges messages with the flight controller at one address; the kernel drops datagrams from others.

    Attributes:
        counters: number of frames and of what was not a frame (see FrameReader), of frames sent, and of those unsent.
    """

    def __init__(self, values: Values) -> None:
        """Open the port that `values` of COMPANION_PARAMETERS name.

        Raises:
            ParameterError: the port cannot be opened.
        """
        self.counters: Counter[str] = Counter()
        self._reader = FrameReader(self.counters)
        self._sequence = 0
        own: Address = str(values["bind_host"]), int(str(values["bind_port"]))
        self.remote: Address = str(values["remote_host"]), int(str(values["remote_port"]))
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            bind(self._socket, own)
            self._socket.connect(self.remote)
        except OSError as error:
            self._socket.close()
            raise ParameterError(
                f"parameters 'bind_host', 'bind_port', 'remote_host' and 'remote_port': {address_text(own)} and "
                f"{address_text(self.remote)} given, which cannot be used: {error.strerror}; allowed: a local address "
                "and a free port, and the address of a flight controller"
            ) from error

    def close(self) -> None:
        """Close the port."""
        self._socket.close()

    def fileno(self) -> int:
        """File descriptor of the socket, readable when there is a datagram."""
        return self._socket.fileno()

    def messages(self) -> Iterator[Any]:
        """Messages that have arrived, of a bounded number of datagrams."""
        for _ in range(_MOST):
            try:
                datagram = self._socket.recv(_LONGEST_DATAGRAM)
            except BlockingIOError:
                return
            # The last frame sent reached a closed port: the flight controller has not started yet, or has ended.
            except ConnectionRefusedError:
                continue
            for frame in self._reader.frames(datagram):
                yield frame.message

    def send(self, message: Any) -> None:
        """Send a message."""
        frame = encode_frame(Frame(message, self._sequence, COMPANION_SYSTEM, COMPANION_COMPONENT))
        self._sequence = (self._sequence + 1) % 256
        try:
            self._socket.send(frame)
        except OSError:
            self.counters["unsent"] += 1
        else:
            self.counters["sent"] += 1
