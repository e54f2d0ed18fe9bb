"""Stamps of messages as integer nanoseconds. This module imports no ROS.

Inside the simulation, simulated time counts from its start. Stamps in messages, and /clock, count from `EPOCH`, which
is the same unless the simulation's clock starts at a date.
"""

from __future__ import annotations

import struct
from typing import Any

NANOSECONDS = 1_000_000_000
"""Nanoseconds in a second."""

STAMP = struct.Struct("<iI")
"""Layout of builtin_interfaces/Time in a serialised message (CDR)."""

STAMP_AT = 4
"""Offset of the stamp in a message that begins with a header or a time: after the CDR encapsulation."""


class Epoch:
    """Time that stamps in messages have when simulated time is 0.

    One for a process, because every message that the process encodes or decodes belongs to the same simulation.

    Attributes:
        ns: the time, ns.
    """

    ns = 0


EPOCH = Epoch()


def stamp_ns(message: bytes) -> int:
    """Stamp, in nanoseconds, of a serialised message that begins with a header or a time."""
    seconds, nanoseconds = STAMP.unpack_from(message, STAMP_AT)
    return int(seconds * NANOSECONDS + nanoseconds) - EPOCH.ns


def pack_stamp(time_ns: int) -> bytes:
    """Serialised builtin_interfaces/Time."""
    return STAMP.pack(*divmod(time_ns + EPOCH.ns, NANOSECONDS))


def time_ns_of(time: Any) -> int:
    """A builtin_interfaces/Time in nanoseconds."""
    return int(time.sec * NANOSECONDS + time.nanosec) - EPOCH.ns


def set_time(time: Any, time_ns: int) -> None:
    """Set a builtin_interfaces/Time to `time_ns` nanoseconds."""
    time.sec, time.nanosec = divmod(time_ns + EPOCH.ns, NANOSECONDS)


def seconds_text(time_ns: int) -> str:
    """Readable text of a time in seconds, exact to the nanosecond: "172.5325 s"."""
    seconds, nanoseconds = divmod(time_ns, NANOSECONDS)
    return f"{seconds}.{nanoseconds:09d}".rstrip("0").rstrip(".") + " s"
