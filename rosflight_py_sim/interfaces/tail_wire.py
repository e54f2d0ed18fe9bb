"""Fast coding of messages that end in a run of bytes, such as pictures.

rclpy copies the data of a message object element by element. Here everything before the data is serialised once, by
rclpy itself; a message is that, with its time, and the bytes as they are.
"""

from __future__ import annotations

import struct
from typing import Any

from rclpy.serialization import serialize_message

from rosflight_py_sim.stamps import STAMP, STAMP_AT, pack_stamp

_COUNT = struct.Struct("<I")


class TailWire:
    """Codes one message, which begins with a header and ends in a field of bytes, with ever new stamps and bytes."""

    def __init__(self, message: Any) -> None:
        """Take all fields but the stamp and the data from `message`, whose data are empty."""
        assert len(message.data) == 0
        self._front = serialize_message(message)[STAMP_AT + STAMP.size : -_COUNT.size]
        self._encapsulation = serialize_message(message)[:STAMP_AT]

    def encode(self, time_ns: int, data: bytes) -> bytes:
        """Serialised message with the stamp `time_ns` and the data."""
        return b"".join((self._encapsulation, pack_stamp(time_ns), self._front, _COUNT.pack(len(data)), data))
