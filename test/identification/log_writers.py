"""Log files of known contents, in the formats of PX4, ArduPilot and ROS 2."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcap.writer import Writer
from pyulog import ULog

from rosflight_py_sim.interfaces.message_definitions import message_definition, type_name_of
from rosflight_py_sim.step.topics import StepTopic

_ULOG_TYPES = {"f": "float", "Q": "uint64_t", "B": "uint8_t", "i": "int32_t"}


def write_ulog(
    path: Path,
    topics: Mapping[str, tuple[Sequence[tuple[str, str]], Sequence[Sequence[float]]]],
    parameters: Mapping[str, int] | None = None,
) -> None:
    """Write a ULog file by pyulog: for each topic its fields (name, struct code), and rows that begin with us."""
    file = io.BytesIO()
    file.write(b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0))

    def message(kind: bytes, body: bytes) -> None:
        file.write(struct.pack("<Hc", len(body), kind) + body)

    for name, (fields, _) in topics.items():
        parts = ["uint64_t timestamp", *(f"{_typed(code)} {field}" for field, code in fields)]
        message(b"F", f"{name}:{';'.join(parts)};".encode())
    for name, value in (parameters or {}).items():
        key = f"int32_t {name}".encode()
        message(b"P", bytes([len(key)]) + key + struct.pack("<i", value))
    for number, name in enumerate(topics):
        message(b"A", struct.pack("<BH", 0, number) + name.encode())
    for number, (fields, rows) in enumerate(topics.values()):
        layout = struct.Struct("<HQ" + "".join(code for _, code in fields))
        for row in rows:
            message(b"D", layout.pack(number, int(row[0]), *row[1:]))
    file.seek(0)
    ULog(file).write_ulog(str(path))


def _typed(code: str) -> str:
    return f"{_ULOG_TYPES[code[-1]]}[{code[:-1]}]" if len(code) > 1 else _ULOG_TYPES[code]


_DATAFLASH_CODES = {
    "Q": "Q",
    "N": "16s",
    "f": "f",
    "B": "B",
    "H": "H",
    "L": "i",
    "Z": "64s",
    "I": "I",
    "h": "h",
    "c": "h",
    "C": "H",
}


def write_dataflash(path: Path, messages: Mapping[str, tuple[str, str, Iterable[Sequence[Any]]]]) -> None:
    """Write a dataflash file as ArduPilot does: for each message its format, columns and rows.

    The messages come in the order of the first numbers in their rows. If the first column is no time, these numbers are
    not written.
    """
    head = b"\xa3\x95"
    with path.open("wb") as file:

        def declare(number: int, length: int, name: str, form: str, columns: str) -> None:
            body = struct.pack("<BB4s16s64s", number, length, name.encode(), form.encode(), columns.encode())
            file.write(head + b"\x80" + body)

        declare(128, 89, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")
        layouts = {}
        for number, (name, (form, columns, _)) in enumerate(messages.items()):
            layouts[name] = struct.Struct("<" + "".join(_DATAFLASH_CODES[code] for code in form))
            declare(number + 1, layouts[name].size + 3, name, form, columns)
        rows = [
            (row[0], number + 1, name, row)
            for number, (name, (_, _, given)) in enumerate(messages.items())
            for row in given
        ]
        for _, number, name, row in sorted(rows, key=lambda one: one[0]):
            written = row if messages[name][1].startswith("Time") else row[1:]
            file.write(head + bytes([number]) + layouts[name].pack(*written))


def write_recording(path: Path, messages: Mapping[StepTopic[Any], Sequence[Any]]) -> None:
    """Write an MCAP file with the messages of rows of the step, under their names, as a recorder of ROS 2 does."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2", library="test")
        for row, sent in messages.items():
            name = type_name_of(row.message_type)
            schema = writer.register_schema(name, "ros2msg", message_definition(name).encode())
            channel = writer.register_channel(f"/{row.name}", "cdr", schema)
            for one in sent:
                writer.add_message(channel, one.time_ns, row.encode(one), one.time_ns)
        writer.finish()
