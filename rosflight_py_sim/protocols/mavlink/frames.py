"""Frames of MAVLink 1 and 2: start, length, numbers of the sender and the message, payload, checksum.

Source: MAVLink developer guide, "Packet Serialization". Frames of MAVLink 2 are sent unsigned, and those with
incompatibility flags, such as signed ones, are not read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from struct import Struct
from typing import Any, ClassVar, NamedTuple, TypeAlias

from rosflight_py_sim.protocols.mavlink.layout import Layout, Layouts, crc_x25

_CHECKSUM = Struct("<H")

LARGEST_FRAME = 280
"""Bytes of the longest frame of either version, with a signature."""


class Frame(NamedTuple):
    """A message of a dialect, and its sender's numbers."""

    message: Any
    sequence: int
    system: int
    component: int


_Header: TypeAlias = tuple[int, int, int, int, int, int]
"""Length, sequence, system, component, number of the message, incompatibility flags."""


class Version(ABC):
    """A version of the protocol.

    Attributes:
        START: first byte of its frames.
        HEADER: format of the header, with the start.
    """

    START: ClassVar[int]
    HEADER: ClassVar[Struct]

    @classmethod
    def encode(cls, layouts: Layouts, frame: Frame) -> bytes:
        """Bytes of a frame.

        Raises:
            struct.error: a value does not fit its field.
        """
        message, sequence, system, component = frame
        layout = layouts.of[type(message)]
        payload = cls.shortened(layout.pack(message))
        content = cls.packed(len(payload), sequence, system, component, layout.number) + payload
        return content + _CHECKSUM.pack(crc_x25(content[1:] + layout.seed))

    @staticmethod
    @abstractmethod
    def packed(length: int, sequence: int, system: int, component: int, number: int) -> bytes:
        """Bytes of a header."""

    @staticmethod
    @abstractmethod
    def unpacked(data: bytes, start: int) -> _Header:
        """Header that begins at `start`."""

    @staticmethod
    @abstractmethod
    def shortened(payload: bytes) -> bytes:
        """The payload as it is sent."""

    @staticmethod
    @abstractmethod
    def may_be(length: int, layout: Layout) -> bool:
        """Whether a message may have a payload of this length."""


class Mavlink1(Version):
    """MAVLink 1: ids of one byte, and payloads of constant length."""

    START: ClassVar[int] = 0xFE
    HEADER: ClassVar[Struct] = Struct("<BBBBBB")

    @staticmethod
    def packed(length: int, sequence: int, system: int, component: int, number: int) -> bytes:
        return Mavlink1.HEADER.pack(Mavlink1.START, length, sequence, system, component, number)

    @staticmethod
    def unpacked(data: bytes, start: int) -> _Header:
        _, length, sequence, system, component, number = Mavlink1.HEADER.unpack_from(data, start)
        return length, sequence, system, component, number, 0

    @staticmethod
    def shortened(payload: bytes) -> bytes:
        return payload

    @staticmethod
    def may_be(length: int, layout: Layout) -> bool:
        return length == layout.size


class Mavlink2(Version):
    """MAVLink 2: ids of three bytes; payloads end before their last zeros, or with fields that extend the message.

    Extensions that a layout does not have are ignored.
    """

    START: ClassVar[int] = 0xFD
    HEADER: ClassVar[Struct] = Struct("<BBBBBBBHB")

    @staticmethod
    def packed(length: int, sequence: int, system: int, component: int, number: int) -> bytes:
        return Mavlink2.HEADER.pack(
            Mavlink2.START, length, 0, 0, sequence, system, component, number & 0xFFFF, number >> 16
        )

    @staticmethod
    def unpacked(data: bytes, start: int) -> _Header:
        _, length, flags, _, sequence, system, component, low, high = Mavlink2.HEADER.unpack_from(data, start)
        return length, sequence, system, component, low | high << 16, flags

    @staticmethod
    def shortened(payload: bytes) -> bytes:
        return payload.rstrip(b"\0") or payload[:1]

    @staticmethod
    def may_be(length: int, layout: Layout) -> bool:
        return length > 0


class FrameReader:
    """Finds frames in a stream of bytes, which may have gaps, damage and other content.

    After a frame that is not valid, the search continues at the byte after its start, so a damaged byte costs at most
    the frame that contains it.

    Attributes:
        counters: number of frames, and of what was not a frame: starts with an unknown_message id, a wrong_length, a
            wrong_checksum or unsupported_flags, and stray_bytes between frames.
    """

    def __init__(self, version: type[Version], layouts: Layouts, counters: Counter[str] | None = None) -> None:
        """Read frames of a version with the messages of a dialect; readers may share `counters`."""
        self.counters: Counter[str] = Counter() if counters is None else counters
        self._version, self._numbered = version, layouts.numbered
        self._rest = b""

    def frames(self, data: bytes) -> Iterator[Frame]:
        """Frames that are complete after these bytes; an incomplete one is kept until the next call."""
        data, self._rest = self._rest + data, b""
        place, counters, version = 0, self.counters, self._version
        header_size, overhead = version.HEADER.size, version.HEADER.size + _CHECKSUM.size
        while (start := data.find(version.START, place)) >= 0:
            if start > place:
                counters["stray_bytes"] += start - place
            place = start
            if len(data) - start < header_size:
                break
            length, sequence, system, component, number, flags = version.unpacked(data, start)
            layout = self._numbered.get(number)
            if layout is None or flags or not version.may_be(length, layout):
                is_long = layout is not None and version.may_be(length, layout)
                fault = "unknown_message" if layout is None else "unsupported_flags" if is_long else "wrong_length"
                counters[fault] += 1
                place += 1
                continue
            end = start + overhead + length
            if end > len(data):
                break
            counted = data[start + 1 : end - _CHECKSUM.size]
            if _CHECKSUM.unpack_from(data, end - _CHECKSUM.size)[0] != crc_x25(counted + layout.seed):
                counters["wrong_checksum"] += 1
                place += 1
                continue
            place = end
            counters["frames"] += 1
            payload = counted[header_size - 1 :]
            if length != layout.size:
                payload = payload[: layout.size].ljust(layout.size, b"\0")
            yield Frame(layout.unpack(payload), sequence, system, component)
        else:
            if len(data) > place:
                counters["stray_bytes"] += len(data) - place
            return
        self._rest = data[place:]
