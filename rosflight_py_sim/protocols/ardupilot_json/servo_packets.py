"""Servo frames from ArduPilot, binary, little-endian.

A frame is magic number (uint16), frame_rate (uint16), frame_count (uint32) and a uint16 for each of 16 or 32 outputs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from rosflight_py_sim.protocols import ProtocolError

CHANNELS_OF_MAGIC = {18458: 16, 29569: 32}
"""Number of channels of a frame by its magic number."""

_HEAD = struct.Struct("<HHI")
_FRAMES = {magic: struct.Struct(f"<HHI{channels}H") for magic, channels in CHANNELS_OF_MAGIC.items()}
_MAGIC_OF_CHANNELS = {channels: magic for magic, channels in CHANNELS_OF_MAGIC.items()}
_ALLOWED = " or ".join(f"{_FRAMES[m].size} bytes with magic {m} ({n} channels)" for m, n in CHANNELS_OF_MAGIC.items())


class FrameLengthError(ProtocolError):
    """Datagram whose length does not match its magic number."""


class MagicError(ProtocolError):
    """Datagram that does not begin with one of ArduPilot's magic numbers."""


class FrameRateError(ProtocolError):
    """Frame with a rate of 0."""


@dataclass(frozen=True)
class ServoFrame:
    """Servo frame from ArduPilot.

    Attributes:
        frame_rate: requested reply rate, Hz of simulated time, 1 to 65535.
        frame_count: increases by 1 with each answer; a repeated frame has the same count.
        pwm_us: pulse width of each servo output, us (16 or 32); 0 if there is no output yet.
    """

    frame_rate: int
    frame_count: int
    pwm_us: tuple[int, ...]


def decode_frame(datagram: bytes) -> ServoFrame:
    """Servo frame of a datagram.

    Raises:
        FrameLengthError: too short, or the length does not match the magic number.
        MagicError: unknown magic number.
        FrameRateError: the frame rate is 0.
    """
    if len(datagram) < _HEAD.size:
        raise FrameLengthError(f"servo frame of {len(datagram)} bytes; allowed: {_ALLOWED}")
    magic = int.from_bytes(datagram[:2], "little")
    layout = _FRAMES.get(magic)
    if layout is None:
        raise MagicError(f"servo frame with magic {magic}; allowed: {_ALLOWED}")
    if len(datagram) != layout.size:
        raise FrameLengthError(f"servo frame of {len(datagram)} bytes with magic {magic}; allowed: {_ALLOWED}")
    _, frame_rate, frame_count, *pwm_us = layout.unpack(datagram)
    if frame_rate == 0:
        raise FrameRateError(f"servo frame {frame_count} with frame_rate 0; allowed: 1 to 65535 Hz")
    return ServoFrame(frame_rate, frame_count, tuple(pwm_us))


def encode_frame(frame: ServoFrame) -> bytes:
    """Datagram of a servo frame, in ArduPilot's format.

    Raises:
        ProtocolError: neither 16 nor 32 channels, or a number does not fit into its field (uint16; the count uint32).
    """
    magic = _MAGIC_OF_CHANNELS.get(len(frame.pwm_us))
    if magic is None:
        raise ProtocolError(f"servo frame with {len(frame.pwm_us)} channels; allowed: 16 or 32")
    try:
        return _FRAMES[magic].pack(magic, frame.frame_rate, frame.frame_count, *frame.pwm_us)
    except struct.error as error:
        raise ProtocolError(f"servo frame {frame}: {error}") from error
