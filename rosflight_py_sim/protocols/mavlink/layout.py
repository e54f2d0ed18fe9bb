"""Layout of MAVLink messages: order of the fields in the payload, and the checksum that identifies the definition.

Source: MAVLink developer guide, "Packet Serialization" (field reordering, CRC_EXTRA).
"""

from __future__ import annotations

import math
import re
from binascii import crc_hqx
from collections.abc import Callable, Sequence
from itertools import chain
from operator import itemgetter
from struct import Struct
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_type_hints

M = TypeVar("M", bound=type)

_FORMATS = {
    "char": "s",
    "uint8_t": "B",
    "int16_t": "h",
    "uint16_t": "H",
    "int32_t": "i",
    "uint32_t": "I",
    "int64_t": "q",
    "uint64_t": "Q",
    "float": "f",
    "double": "d",
}
_SIZES = {name: Struct(f"<{code}").size for name, code in _FORMATS.items()}

_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_CRC_START = 0xFFFF


_LARGEST_SINGLE = (2.0 - 2.0**-23) * 2.0**127


class Kind(NamedTuple):
    """Type of a field.

    Attributes:
        name: name of the element type.
        length: number of elements; 0 if the field is not an array.
        is_raw: whether the message has the field's bytes instead of its value.
    """

    name: str
    length: int = 0
    is_raw: bool = False

    @property
    def format(self) -> str:
        """Format of the field for `struct`."""
        return f"{_SIZES[self.name]}s" if self.is_raw else f"{self.length or ''}{_FORMATS[self.name]}"


U8: TypeAlias = Annotated[int, Kind("uint8_t")]
U16: TypeAlias = Annotated[int, Kind("uint16_t")]
U32: TypeAlias = Annotated[int, Kind("uint32_t")]
U64: TypeAlias = Annotated[int, Kind("uint64_t")]
I16: TypeAlias = Annotated[int, Kind("int16_t")]
I32: TypeAlias = Annotated[int, Kind("int32_t")]
I64: TypeAlias = Annotated[int, Kind("int64_t")]
F32: TypeAlias = Annotated[float, Kind("float")]
F64: TypeAlias = Annotated[float, Kind("double")]
Bits: TypeAlias = Annotated[bytes, Kind("float", is_raw=True)]
"""A float whose bits are those of a value of another type."""


def crc_x25(data: bytes) -> int:
    """CRC-16/MCRF4XX of MAVLink's frames: polynomial 0x1021, bits reflected, initial value 0xFFFF."""
    # binascii computes the unreflected form of the same polynomial.
    crc = crc_hqx(data.translate(_REVERSED_BITS), _CRC_START)
    return _REVERSED_BITS[crc & 0xFF] << 8 | _REVERSED_BITS[crc >> 8]


def _as_array(value: Any, is_array: bool) -> Any:
    return value if is_array else (value,)


def _picking(places: Sequence[int | slice]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Function that returns the elements of a sequence at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    (place,) = places
    return lambda elements: (elements[place],)


class Layout:
    """How a message is written in a payload.

    Attributes:
        number: id of the message.
        name: name of the message in the dialect.
        size: length of the payload, bytes.
        crc_extra: byte that the checksum of each frame includes, so that two definitions are not confused.
        seed: that byte.
    """

    def __init__(self, number: int, message: Callable[..., Any], name: str, kinds: Sequence[tuple[str, Kind]]) -> None:
        self.number, self.name = number, name
        self._make = message
        # Larger types first, otherwise in the order of the definition.
        order = sorted(range(len(kinds)), key=lambda index: -_SIZES[kinds[index][1].name])
        in_payload = [kinds[index] for index in order]
        self._struct = Struct("<" + "".join(kind.format for _, kind in in_payload))
        self.size = self._struct.size
        self.crc_extra = _crc_extra(name, in_payload)
        self.seed = bytes((self.crc_extra,))
        self._in_order = _picking(order)
        self._is_array = [kind.length > 0 and kind.name != "char" for _, kind in in_payload]
        self._has_arrays = any(self._is_array)
        # Of each field, in the order of the definition, the elements of the unpacked payload.
        places: list[int | slice] = [0] * len(kinds)
        place = 0
        for index, (_, kind), is_array in zip(order, in_payload, self._is_array, strict=True):
            places[index] = slice(place, place + kind.length) if is_array else place
            place += kind.length if is_array else 1
        self._in_definition = _picking(places)

    def pack(self, message: Sequence[Any]) -> bytes:
        """Payload of a message; numbers beyond single precision become infinite.

        Raises:
            struct.error: a value does not fit its field.
        """
        values = self._in_order(message)
        if self._has_arrays:
            values = tuple(chain.from_iterable(map(_as_array, values, self._is_array)))
        try:
            return self._struct.pack(*values)
        except OverflowError:
            return self._struct.pack(*map(single, values))

    def unpack(self, payload: bytes) -> Any:
        """Message of a payload of `size` bytes."""
        return self._make(*self._in_definition(self._struct.unpack(payload)))


class Layouts:
    """The layouts of a dialect's messages, by class and by id."""

    def __init__(self) -> None:
        self.of: dict[type, Layout] = {}
        self.numbered: dict[int, Layout] = {}

    def message(self, number: int) -> Callable[[M], M]:
        """Class decorator that adds a NamedTuple, whose annotations are the types of the fields."""

        def add(cls: M) -> M:
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).upper()
            hints = get_type_hints(cls, include_extras=True)
            kinds = [(field.rstrip("_"), hints[field].__metadata__[0]) for field in cls._fields]  # type: ignore[attr-defined]
            self.of[cls] = self.numbered[number] = Layout(number, cls, name, kinds)
            return cls

        return add


def single(value: Any) -> Any:
    """The value; infinite if it is a number beyond single precision, as a conversion in C makes it."""
    is_beyond = isinstance(value, float) and abs(value) > _LARGEST_SINGLE
    return math.copysign(math.inf, value) if is_beyond else value


def _crc_extra(name: str, fields: Sequence[tuple[str, Kind]]) -> int:
    text = f"{name} ".encode()
    for field, kind in fields:
        text += f"{kind.name} {field} ".encode()
        if kind.length:
            text += bytes([kind.length])
    crc = crc_x25(text)
    return (crc & 0xFF) ^ (crc >> 8)
