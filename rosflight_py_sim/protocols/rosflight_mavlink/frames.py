"""Frames of MAVLink 1: start, length, sequence, system, component, message id, payload, checksum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from struct import Struct
from typing import Any, NamedTuple

from rosflight_py_sim.protocols.rosflight_mavlink.dialect import LAYOUTS
from rosflight_py_sim.protocols.rosflight_mavlink.layout import crc_x25

_START = 0xFE
_HEADER = Struct("<BBBBBB")
_CHECKSUM = Struct("<H")
_OVERHEAD = _HEADER.size + _CHECKSUM.size

LONGEST_FRAME = _OVERHEAD + max(layout.size for layout in LAYOUTS.numbered.values())
"""Bytes of the dialect's longest frame."""


class Frame(NamedTuple):
    """A message of the dialect, and its sender's numbers."""

    message: Any
    sequence: int
    system: int
    component: int


def encode_frame(frame: Frame) -> bytes:
    """Bytes of a frame.

    Raises:
        struct.error: a value does not fit its field.
    """
    message, sequence, system, component = frame
    layout = LAYOUTS.of[type(message)]
    payload = layout.pack(message)
    counted = bytes((len(payload), sequence, system, component, layout.number)) + payload
    return bytes((_START,)) + counted + _CHECKSUM.pack(crc_x25(counted + bytes((layout.crc_extra,))))


class FrameReader:
    """Finds frames in a stream of bytes, which may have gaps, damage and other content.

    After a frame that is not valid, the search continues at the byte after its start, so a damaged byte costs at most
    the frame that contains it.

    Attributes:
        counters: number of frames, and of what was not a frame: starts with an unknown_message id, a wrong_length or a
            wrong_checksum, and stray_bytes between frames.
    """

    def __init__(self, counters: Counter[str] | None = None) -> None:
        """Use `counters`, which readers may share."""
        self.counters: Counter[str] = Counter() if counters is None else counters
        self._rest = b""

    def frames(self, data: bytes) -> Iterator[Frame]:
        """Frames that are complete after these bytes; an incomplete one is kept until the next call."""
        data, self._rest = self._rest + data, b""
        place, counters = 0, self.counters
        while (start := data.find(_START, place)) >= 0:
            counters["stray_bytes"] += start - place
            place = start
            if len(data) - start < _HEADER.size:
                break
            _, length, sequence, system, component, number = _HEADER.unpack_from(data, start)
            layout = LAYOUTS.numbered.get(number)
            if layout is None or length != layout.size:
                counters["unknown_message" if layout is None else "wrong_length"] += 1
                place += 1
                continue
            end = start + _OVERHEAD + length
            if end > len(data):
                break
            counted = data[start + 1 : end - _CHECKSUM.size]
            if _CHECKSUM.unpack_from(data, end - _CHECKSUM.size)[0] != crc_x25(counted + bytes((layout.crc_extra,))):
                counters["wrong_checksum"] += 1
                place += 1
                continue
            place = end
            counters["frames"] += 1
            yield Frame(layout.unpack(counted[_HEADER.size - 1 :]), sequence, system, component)
        else:
            counters["stray_bytes"] += len(data) - place
            return
        self._rest = data[place:]
