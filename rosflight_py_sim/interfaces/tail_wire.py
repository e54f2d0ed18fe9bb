"""Fast coding of messages that end in a run of bytes, such as pictures.

rclpy copies the data of a message object element by element. Here everything before the data is serialised once, by
rclpy itself; a message is that, with its time, and the bytes as they are.
"""

from __future__ import annotations

import struct
from typing import Any

from rclpy.serialization import serialize_message

from rosflight_py_sim.interfaces.wire import NANOSECONDS

_STAMP = struct.Struct("<iI")
_COUNT = struct.Struct("<I")
_STAMP_AT = 4


class TailWire:
    """Codes one message, which begins with a header and ends in a field of bytes, with ever new stamps and bytes."""

    def __init__(self, message: Any) -> None:
        """Take all fields but the stamp and the data from `message`, whose data are empty."""
        assert len(message.data) == 0
        self._front = serialize_message(message)[_STAMP_AT + _STAMP.size : -_COUNT.size]
        self._encapsulation = serialize_message(message)[:_STAMP_AT]

    def encode(self, time_ns: int, data: bytes) -> bytes:
        """Serialised message with the stamp `time_ns` and the data."""
        stamp = _STAMP.pack(*divmod(time_ns, NANOSECONDS))
        return b"".join((self._encapsulation, stamp, self._front, _COUNT.pack(len(data)), data))
