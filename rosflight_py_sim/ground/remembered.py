"""Results that depend on parameters alone, computed once for the vehicles of many flights.

    @remembered
    def inertia_matrix(values: Values) -> NDArray[np.float64]: ...

The first call notes which parameters the function reads. A later call whose parameters have the same values gets a copy
of the result. A value that was not read does not matter: a parameter that determines which others are read is read
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import wraps
from typing import Any, TypeVar

from rosflight_py_sim.ground.parameters import Value, Values

R = TypeVar("R")

_RESULTS = 4
"""Number of results of a function that are remembered, the newest ones."""

_ABSENT: Any = object()


class _Reading(Mapping[str, Value]):
    """The values, with a note of each that is read."""

    def __init__(self, values: Values) -> None:
        self.read: dict[str, Value] = {}
        self._values = values

    def __getitem__(self, name: str) -> Value:
        value = self._values.get(name, _ABSENT)
        # A list may be changed later.
        self.read[name] = copy(value)
        if value is _ABSENT:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def remembered(function: Callable[[Values], R]) -> Callable[[Values], R]:
    """Remember the last results of a function that reads nothing but parameters, and changes nothing.

    The result is copied (`copy.copy`), so the caller may change it.
    """
    results: tuple[tuple[dict[str, Value], R], ...] = ()

    @wraps(function)
    def recalled(values: Values) -> R:
        nonlocal results
        for read, result in results:
            if all(_is_same(values.get(name, _ABSENT), value) for name, value in read.items()):
                return copy(result)
        reading = _Reading(values)
        result = function(reading)
        results = (reading.read, copy(result)), *results[: _RESULTS - 1]
        return result

    return recalled


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values are equal, with their types and the sign of a zero."""
    return one is other or repr(one) == repr(other)
