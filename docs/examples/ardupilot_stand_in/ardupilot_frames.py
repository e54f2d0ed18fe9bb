"""ArduPilot's servo frame, byte by byte, independent of the simulator's codec."""

from __future__ import annotations

from collections.abc import Sequence

MAGICS = {16: 18458, 32: 29569}
"""Number of channels to the magic number of a frame."""


def servo_frame(frame_rate: int, frame_count: int, pwm_us: Sequence[int]) -> bytes:
    """Little-endian: magic and rate (Hz) of two bytes, count of four, then two bytes per channel (us)."""
    head = (MAGICS[len(pwm_us)], frame_rate)
    words = [*head, frame_count & 0xFFFF, frame_count >> 16 & 0xFFFF, *pwm_us]
    return b"".join(word.to_bytes(2, "little") for word in words)
