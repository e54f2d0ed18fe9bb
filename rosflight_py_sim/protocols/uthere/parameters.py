"""Parameters of the commands; a name has the same meaning in every command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from rosflight_py_sim.protocols.uthere.syntax import Argument, RefusedError, checked_name, shown

Value: TypeAlias = int | float | str

LARGEST_ID = 2**31 - 1

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"[-+]?[0-9]+")


@dataclass(frozen=True)
class Number:
    """A number from `minimum` to `maximum`."""

    minimum: float
    maximum: float
    unit: str
    form: ClassVar[re.Pattern[str]] = _NUMBER
    kind: ClassVar[type[int] | type[float]] = float

    @property
    def allowed(self) -> str:
        """Allowed values in words."""
        what = "whole number" if self.kind is int else "number"
        return f"{what} from {self.minimum:.10g} to {self.maximum:.10g} {self.unit}".rstrip()

    def read(self, argument: Argument) -> Value:
        """The value of an argument.

        Raises:
            RefusedError: not a number, or out of range.
        """
        text = argument.value
        value = self.kind(text) if self.form.fullmatch(text) else None
        if value is None or not self.minimum <= value <= self.maximum:
            given = f"{argument.name}={shown(text)}" if argument.name else shown(text)
            raise RefusedError(f"{given} given; allowed: {self.allowed}", argument.value_column)
        return value

    @staticmethod
    def text(value: Value) -> str:
        """Shortest text that reads back as the value."""
        return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


@dataclass(frozen=True)
class Integer(Number):
    """A whole number from `minimum` to `maximum`."""

    unit: str = ""
    form: ClassVar[re.Pattern[str]] = _WHOLE
    kind: ClassVar[type[int] | type[float]] = int


@dataclass(frozen=True)
class Name:
    """Letters, digits and underscores."""

    @staticmethod
    def read(argument: Argument) -> Value:
        """The value of an argument, in lower case.

        Raises:
            RefusedError: not a name.
        """
        return checked_name(argument.value, argument.value_column)

    @staticmethod
    def text(value: Value) -> str:
        """The name, unchanged."""
        return str(value)


# A direction computed by arctangent gives -90 deg for west.
_DIRECTION = Number(-360.0, 360.0, "deg")

PARAMETERS: dict[str, Number | Name] = {
    "plane": Integer(0, LARGEST_ID),
    "variable": Name(),
    "interval": Number(0.0, 86_400.0, "s"),
    "waypointid": Integer(0, LARGEST_ID),
    "nextwaypointid": Integer(-1, LARGEST_ID),
    "latitude": Number(-90.0, 90.0, "deg"),
    "longitude": Number(-180.0, 180.0, "deg"),
    "altitude": Number(-100_000.0, 100_000.0, ""),
    "airspeed": Number(0.0, 1_000.0, ""),
    "course": _DIRECTION,
    "heading": _DIRECTION,
    "roll": Number(-180.0, 180.0, "deg"),
    "pitch": Number(-90.0, 90.0, "deg"),
    "climb": Number(-10_000.0, 10_000.0, "ft/s"),
    "throttle": Number(0.0, 100.0, "%"),
}
"""Allowed values of each parameter.

Values beyond any aircraft are errors of the program that sent them, and are refused before the cage is checked. A next
waypoint of -1 commonly means that there is none.
"""
