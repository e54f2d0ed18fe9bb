"""Messages of a recording as columns of numbers, decoded together from the type definition in the recording.

Messages that consist of numbers, after an optional `std_msgs/Header`, have one layout for a given frame_id (plain
CDR; OMG DDSI-RTPS 2.5, 10.5), so numpy decodes all of them at once. Types need not be installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from rosflight_py_sim.recording.mcap_file import Topic

Array = npt.NDArray[np.float64]

_CODES = {
    "bool": "u1",
    "byte": "u1",
    "char": "u1",
    "uint8": "u1",
    "int8": "i1",
    "uint16": "u2",
    "int16": "i2",
    "uint32": "u4",
    "int32": "i4",
    "uint64": "u8",
    "int64": "i8",
    "float32": "f4",
    "float64": "f8",
}
_FRAME_ID = "header.frame_id"
# Encapsulation and stamp come before the length of the frame_id.
_FRAME_LENGTH = slice(12, 16)
_FIELD = re.compile(r"([\w/]+)(?:\[(\d+)\])?\s+(\w+)\s*(=?)")
_BETWEEN = re.compile(r"^={20,}\s*\n", re.MULTILINE)


class NoColumnsError(ValueError):
    """Messages whose layout is not fixed, or does not match their type."""


# Bounds of a type, which a damaged definition would exceed.
_MOST_FIELDS, _MOST_NUMBERS, _DEEPEST = 1000, 1_000_000, 8


@dataclass(frozen=True)
class _Field:
    path: str
    code: str
    count: int


@dataclass
class Columns:
    """Decoded messages of a topic.

    Attributes:
        time_s: times of the messages, s; shape (n,).
        values: by path of the field, such as `pose.position.x`; shape (n,), or (n, k) for an array.
    """

    time_s: Array
    values: dict[str, Array]

    def __len__(self) -> int:
        return len(self.time_s)

    def stack(self, *paths: str) -> Array:
        """Fields side by side; shape (n, number of paths)."""
        return np.stack([self.values[path] for path in paths], axis=1)


def columns(topic: Topic) -> Columns:
    """Decode the kept messages of a topic.

    Raises:
        NoColumnsError: the type has strings or lists besides the header's frame_id, or a message does not match.
    """
    if topic.encoding != "cdr" or topic.schema_encoding != "ros2msg":
        raise NoColumnsError(f"{topic.name}: messages in '{topic.encoding}' of types in '{topic.schema_encoding}'")
    definitions = _definitions(topic.definition, topic.type_name)
    fields = list(islice(_fields(definitions, topic.type_name, ""), _MOST_FIELDS + 1))
    if len(fields) > _MOST_FIELDS or sum(field.count for field in fields) > _MOST_NUMBERS:
        raise NoColumnsError(f"{topic.name}: more than {_MOST_FIELDS} fields or {_MOST_NUMBERS} numbers in a message")
    stamped = any(field.path == _FRAME_ID for field in fields)
    groups: dict[tuple[int, bytes, bytes], list[int]] = {}
    for number, body in enumerate(topic.messages):
        key = (len(body), body[1:2], body[_FRAME_LENGTH] if stamped else b"")
        groups.setdefault(key, []).append(number)
    parts = []
    for (length, order, frame), numbers in groups.items():
        dtype = _layout(topic.name, fields, length, order, frame)
        parts.append((numbers, np.frombuffer(b"".join(topic.messages[number] for number in numbers), dtype)))
    values: dict[str, Array] = {}
    for field in fields:
        if field.path != _FRAME_ID:
            shape = (len(topic.messages), field.count) if field.count > 1 else len(topic.messages)
            values[field.path] = np.empty(shape)
            for numbers, rows in parts:
                values[field.path][numbers] = rows[field.path]
    return Columns(topic.kept_s, values)


def _layout(name: str, fields: list[_Field], length: int, order: bytes, frame: bytes) -> np.dtype[np.void]:
    if order not in (b"\x00", b"\x01"):
        raise NoColumnsError(
            f"{name}: a message is not plain CDR; if the file is of a folder with compressed messages, give the folder"
        )
    little = "<" if order == b"\x01" else ">"
    names, formats, offsets = [], [], []
    at = 0
    for field in fields:
        if field.path == _FRAME_ID:
            at += -at % 4 + 4 + int.from_bytes(frame, "little" if order == b"\x01" else "big")
            continue
        size = int(field.code[1:])
        at += -at % size
        names.append(field.path)
        formats.append(f"{field.count}{little}{field.code}" if field.count > 1 else little + field.code)
        offsets.append(4 + at)
        at += size * field.count
    # Some writers pad the message to a multiple of four bytes.
    if not 0 <= length - 4 - at < 4:
        raise NoColumnsError(f"{name}: a message of {length} bytes does not match its type")
    if len(set(names)) < len(names):
        raise NoColumnsError(f"{name}: a field occurs twice in its type")
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": length})  # type: ignore[call-overload,no-any-return]


def _definitions(text: str, type_name: str) -> dict[str, str]:
    """Definitions of the types, by name such as `package/Name`."""
    first, *others = _BETWEEN.split(text)
    found = {_short(type_name): first}
    for other in others:
        head, _, body = other.partition("\n")
        found[_short(head.removeprefix("MSG:").strip())] = body
    return found


def _fields(definitions: dict[str, str], type_name: str, path: str) -> Iterator[_Field]:
    name = _short(type_name)
    if name not in definitions:
        raise NoColumnsError(f"the type {name} is not in the recording")
    if path.count(".") > _DEEPEST:
        raise NoColumnsError(f"the type {name} is nested more than {_DEEPEST} deep")
    for line in definitions[name].splitlines():
        match = _FIELD.match(line.partition("#")[0].strip())
        if match is None:
            if line.partition("#")[0].strip():
                raise NoColumnsError(f"{name} has a field without a fixed size: {line.strip()}")
            continue
        kind, count, field, constant = match.groups()
        own = f"{path}{field}"
        if constant:
            continue
        if kind in _CODES:
            yield _Field(own, _CODES[kind], int(count or 1))
        elif kind == "string" and own == _FRAME_ID and not count:
            yield _Field(own, "", 1)
        elif kind in ("string", "wstring") or count:
            raise NoColumnsError(f"{name} has a field without a fixed size: {line.strip()}")
        else:
            yield from _fields(definitions, _resolved(kind, name), f"{own}.")


def _resolved(kind: str, within: str) -> str:
    if "/" in kind:
        return kind
    return "std_msgs/Header" if kind == "Header" else f"{within.split('/')[0]}/{kind}"


def _short(type_name: str) -> str:
    """`package/Name` from `package/msg/Name`."""
    parts = type_name.split("/")
    return f"{parts[0]}/{parts[-1]}"
