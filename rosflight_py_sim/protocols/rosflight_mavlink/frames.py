"""Frames of ROSflight's dialect, which are those of MAVLink 1."""

from __future__ import annotations

from collections import Counter

from rosflight_py_sim.protocols.mavlink import frames
from rosflight_py_sim.protocols.mavlink.frames import Frame, Mavlink1
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import LAYOUTS

__all__ = ["Frame", "FrameReader", "encode_frame"]


def encode_frame(frame: Frame) -> bytes:
    """Bytes of a frame.

    Raises:
        struct.error: a value does not fit its field.
    """
    return Mavlink1.encode(LAYOUTS, frame)


class FrameReader(frames.FrameReader):
    """Finds frames of the dialect."""

    def __init__(self, counters: Counter[str] | None = None) -> None:
        """Use `counters`, which readers may share."""
        super().__init__(Mavlink1, LAYOUTS, counters)
