"""Fast coding of fixed-size messages.

Filling and converting an rclpy message object costs several times as much as sending it through DDS. Every message of
the step is a header followed by numbers only, so its serialised form has one layout for a given frame_id. `WireFormat`
derives that layout from the message type and codes it with one `struct` call; publishers and subscriptions then handle
the serialised bytes, which rclpy passes on unchanged. The bytes are identical to those of the ordinary message, so
other nodes, in C++ or Python, interoperate without changes.

Source of the layout: OMG DDSI-RTPS 2.5, 10.5 (plain CDR, XCDR version 1): a 4-byte encapsulation, then each
primitive aligned to its own size, counted from after the encapsulation.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from rosidl_parser.definition import Array, BasicType, NamespacedType

from rosflight_py_sim.ground.stamps import EPOCH, NANOSECONDS, pack_stamp

_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
_CODES = {
    "boolean": ("?", 1),
    "octet": ("B", 1),
    "uint8": ("B", 1),
    "int8": ("b", 1),
    "uint16": ("H", 2),
    "int16": ("h", 2),
    "uint32": ("I", 4),
    "int32": ("i", 4),
    "uint64": ("Q", 8),
    "int64": ("q", 8),
    "float": ("f", 4),
    "double": ("d", 8),
}


class WireFormatError(ValueError):
    """Bytes that are not the expected message in little-endian CDR, or a type without a fixed layout."""


def _leaves(slot_type: Any, path: str) -> list[tuple[str, str]]:
    """(path, name of the primitive type) of each number that a field consists of, in order."""
    if isinstance(slot_type, BasicType):
        return [(path, slot_type.typename)]
    if isinstance(slot_type, Array):
        size: int = slot_type.size
        return _leaves(slot_type.value_type, path) * size
    if isinstance(slot_type, NamespacedType):
        module = importlib.import_module(".".join(slot_type.namespaces))
        return _fields(getattr(module, slot_type.name), f"{path}.")
    raise WireFormatError(f"a field of type {slot_type} has no fixed size")


def _fields(message_type: Any, prefix: str = "") -> list[tuple[str, str]]:
    names = message_type.get_fields_and_field_types()
    pairs = zip(names, message_type.SLOT_TYPES, strict=True)
    return [leaf for name, slot in pairs if name != "header" for leaf in _leaves(slot, prefix + name)]


def _format(primitives: list[str], offset: int, zeros: Collection[int] = ()) -> str:
    """struct format of the primitives when the first may begin `offset` bytes into the CDR body.

    `zeros`: indices of the primitives that are always zero, which `struct` fills in.
    """
    parts = []
    for index, (name, at) in enumerate(zip(primitives, _offsets(primitives, offset), strict=True)):
        code, size = _CODES[name]
        if at > offset:
            parts.append(f"{at - offset}x")
        parts.append(f"{size}x" if index in zeros else code)
        offset = at + size
    return "".join(parts)


def _offsets(primitives: Iterable[str], offset: int) -> list[int]:
    """Offset of each primitive in the CDR body, if the part before them ends at `offset`."""
    offsets = []
    for name in primitives:
        size = _CODES[name][1]
        offset += -offset % size
        offsets.append(offset)
        offset += size
    return offsets


class Place(NamedTuple):
    """Place of numbers in a serialised message.

    Attributes:
        offset: offset of the first number from the end of the encapsulation, bytes.
        code: type of the numbers, as a format character of `struct`.
        size: how many numbers there are.
    """

    offset: int
    code: str
    size: int


class Coders(NamedTuple):
    """Functions for the messages of a topic.

    Attributes:
        encode: serialises a message.
        decode: deserialises a message.
        as_received: rounds a message as encoding and decoding would (float32 fields); None if they change nothing.
        places: for messages that always have the same layout, the place of each field, by name.
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    as_received: Callable[[Any], Any] | None = None
    places: Mapping[str, Place] = MappingProxyType({})


def _pick(start: int, count: int) -> str:
    return f"u[{start}]" if count == 1 else f"u[{start}:{start + count}]"


class WireFormat:
    """Coder of a message type that is a `std_msgs/Header` followed by numbers. Times are integer nanoseconds.

    Attributes:
        message_type: ROS message type.
        fields: number of numbers that follow the header.
    """

    def __init__(self, message_type: Any, frame_id: str = "") -> None:
        header = message_type.SLOT_TYPES[0]
        if not (isinstance(header, NamespacedType) and header.name == "Header"):
            raise WireFormatError(f"{message_type.__name__} does not begin with a header")
        self.message_type = message_type
        self._leaves = _fields(message_type)
        self._primitives = [primitive for _, primitive in self._leaves]
        self.fields = len(self._primitives)
        self._frame = frame_id.encode() + b"\x00"
        self._offsets = _offsets(self._primitives, 12 + len(self._frame))
        self._encode = self._encoder()
        self._decoder = lru_cache(maxsize=8)(self._make_decoder)

    def _encoder(self, zeros: Collection[int] = ()) -> Callable[..., bytes]:
        """Function of encapsulation, stamp, length of the frame_id, frame_id, and the numbers but `zeros`."""
        length = len(self._frame)
        return struct.Struct(f"<4siII{length}s" + _format(self._primitives, 12 + length, zeros)).pack

    def _make_decoder(self, frame_length: int) -> Any:
        return struct.Struct(f"<4xiI4x{frame_length}x" + _format(self._primitives, 12 + frame_length)).unpack_from

    def encode(self, time_ns: int, *values: float) -> bytes:
        """Serialised message with the stamp `time_ns` and the numbers in field order."""
        seconds, nanoseconds = divmod(time_ns + EPOCH.ns, NANOSECONDS)
        return self._encode(_LITTLE_ENDIAN, seconds, nanoseconds, len(self._frame), self._frame, *values)

    def decode(self, message: bytes) -> tuple[Any, ...]:
        """(stamp seconds, stamp nanoseconds, numbers in field order) of a serialised message.

        Raises:
            WireFormatError: not little-endian CDR of this type.
        """
        if message[1:2] != b"\x01":
            raise WireFormatError(
                f"{self.message_type.__name__}: encapsulation {message[:2]!r} is not little-endian CDR"
            )
        try:
            unpacked: tuple[Any, ...] = self._decoder(int.from_bytes(message[12:16], "little"))(message)
        except struct.error as error:
            raise WireFormatError(f"{self.message_type.__name__}: {error}") from error
        return unpacked

    def coders(
        self, message: Callable[..., Any], paths: Mapping[str, str], constants: Mapping[str, Iterable[float]]
    ) -> Coders:
        """Functions that encode and decode a named tuple, as fast as handwritten code.

        Args:
            message: named tuple class: time_ns, then the fields.
            paths: field to path in the ROS message ("wrench.force"); a path of several numbers is a sequence of them.
            constants: path to its numbers; a number that neither a field nor a constant covers is zero.

        Raises:
            WireFormatError: a path is not in the message.
        """
        # taken: from all numbers of the message, the first two being the stamp. own_: from those of the fields only.
        taken, own_taken = ["u[0] * NANOSECONDS + u[1] - EPOCH.ns"], ["m[0]"]
        given, own_given, own_codes = ["0"] * self.fields, [], "<"
        for path, values in constants.items():
            span = self._span(path)
            given[span] = [repr(value) for value in values]
        for k, path in enumerate(paths.values(), start=1):
            span = self._span(path)
            count, own_start = span.stop - span.start, len(own_codes) - 1
            taken.append(_pick(span.start + 2, count))
            own_taken.append(_pick(own_start, count))
            given[span] = [f"m[{k}]" if count == 1 else f"*m[{k}]", *[""] * (count - 1)]
            own_given.append(given[span.start])
            own_codes += "".join(_CODES[primitive][0] for primitive in self._primitives[span])
        zeros = {index for index, text in enumerate(given) if text == "0"}
        names = {
            "NANOSECONDS": NANOSECONDS,
            "EPOCH": EPOCH,
            "new": tuple.__new__,
            "message": message,
            "pack": self._encoder(zeros),
        }
        names |= {"start": _LITTLE_ENDIAN, "length": len(self._frame), "frame": self._frame}
        # eval, as in namedtuple and dataclass: the text contains only numbers and the names given here.
        numbers = ", ".join(text for text in given if text not in ("", "0"))
        stamp = "*divmod(m[0] + EPOCH.ns, NANOSECONDS)"
        encode: Callable[[Any], bytes] = eval(f"lambda m: pack(start, {stamp}, length, frame, {numbers})", names)  # noqa: S307
        build: Callable[[Any], Any] = eval(f"lambda u: new(message, ({', '.join(taken)},))", names)  # noqa: S307
        unpack = self.decode
        places = {field: self.place(path) for field, path in paths.items()}
        if "f" not in own_codes:
            return Coders(encode, lambda data: build(unpack(data)), None, places)
        are_single = not any(one.startswith("*") for one in own_given)
        own = struct.Struct(f"<q{own_codes[1:]}" if are_single else own_codes)
        names |= {"own_pack": own.pack, "own_unpack": own.unpack}
        received = "lambda m: new(message, own_unpack(own_pack(*m)))"
        if not are_single:
            rebuild = f"lambda m, u: new(message, ({', '.join(own_taken)},))"
            names["rebuild"] = eval(rebuild, names)  # noqa: S307
            received = f"lambda m: rebuild(m, own_unpack(own_pack({', '.join(own_given)})))"
        return Coders(encode, lambda data: build(unpack(data)), eval(received, names), places)  # noqa: S307

    def place(self, path: str) -> Place:
        """Place of the numbers of a path, which are of one type.

        Raises:
            WireFormatError: the path is not in the message, or has numbers of several types.
        """
        span = self._span(path)
        codes = {_CODES[primitive][0] for primitive in self._primitives[span]}
        if len(codes) > 1:
            raise WireFormatError(f"{self.message_type.__name__}.{path} has numbers of several types")
        return Place(self._offsets[span.start], codes.pop(), span.stop - span.start)

    def _span(self, path: str) -> slice:
        """Indices of the numbers of a path, among those after the header."""
        at = [k for k, (leaf, _) in enumerate(self._leaves) if leaf == path or leaf.startswith(f"{path}.")]
        if not at:
            raise WireFormatError(f"{self.message_type.__name__} has no field {path!r}")
        return slice(at[0], at[-1] + 1)


@lru_cache(maxsize=8)
def _named_head(names: tuple[str, ...]) -> bytes:
    """Serialised JointState from after the stamp to the first number: frame_id, names and the count of numbers."""
    # Offsets count from after the encapsulation; the stamp has 8 bytes.
    head = struct.pack("<I1sxxxI", 1, b"\x00", len(names))
    for name in names:
        text = name.encode() + b"\x00"
        head += struct.pack("<I", len(text)) + text + bytes(-len(text) % 4)
    head += struct.pack("<I", len(names))
    return head + bytes(-len(head) % 8)


def encode_named_numbers(time_ns: int, names: tuple[str, ...], numbers: Sequence[float]) -> bytes:
    """Serialised sensor_msgs/JointState with these names and positions, without velocity and effort.

    rclpy appends bytes to a message with empty sequences that some readers of recordings refuse.
    """
    body = struct.pack(f"<{len(names)}dII", *numbers, 0, 0)
    return _LITTLE_ENDIAN + pack_stamp(time_ns) + _named_head(names) + body


def encode_clock(time_ns: int) -> bytes:
    """Serialised rosgraph_msgs/Clock."""
    return _LITTLE_ENDIAN + pack_stamp(time_ns)
