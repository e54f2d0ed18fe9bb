"""Values of the dialect's fields: texts, and parameters of two types in one field."""

from __future__ import annotations

import textwrap
from struct import Struct

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.rosflight_mavlink.dialect import LONGEST_TEXT, ParamType
from rosflight_py_sim.protocols.rosflight_mavlink.layout import single

_STRUCTS = {ParamType.INT32: Struct("<i"), ParamType.REAL32: Struct("<f")}


class ParamTypeError(ProtocolError):
    """Type of a parameter that the firmware does not have."""


def text_of(field: bytes) -> str:
    """Text of a field of characters, which ends at the first 0, if there is one; other than ASCII is replaced."""
    return field.partition(b"\0")[0].decode("ascii", "replace")


def status_texts(text: str) -> list[bytes]:
    """Fields of the status texts that carry a text: its lines, broken between words where they are too long."""
    lines = (part for line in text.splitlines() for part in textwrap.wrap(line, LONGEST_TEXT))
    return [line.encode("ascii", "replace") for line in lines]


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
    return value
