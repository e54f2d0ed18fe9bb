"""Values at the ends of the parameters' ranges, and random ones within."""

from __future__ import annotations

import random
from collections.abc import Callable

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value


def numbers(table: ParameterTable) -> list[Parameter]:
    """Parameters that are numbers or lists of numbers."""
    return [one for one in table if one.scalar_type in (int, float)]


def changeable(table: ParameterTable) -> list[Parameter]:
    """Numbers that may change while a node runs, except the pace: a slow clock would only delay a test."""
    return [one for one in numbers(table) if not one.read_only and one.name != "real_time_multiplier"]


def filled(parameter: Parameter, old: Value, number: Callable[[], float]) -> Value:
    """A value of the parameter's type, in which each number comes from `number`."""
    kind = parameter.scalar_type
    if not isinstance(parameter.default, list):
        return kind(number())
    count = len(old) if isinstance(old, list) and old else parameter.length or 3
    return [kind(number()) for _ in range(count)]


def drawn(parameter: Parameter, rng: random.Random) -> float:
    """A number in the range: an end, or drawn uniformly or by orders of magnitude."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.scalar_type is int:
        return rng.randint(int(low), int(high))
    case = rng.randrange(5)
    if case == 0 or low == high:
        return rng.choice((low, high, *parameter.also_allowed))
    if case < 3 or low < 0.0:
        share = rng.random() if case < 3 else rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-9.0, 0.0)
        return low + share * (high - low) if case < 3 else max(low, min(high, share * max(abs(low), abs(high))))
    least = max(low, 1e-9 * high)
    return min(high, least * (high / least) ** rng.random())
