"""PX4's side of the simulator interface for tests, with pymavlink's codec instead of the package's."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from typing import Any

from pymavlink.dialects.v20 import common

HIL_STATE_QUATERNION = common.MAVLINK_MSG_ID_HIL_STATE_QUATERNION


class Px4Client:
    """A connection to the simulator's port.

    Attributes:
        sent: the codec with which messages are written.
    """

    def __init__(self, port: int) -> None:
        """Connect."""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.sent = common.MAVLink(self, srcSystem=1, srcComponent=1)
        self._reader = common.MAVLink(None)
        self._reader.robust_parsing = False

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def write(self, data: bytes) -> None:
        """Send bytes, as pymavlink's file."""
        self.socket.sendall(data)

    def greet(self, interval_us: float = 0.0) -> None:
        """Send PX4's first messages: a heartbeat and, with an interval, the request for the true state."""
        self.sent.heartbeat_send(0, common.MAV_AUTOPILOT_PX4, 0, 0, 0)
        if interval_us:
            self.sent.command_long_send(
                0, 0, common.MAV_CMD_SET_MESSAGE_INTERVAL, 0, HIL_STATE_QUATERNION, interval_us, 0, 0, 0, 0, 0
            )

    def outputs(self, time_us: int, controls: Sequence[float] = ()) -> None:
        """Send outputs."""
        self.sent.hil_actuator_controls_send(time_us, [*controls, *[0.0] * (16 - len(controls))], 129, 1)

    def received(self) -> list[Any]:
        """Messages received since the last call; loopback delivers at once."""
        data = b""
        with contextlib.suppress(BlockingIOError):
            while chunk := self.socket.recv(1 << 16):
                data += chunk
        return self._reader.parse_buffer(data) or []

    def received_next(self) -> list[Any]:
        """Messages in the bytes that arrive next, of a blocking socket."""
        return self._reader.parse_buffer(self.socket.recv(1 << 16)) or []

    @property
    def is_ended(self) -> bool:
        """Whether the simulator has closed the connection."""
        try:
            return self.socket.recv(1 << 20) == b""
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()
