"""Parameter tables: each parameter of a vehicle, sensor or node is declared once.

A module that has parameters lists them in one `ParameterTable`. The ROS descriptor, the check of a given value,
the error text and the page in docs/ all come from that table. This module does not import ROS.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | list[bool] | list[int] | list[float] | list[str]
Values: TypeAlias = Mapping[str, Value]


def number(values: Values, name: str) -> float:
    """A numeric parameter's value as a float.

    Raises:
        TypeError: the parameter is a text or a list.
    """
    value = values[name]
    if isinstance(value, (str, list)):
        raise TypeError(f"parameter '{name}' is not a number: {value!r}")
    return float(value)


def texts(values: Values, name: str) -> list[str]:
    """The elements of a list, as texts.

    Raises:
        TypeError: the parameter is not a list.
    """
    value = values[name]
    if not isinstance(value, list):
        raise TypeError(f"parameter '{name}' is not a list: {value!r}")
    return [str(one) for one in value]


def is_utf8(text: str) -> bool:
    """Whether a text, such as a file's name on the command line, consists of characters that UTF-8 has."""
    return text == text.encode(errors="replace").decode()


def shown(text: str) -> str:
    r"""A text for people, in which bytes that are not UTF-8 are written as \xe9."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


SMALLEST = 1e-30
"""Smallest size of a number other than 0: smaller ones, down to subnormal ones, are nothing in any unit."""


class ParameterError(ValueError):
    """Error for a parameter that is refused; the text has its name, the value given and the values allowed."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, type (that of the default), unit, range and meaning.

    `default` determines the type. A list as default means a list of that element type (for an empty list, `element`);
    `length` is the required number of elements. `minimum` and `maximum` bound each number; with `above_minimum` the
    minimum itself is excluded. `also_allowed` lists meaningful values outside the range. With `required` a value must
    be given, and the default is not used. `overrides` is the declaration from which `overridden` made this one.
    """

    name: str
    default: Value
    text: str
    unit: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf
    above_minimum: bool = False
    choices: tuple[str, ...] = ()
    length: int | None = None
    required: bool = False
    read_only: bool = False
    element: type[bool] | type[int] | type[float] | type[str] = float
    also_allowed: tuple[float, ...] = ()
    overrides: Parameter | None = field(default=None, repr=False)

    def overridden(self, reason: str, **changes: Any) -> Parameter:
        """The parameter with other values, for a node that needs them; the reason is added to the text."""
        return replace(self, text=f"{self.text}; {reason}", overrides=self, **changes)

    @property
    def declared(self) -> Parameter:
        """The shared declaration that this parameter overrides, or the parameter itself."""
        return self if self.overrides is None else self.overrides.declared

    @cached_property
    def scalar_type(self) -> type[bool] | type[int] | type[float] | type[str]:
        """Python type of the value, or of one element of it."""
        if isinstance(self.default, list):
            return type(self.default[0]) if self.default else self.element
        return type(self.default)

    @property
    def type_name(self) -> str:
        """Type in words, for errors and docs/."""
        name = {bool: "boolean", int: "integer", float: "number", str: "text"}[self.scalar_type]
        if not isinstance(self.default, list):
            return name
        count = "" if self.length is None else f"{self.length} "
        return f"list of {count}{name}s" if name != "text" else f"list of {count}texts"

    @property
    def allowed(self) -> str:
        """Allowed values in words, without the type: 'greater than 0 kg', 'from 0 to 1', 'one of wall, paced'."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        return self._bounds + "".join(f", or {value:g}" for value in self.also_allowed)

    @property
    def _bounds(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        lower = math.isfinite(self.minimum)
        upper = math.isfinite(self.maximum)
        if self.above_minimum and lower:
            bound = f"greater than {self.minimum:g}{unit}"
            return bound + (f" and at most {self.maximum:g}{unit}" if upper else "")
        if lower and upper:
            return f"from {self.minimum:g} to {self.maximum:g}{unit}"
        if lower:
            return f"at least {self.minimum:g}{unit}"
        if upper:
            return f"at most {self.maximum:g}{unit}"
        return ""

    @property
    def constraints(self) -> str:
        """Type and allowed values as text: 'number, at least 0 m', 'list of 3 numbers, each at least 0 m'."""
        each = "each " if isinstance(self.default, list) else ""
        return f"{self.type_name}, {each}{self.allowed}" if self.allowed else self.type_name

    def text_of(self, value: Value) -> str:
        """Text of a value with its unit, for errors: '3.5 kg'."""
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{text} {self.unit}" if self.unit else text

    def checked(self, value: object) -> Value:
        """The value in this parameter's type.

        An integer is accepted for a number, and a whole number for an integer.

        Raises:
            ParameterError: wrong type, wrong length, not finite, or out of range.
        """
        if isinstance(self.default, list):
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                # ros2 param sends a list of mixed types, such as [0, 4.5], as a text.
                mixed = isinstance(value, str) and value.startswith("[")
                raise self._error(
                    value, "a text: write all elements with the same type, as in [0.0, 4.5]" if mixed else ""
                )
            elements = [self._scalar(element, value) for element in value]
            if self.length is not None and len(elements) != self.length:
                raise self._error(value, f"{len(elements)} elements given")
            return elements  # type: ignore[return-value]
        return self._scalar(value, value)

    def _scalar(self, value: object, given: object) -> Scalar:
        kind = self.scalar_type
        if kind is bool or kind is str:
            if not isinstance(value, kind):
                raise self._error(given)
            if self.choices and value not in self.choices:
                raise self._error(given)
            if isinstance(value, str) and not is_utf8(value):
                raise self._error(given, "not UTF-8, which ROS requires of texts and file names")
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._error(given)
        if not math.isfinite(value) or (kind is int and value != int(value)):
            raise self._error(given)
        if 0.0 < abs(value) < SMALLEST:
            raise self._error(given, f"allowed sizes of numbers other than 0: at least {SMALLEST:g}")
        too_low = value <= self.minimum if self.above_minimum else value < self.minimum
        if (too_low or value > self.maximum) and value not in self.also_allowed:
            raise self._error(given)
        return kind(value)

    def _error(self, given: object, detail: str = "") -> ParameterError:
        # Parameter messages contain arrays, which print as array('d', [...]).
        value = given if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) else list(given)
        allowed = self.constraints
        if not self.allowed and self.scalar_type is float:
            allowed += f", finite{' ' + self.unit if self.unit else ''}"
        detail = f" ({detail})" if detail else ""
        return ParameterError(f"parameter '{self.name}': {value!r} given{detail}; allowed: {allowed}")


class ParameterTable:
    """An ordered set of parameters; tables add up with `+`.

    Tables that share a parameter must declare it identically. If one declaration overrides the other, the override
    applies.
    """

    def __init__(self, *parameters: Parameter) -> None:
        self._parameters = {parameter.name: parameter for parameter in parameters}
        if len(self._parameters) != len(parameters):
            raise ValueError("a parameter is listed twice")

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __len__(self) -> int:
        return len(self._parameters)

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __getitem__(self, name: str) -> Parameter:
        try:
            return self._parameters[name]
        except KeyError:
            raise ParameterError(self.unknown(name)) from None

    def __add__(self, other: ParameterTable) -> ParameterTable:
        together = dict(self._parameters)
        for parameter in other:
            together[parameter.name] = _agreed(together.get(parameter.name, parameter), parameter)
        return ParameterTable(*together.values())

    def unknown(self, name: str) -> str:
        """Error text for a name that is not in the table, with similar names that are."""
        near = difflib.get_close_matches(name, self._parameters, n=3, cutoff=0.6)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        return f"there is no parameter '{name}'{hint}"

    def defaults(self) -> dict[str, Value]:
        """Default of every parameter, including required ones, for tests and tools."""
        return {p.name: list(p.default) if isinstance(p.default, list) else p.default for p in self}  # type: ignore[misc]

    def given(self, values: Values, names: Iterable[str] | None = None) -> str:
        """Text of parameters with their values, for an error about several: 'mass 3.5 kg, Jxx 0.08 kg m^2'.

        Args:
            values: values of the parameters.
            names: parameters to include; None: all.
        """
        return ", ".join(f"{name} {self[name].text_of(values[name])}" for name in names or self._parameters)

    def checked(self, given: Values) -> dict[str, Value]:
        """All values of the table: those given, checked, and the defaults of the others.

        Raises:
            ParameterError: an unknown name, a missing required parameter, or a value that is not allowed.
        """
        for name in given:
            if name not in self._parameters:
                raise ParameterError(self.unknown(name))
        values = self.defaults()
        for parameter in self:
            if parameter.name in given:
                values[parameter.name] = parameter.checked(given[parameter.name])
            elif parameter.required:
                raise self.missing(parameter)
        return values

    @staticmethod
    def missing(parameter: Parameter) -> ParameterError:
        """Error for a required parameter without a value."""
        return ParameterError(
            f"parameter '{parameter.name}' is missing; it is required: {parameter.constraints} ({parameter.text})"
        )


def _agreed(one: Parameter, other: Parameter) -> Parameter:
    if one == other or one.overrides == other:
        return one
    if other.overrides == one:
        return other
    raise ValueError(f"parameter '{one.name}' is declared twice, with differences: {one} and {other}")
