"""Messages of PX4's simulator interface, as PX4's side writes and reads them in frames of MAVLink 2."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

START = 0xFD
HEADER = 10
SYSTEM = COMPONENT = 1

# Id, CRC_EXTRA and length without extensions.
HEARTBEAT, COMMAND_LONG, OUTPUTS = (0, 50), (76, 152), (93, 47)
SENSOR, STATE = 107, 115
READ = {SENSOR: (108, 64), 113: (124, 36), STATE: (4, 64), 132: (85, 14), 65: (118, 42)}

SET_MESSAGE_INTERVAL = 511
AUTOPILOT_PX4 = 12
ARMED, CUSTOM_MODE, LOCKSTEP = 128, 1, 1


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x8408 if byte & 1 else 0)
    return byte


_TABLE = [_table_entry(byte) for byte in range(256)]


class FrameError(Exception):
    """Bytes that PX4 would not read as a message."""


class Sensor(NamedTuple):
    """HIL_SENSOR: time (us), specific force (m/s^2), angular rate (rad/s), and the bits of what is new."""

    time_us: int
    accel: tuple[float, ...]
    gyro: tuple[float, ...]
    updated: int


class State(NamedTuple):
    """HIL_STATE_QUATERNION: time (us), attitude w x y z, position (1e-7 deg, mm) and velocity NED (m/s)."""

    time_us: int
    quaternion: tuple[float, ...]
    latitude_e7: int
    longitude_e7: int
    altitude_mm: int
    velocity: tuple[float, ...]


def checksum(data: bytes) -> int:
    """CRC-16/MCRF4XX."""
    crc = 0xFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc


def frame(kind: tuple[int, int], payload: bytes, sequence: int) -> bytes:
    """Bytes of a message; `kind` is its id and CRC_EXTRA."""
    number, extra = kind
    payload = payload.rstrip(b"\0") or payload[:1]
    head = struct.pack("<BBBBBBBHB", START, len(payload), 0, 0, sequence % 256, SYSTEM, COMPONENT, number, 0)
    return head + payload + struct.pack("<H", checksum(head[1:] + payload + bytes((extra,))))


def heartbeat(sequence: int) -> bytes:
    """PX4's first message."""
    return frame(HEARTBEAT, struct.pack("<IBBBBB", 0, 0, AUTOPILOT_PX4, 0, 0, 3), sequence)


def interval_request(interval_us: float, sequence: int) -> bytes:
    """Request for HIL_STATE_QUATERNION at an interval."""
    return frame(
        COMMAND_LONG,
        struct.pack("<7fHBBB", STATE, interval_us, 0.0, 0.0, 0.0, 0.0, 0.0, SET_MESSAGE_INTERVAL, 0, 0, 0),
        sequence,
    )


def outputs(time_us: int, controls: list[float], sequence: int) -> bytes:
    """HIL_ACTUATOR_CONTROLS."""
    every = [*controls, *[0.0] * (16 - len(controls))]
    mode = CUSTOM_MODE | (ARMED if any(controls) else 0)
    return frame(OUTPUTS, struct.pack("<QQ16fB", time_us, LOCKSTEP, *every, mode), sequence)


class Reader:
    """Splits the bytes of a connection into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def messages(self, data: bytes) -> Iterator[Sensor | State]:
        """Sensor and state messages that are complete after these bytes.

        Raises:
            FrameError: not frames of the messages that PX4 reads.
        """
        data = self._rest + data
        place = 0
        while len(data) - place >= HEADER:
            start, length, flags, _, _, _, _, low, high = struct.unpack_from("<BBBBBBBHB", data, place)
            number = low | high << 16
            end = place + HEADER + length + 2
            if start != START or flags or number not in READ:
                raise FrameError(f"not a message that PX4 reads: {data[place : place + HEADER].hex()}")
            if end > len(data):
                break
            extra, size = READ[number]
            counted = data[place + 1 : end - 2]
            if struct.unpack_from("<H", data, end - 2)[0] != checksum(counted + bytes((extra,))):
                raise FrameError(f"wrong checksum of message {number}")
            payload = counted[HEADER - 1 :].ljust(size, b"\0")
            place = end
            if number == SENSOR:
                time_us, *numbers = struct.unpack_from("<Q13fI", payload)
                yield Sensor(time_us, tuple(numbers[:3]), tuple(numbers[3:6]), int(numbers[13]))
            elif number == STATE:
                time_us, *rest = struct.unpack_from("<Q7f3i3h", payload)
                yield State(time_us, tuple(rest[:4]), *rest[7:10], tuple(0.01 * one for one in rest[10:13]))
        self._rest = data[place:]
