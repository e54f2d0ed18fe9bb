"""Values of the dialect's fields: texts, and parameters of two types in one field."""

from __future__ import annotations

from struct import Struct

import numpy as np

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.mavlink.layout import single
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import LONGEST_TEXT, ParamType

_STRUCTS = {ParamType.INT32: Struct("<i"), ParamType.REAL32: Struct("<f")}


class ParamTypeError(ProtocolError):
    """Type of a parameter that the firmware does not have."""


def text_of(field: bytes) -> str:
    """Text of a field of characters, which ends at the first 0, if there is one; other than ASCII is replaced."""
    return field.partition(b"\0")[0].decode("ascii", "replace")


def status_texts(text: str) -> list[bytes]:
    """Fields of the status texts that carry a text: pieces that end after a space where there is one."""
    fields = []
    rest = text.encode("ascii", "replace")
    while len(rest) > LONGEST_TEXT:
        end = rest.rfind(b" ", 0, LONGEST_TEXT) + 1 or LONGEST_TEXT
        fields.append(rest[:end])
        rest = rest[end:]
    return [*fields, rest]


class StatusLines:
    """Joins the pieces of `status_texts`.

    Attributes:
        last: the newest whole text, until `forget` is called.
    """

    def __init__(self) -> None:
        self.last = ""
        self._begun = ""

    def add(self, field: bytes) -> str | None:
        """Add a piece; return the text that it completes, or None."""
        piece = text_of(field)
        self._begun += piece
        if piece.endswith(" ") or (len(piece) == LONGEST_TEXT and " " not in piece):
            return None
        self.last, self._begun = self._begun, ""
        return self.last

    def forget(self) -> None:
        """Forget the last text: another message has followed it."""
        self.last = ""


def param_type(value: float) -> ParamType:
    """Type of a parameter: INT32 for an int, otherwise REAL32."""
    return ParamType.INT32 if isinstance(value, int) else ParamType.REAL32


def parameter_bits(value: float) -> bytes:
    """`param_value` of a parameter, an int or a float."""
    return _STRUCTS[param_type(value)].pack(single(value))


def parameter_value(bits: bytes, kind: int) -> float:
    """Parameter of a `param_value` and a `param_type`: an int or a float.

    Raises:
        ParamTypeError: another type.
    """
    if kind not in list(ParamType):
        allowed = " or ".join(f"{one.value} ({one.name})" for one in ParamType)
        raise ParamTypeError(f"parameter type {kind} given; allowed: {allowed}")
    value: float = _STRUCTS[ParamType(kind)].unpack(bits)[0]
    # The shortest decimal number with these bits, because a value such as 0.3 was rounded for the link.
    return float(str(np.float32(value))) if kind == ParamType.REAL32 else value
