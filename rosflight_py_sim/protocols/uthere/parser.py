"""Conversion between packets and commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.uthere.commands import (
    CLASS_OF_NAME,
    NAME_OF_CLASS,
    OTHER_SPELLINGS,
    Command,
    Fly,
    FlyToWaypoint,
)
from rosflight_py_sim.protocols.uthere.parameters import PARAMETERS
from rosflight_py_sim.protocols.uthere.syntax import Argument, RefusedError, Statement, UthereError, shown, statements

MOST_COMMANDS = 1024
"""Greatest number of commands in a packet; larger packets are attacks on computing time."""

_OPTIONAL_OF_NAME: dict[str, dict[str, bool]] = {
    name: {field: type(None) in get_args(hint) for field, hint in get_type_hints(kind).items()}
    for name, kind in CLASS_OF_NAME.items()
}
"""Parameters of each command, and whether each is optional."""

_TARGETS = {
    "latitude+longitude, course, heading, roll": (("latitude", "longitude"), ("course",), ("heading",), ("roll",)),
    "airspeed, pitch": (("airspeed",), ("pitch",)),
    "altitude, climb, throttle": (("altitude",), ("climb",), ("throttle",)),
}
"""Targets of fly(), lateral, speed and vertical, of which exactly one each is required: text, and parameters."""


def parse_packet(packet: bytes) -> list[Command | UthereError]:
    """Commands of a packet, in order, with an UthereError in place of each invalid one.

    No input raises an exception, and the time is at most proportional to the packet's size. NULs at the end, as sent by
    programs in C, are ignored.
    """
    found: list[Command | UthereError] = []
    # latin-1 decodes each byte to one character; characters that are not ASCII are refused with their column.
    for line, column, text in statements(packet.rstrip(b"\0").decode("latin-1")):
        if len(found) == MOST_COMMANDS:
            found.append(UthereError(f"more than {MOST_COMMANDS} commands in a packet", column, line))
            break
        try:
            found.append(_command(Statement(text, column)))
        except RefusedError as problem:
            found.append(UthereError(problem.reason, problem.column, line))
    return found


def text_of(command: Command) -> str:
    """Line of a command, which `parse_packet` converts back to the same command.

    Raises:
        ProtocolError: the command cannot be expressed as a line; the text gives the reason.
    """
    values = {field.name: getattr(command, field.name) for field in fields(command)}
    arguments = [
        PARAMETERS[name].text(value) if isinstance(command, FlyToWaypoint) else f"{name}={PARAMETERS[name].text(value)}"
        for name, value in values.items()
        if value is not None
    ]
    name = NAME_OF_CLASS[type(command)]
    text = f"{name}({','.join(arguments)})" if arguments else name
    again = parse_packet(text.encode("latin-1", "replace"))
    if again != [command]:
        raise ProtocolError(f"{command}: {again[0] if again else 'no command'}")
    return text


def _command(statement: Statement) -> Command:
    start = statement.column
    name = statement.name()
    name = OTHER_SPELLINGS.get(name, name)
    kind = CLASS_OF_NAME.get(name)
    if kind is None:
        raise RefusedError(f"there is no command {shown(name)}; allowed: {', '.join(CLASS_OF_NAME)}", start)
    optional = _OPTIONAL_OF_NAME[name]
    values: dict[str, Any] = dict.fromkeys(optional)
    columns: dict[str, int] = {}
    for argument in statement.arguments():
        given = argument
        if not given.name and kind is FlyToWaypoint:
            given = Argument("waypointid", given.value, given.column, given.value_column)
        _check_name(name, given, optional, columns)
        columns[given.name] = given.column
        values[given.name] = PARAMETERS[given.name].read(given)
    missing = [parameter for parameter, may_be_left in optional.items() if not may_be_left and parameter not in columns]
    if missing:
        raise RefusedError(f"{name} without {' and '.join(missing)}", start)
    if kind is Fly:
        _check_targets(start, columns)
    return kind(**values)


def _check_name(command: str, argument: Argument, optional: Mapping[str, bool], columns: Mapping[str, int]) -> None:
    name = argument.name
    if name in optional and name not in columns:
        return
    if name in columns:
        raise RefusedError(f"'{name}' is given twice", argument.column)
    what = f"{command} has no parameter {shown(name)}" if name else f"value {shown(argument.value)} without a name"
    raise RefusedError(f"{what}; allowed: {', '.join(optional) or 'none'}", argument.column)


def _check_targets(start: int, columns: Mapping[str, int]) -> None:
    """Check for one target of each kind, and no climb with pitch.

    Raises:
        RefusedError: another combination.
    """
    for words, choices in _TARGETS.items():
        given = tuple(name for choice in choices for name in choice if name in columns)
        if not given:
            raise RefusedError(f"fly without one of {words}", start)
        if given not in choices:
            raise RefusedError(f"fly with {' and '.join(given)}; allowed: one of {words}", columns[given[-1]])
    if "pitch" in columns and "climb" in columns:
        raise RefusedError("fly with pitch and climb; allowed with pitch: altitude, throttle", columns["climb"])
