"""Fast coding of visualization_msgs/Marker with changing stamp and points.

rclpy takes milliseconds to convert a path of thousands of points, or a mesh. Here rclpy serialises the parts before and
after the points only once.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from visualization_msgs.msg import Marker

from rosflight_py_sim.ground.stamps import STAMP, pack_stamp

_COUNT = struct.Struct("<I")
_ENCAPSULATION = 4


class MarkerWire:
    """Encodes one marker whose stamp and points change."""

    def __init__(self, marker: Marker) -> None:
        """Serialise all other fields of `marker`, which must have no points and no point colours."""
        assert len(marker.points) == 0 and len(marker.colors) == 0
        empty = serialize_message(marker)
        at = _ENCAPSULATION + _count_offset(marker)
        self._encapsulation = empty[:_ENCAPSULATION]
        self._front = empty[_ENCAPSULATION + STAMP.size : at]
        self._padding = bytes(-(at + _COUNT.size - _ENCAPSULATION) % 8)
        self._back = empty[at + _COUNT.size :]

    def encode(self, time_ns: int, points: NDArray[np.float64]) -> bytes:
        """Serialised marker with the stamp `time_ns` and the points (n, 3), m."""
        stamp = pack_stamp(time_ns)
        data = np.ascontiguousarray(points, dtype="<f8").tobytes()
        padding = self._padding if data else b""
        count = _COUNT.pack(len(points))
        return b"".join((self._encapsulation, stamp, self._front, count, padding, data, self._back))


def _count_offset(marker: Marker) -> int:
    """Offset of the point count in the body of a serialised marker (plain CDR, see `wire.py`)."""
    offset = STAMP.size
    for text in (marker.header.frame_id, marker.ns):
        offset += -offset % 4 + 4 + len(text.encode()) + 1
    # id, type and action; pose and scale; colour, lifetime and the lock of the frame.
    offset += -offset % 4 + 12
    offset += -offset % 8 + 80 + 16 + 8 + 1
    return offset + -offset % 4
