"""Numbers in messages by the names of their fields, such as `pose.position.x` or `values[3]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Largest number of elements of an array, and of levels, whose names are listed.
_ELEMENTS, _DEEPEST = 32, 6

_PART = re.compile(r"(\w+)(?:\[(\d+)\])?")


def fields_of(message: Any) -> list[str]:
    """Names of all numbers in a message, of ROS or of a recording, in their order."""
    return list(_fields(message, "", _DEEPEST))


def value_of(message: Any, field: str) -> float | None:
    """Number in a message; None if the message has none of that name, as in an array that is shorter now."""
    for name, number in _PART.findall(field):
        message = getattr(message, name, None)
        if number and message is not None:
            message = message[int(number)] if int(number) < len(message) else None
    return None if message is None else float(message)


def _fields(message: Any, prefix: str, depth: int) -> Iterator[str]:
    for name in _names(message):
        value = getattr(message, name)
        if isinstance(value, (bool, int, float)):
            yield f"{prefix}{name}"
        elif isinstance(value, (str, bytes)) or not depth:
            continue
        elif hasattr(value, "__len__"):
            for place in range(min(len(value), _ELEMENTS)):
                if not isinstance(value[place], (str, bytes)) and not _names(value[place]):
                    yield f"{prefix}{name}[{place}]"
        else:
            yield from _fields(value, f"{prefix}{name}.", depth - 1)


def _names(message: Any) -> list[str]:
    """Names of the fields of a message; none for a number."""
    declared = getattr(message, "get_fields_and_field_types", None)
    names = declared() if declared is not None else getattr(message, "__slots__", ())
    return [name for name in names if not name.startswith("_")]
