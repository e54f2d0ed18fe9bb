"""Form of serialised messages in which equal messages have equal bytes.

CDR aligns each primitive to its size, and ROS leaves the padding undefined: two serialised forms of one message may
differ there. `WireFormat` writes zeros; messages that rclpy serialises are converted here.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from rosflight_py_sim.interfaces.message_definitions import message_class, type_name_of
from rosflight_py_sim.step.wire import WireFormat, WireFormatError

Canonical = Callable[[bytes], bytes]


def canonical_form(type_name: str) -> Canonical:
    """Function that converts a message of the type `package/msg/Name`.

    Raises:
        ImportError: the package is not installed, or has no such type.
    """
    message_type = message_class(type_name)

    def convert(message: bytes) -> bytes:
        return repr(_plain(deserialize_message(message, message_type))).encode()

    return convert


def canonical_form_of_own(message_type: Any) -> Canonical:
    """As `canonical_form`, for messages of this package's nodes: those with a fixed layout need no conversion."""
    return bytes if _is_fixed(message_type) else canonical_form(type_name_of(message_type))


@cache
def _is_fixed(message_type: Any) -> bool:
    try:
        WireFormat(message_type)
    except WireFormatError:
        return False
    return True


def _plain(value: Any) -> Any:
    """The value as nested tuples of numbers, texts and bytes."""
    if hasattr(value, "get_fields_and_field_types"):
        return tuple(_plain(getattr(value, field)) for field in value.get_fields_and_field_types())
    if isinstance(value, array | np.ndarray):
        return value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value
