"""Conversion between Ground Control's replies and text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rosflight_py_sim.protocols import ProtocolError
from rosflight_py_sim.protocols.uthere.parameters import PARAMETERS, Number
from rosflight_py_sim.protocols.uthere.syntax import Argument, RefusedError, Statement, UthereError, shown

LARGEST_REPLY = 65_507
"""Greatest size of a packet, bytes: that of a UDP datagram over IPv4."""

LARGEST_ERROR = 512
"""Greatest size of an error reply, bytes."""

_ANY = Number(-1.7976931348623157e308, 1.7976931348623157e308, "")


@dataclass(frozen=True)
class PlaneList:
    """Numbers of all planes."""

    planes: tuple[int, ...]


@dataclass(frozen=True)
class ClientIpList:
    """Addresses of all clients."""

    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """One or more variables of a plane at a Unix time (s)."""

    time_s: float
    plane: int
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class DataAll(Data):
    """All variables of a plane at a Unix time (s), or as many as fit into one packet."""


@dataclass(frozen=True)
class ErrorReply:
    """Reason why a command was refused."""

    reason: str


Reply: TypeAlias = PlaneList | ClientIpList | Data | DataAll | ErrorReply


def plane_list_text(planes: Iterable[int]) -> str:
    """Text of a PlaneList."""
    return f"plane_list({', '.join(map(str, planes))})"


def client_ip_list_text(addresses: Iterable[str]) -> str:
    """Text of a ClientIpList."""
    return f"client_ip_list({', '.join(addresses)})"


def data_text(time_s: float, plane: int, values: Mapping[str, float]) -> str:
    """Text of a Data; time with three decimals, values with up to seven.

    Raises:
        ProtocolError: a number is not finite.
    """
    return f"{_head('data', time_s, plane)}, {', '.join(map(_value_text, values, values.values()))})"


def data_all_texts(time_s: float, plane: int, values: Mapping[str, float], largest: int = LARGEST_REPLY) -> list[str]:
    """Texts of a DataAll, each with time and plane and at most `largest` bytes long.

    Raises:
        ProtocolError: a number is not finite, or a name does not fit into a packet.
    """
    head = _head("data_all", time_s, plane)
    texts, text = [], head
    for name, value in values.items():
        more = ", " + _value_text(name, value)
        if len(head) + len(more) >= largest:
            raise ProtocolError(f"variable {shown(name)} is too long for a packet of {largest} bytes")
        if len(text) + len(more) >= largest:
            texts.append(text + ")")
            text = head
        text += more
    return [*texts, text + ")"]


def error_text(reason: str) -> str:
    """Text of an ErrorReply: one line of ASCII, truncated if it is too long."""
    line = " ".join(reason.encode("ascii", "replace").decode("ascii").split())
    return f"error({line[: LARGEST_ERROR - len('error()')]})"


def parse_reply(text: str) -> Reply | UthereError:
    """Reply from the text of a packet, or the error in it; raises no exception."""
    try:
        return _reply(text)
    except RefusedError as problem:
        return UthereError(problem.reason, problem.column)


def _head(name: str, time_s: float, plane: int) -> str:
    if not math.isfinite(time_s):
        raise ProtocolError(f"time {time_s}; allowed: finite")
    return f"{name}({time_s:.3f}, plane={plane}"


def _value_text(name: str, value: float) -> str:
    if not math.isfinite(value):
        raise ProtocolError(f"{name}={value}; allowed: finite")
    # No exponent, which old programs may not parse, and no minus sign before zero.
    digits = f"{value:.7f}".rstrip("0").rstrip(".")
    return f"{name}={'0' if digits == '-0' else digits}"


def _reply(text: str) -> Reply:
    opening, _, reason = text.strip().partition("(")
    if opening.strip().lower() == "error" and reason.endswith(")"):
        return ErrorReply(reason[:-1])
    statement = Statement(text)
    start = statement.column
    name = statement.name()
    arguments = statement.arguments()
    if name == "plane_list":
        return PlaneList(tuple(int(PARAMETERS["plane"].read(argument)) for argument in _unnamed(arguments)))
    if name == "client_ip_list":
        return ClientIpList(tuple(argument.value for argument in _unnamed(arguments)))
    if name in ("data", "data_all"):
        return _data(DataAll if name == "data_all" else Data, start, arguments)
    raise RefusedError(f"there is no reply {shown(name)}", start)


def _data(kind: type[Data], start: int, arguments: Iterator[Argument]) -> Data:
    time_s = plane = None
    values: dict[str, float] = {}
    for argument in arguments:
        if time_s is None and not argument.name:
            time_s = float(_ANY.read(argument))
        elif plane is None and argument.name == "plane":
            plane = int(PARAMETERS["plane"].read(argument))
        elif argument.name not in ("", "plane") and argument.name not in values:
            values[argument.name] = float(_ANY.read(argument))
        else:
            raise RefusedError(f"'{argument.name or argument.value}' is given twice", argument.column)
    if time_s is None or plane is None:
        raise RefusedError("data without time and plane", start)
    return kind(time_s, plane, values)


def _unnamed(arguments: Iterator[Argument]) -> Iterator[Argument]:
    for argument in arguments:
        if argument.name:
            raise RefusedError(f"'{argument.name}=' given; allowed: values without names", argument.column)
        yield argument
