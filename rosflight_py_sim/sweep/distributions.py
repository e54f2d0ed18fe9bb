"""Distributions of a sweep file: uniform, log-uniform, normal, choices and grids."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from rosflight_py_sim.graph.scenario import checked_value
from rosflight_py_sim.ground.parameters import Parameter, Scalar
from rosflight_py_sim.ground.yaml_section import Item
from rosflight_py_sim.sweep.definition import Distribution

_MOST_POINTS = 100_000

# Differences and multiples of numbers up to this size are finite, and integers up to it are exact.
_LARGEST = 1e15

# Smallest share of a normal distribution within its limits: values outside are drawn again.
_NEVER_BEYOND = 8.0  # standard deviations; a value beyond is drawn once in 1e15 times
_LEAST_SHARE = 0.01

# Distance to 1 of the largest number below 1.
_LEAST_TAIL = sys.float_info.epsilon / 2.0


@dataclass(frozen=True)
class Uniform(Distribution):
    """Numbers of equal probability from `low` to `high`."""

    low: float
    high: float

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run."""
        return float(rng.uniform(self.low, self.high))

    def quantile(self, share: float) -> Scalar:
        """Value below which a share of the values lies."""
        return self.low + share * (self.high - self.low)

    @property
    def extremes(self) -> Sequence[Scalar]:
        """The limits."""
        return self.low, self.high


@dataclass(frozen=True)
class UniformInteger(Distribution):
    """Integers of equal probability from `low` to `high`, both included."""

    low: int
    high: int

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run."""
        return int(rng.integers(self.low, self.high, endpoint=True))

    def quantile(self, share: float) -> Scalar:
        """Value below which a share of the values lies."""
        return min(self.low + math.floor(share * (self.high - self.low + 1)), self.high)

    @property
    def extremes(self) -> Sequence[Scalar]:
        """The limits."""
        return self.low, self.high


@dataclass(frozen=True)
class LogUniform(Distribution):
    """Values from `low` to `high`, both above 0, whose logarithms have equal probability."""

    low: float
    high: float

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run."""
        drawn = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        return min(max(drawn, self.low), self.high)

    def quantile(self, share: float) -> Scalar:
        """Value below which a share of the values lies."""
        value = self.low * (self.high / self.low) ** share
        return min(max(value, self.low), self.high)

    @property
    def extremes(self) -> Sequence[Scalar]:
        """The limits."""
        return self.low, self.high


@dataclass(frozen=True)
class Normal(Distribution):
    """Normal distribution, truncated to `low` and `high`."""

    mean: float
    sigma: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def share(self) -> float:
        """Share of the distribution without limits that lies within them."""

        def below(value: float) -> float:
            return 0.5 * math.erfc((self.mean - value) / (self.sigma * math.sqrt(2.0)))

        return below(self.high) - below(self.low)

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run."""
        while True:
            drawn = float(rng.normal(self.mean, self.sigma))
            if self.low <= drawn <= self.high:
                return drawn

    def quantile(self, share: float) -> Scalar:
        """Value below which a share of the values lies."""
        normal = NormalDist(self.mean, self.sigma)
        below = normal.cdf(self.low)
        # The inverse is infinite at 0 and 1.
        inside = min(max(below + share * (normal.cdf(self.high) - below), sys.float_info.min), 1.0 - _LEAST_TAIL)
        return min(max(normal.inv_cdf(inside), self.low), self.high)

    @property
    def extremes(self) -> Sequence[Scalar]:
        """The limits."""
        return self.low, self.high


@dataclass(frozen=True)
class Choice(Distribution):
    """Values of equal probability."""

    values: Sequence[Scalar]

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run."""
        return self.values[int(rng.integers(len(self.values)))]

    def quantile(self, share: float) -> Scalar:
        """One of the values."""
        return self.values[min(math.floor(share * len(self.values)), len(self.values) - 1)]

    @property
    def extremes(self) -> Sequence[Scalar]:
        """All values."""
        return self.values

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers between the extremes."""
        return False


@dataclass(frozen=True)
class Grid(Distribution):
    """Values in turn.

    Attributes:
        values: the values, which all differ.
        stride: number of consecutive runs with the same value.
    """

    values: Sequence[Scalar]
    stride: int = 1

    def value(self, number: int, rng: np.random.Generator) -> Scalar:
        """Value of a run, which does not depend on random numbers."""
        return self.values[number // self.stride % len(self.values)]

    def quantile(self, share: float) -> Scalar:
        """One of the values."""
        return self.values[min(math.floor(share * len(self.values)), len(self.values) - 1)]

    @property
    def extremes(self) -> Sequence[Scalar]:
        """All values."""
        return self.values

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers between the extremes."""
        return False


def read_distribution(item: Item, parameter: Parameter) -> Distribution:
    """Read a distribution of a parameter, such as `{uniform: [2.8, 3.4]}`.

    Raises:
        ParameterError: the distribution is invalid, or can leave the parameter's range; the text names file, line and
            key.
    """
    section = item.section(tuple(_READERS))
    given = [name for name in _READERS if name in section]
    if len(given) != 1:
        raise item.refuse(f"one of {', '.join(_READERS)}")
    kind = parameter.scalar_type
    able = [name for name, (_, types) in _READERS.items() if kind in types]
    if given[0] not in able:
        raise item.refuse(f"for a parameter of the type {parameter.type_name}: {', '.join(able)}", given[0])
    return _READERS[given[0]][0](section[given[0]], parameter)


def _number(item: Item, parameter: Parameter) -> float:
    """A value within the limits of a parameter, for calculations."""
    value = float(checked_value(item, replace(parameter, also_allowed=())))
    item.number(least=-_LARGEST, most=_LARGEST)
    return value


def _limits(item: Item, parameter: Parameter) -> tuple[float, float]:
    """Two limits in ascending order."""
    low, high = item.numbers(("least", "greatest"), lambda one: _number(one, parameter))
    if not low < high:
        raise item.refuse("[least, greatest] with least smaller than greatest")
    return low, high


def _uniform(item: Item, parameter: Parameter) -> Distribution:
    low, high = _limits(item, parameter)
    return UniformInteger(int(low), int(high)) if parameter.scalar_type is int else Uniform(low, high)


def _log_uniform(item: Item, parameter: Parameter) -> LogUniform:
    low, high = _limits(item, parameter)
    if not low > 0.0:
        raise item.refuse("[least, greatest], both greater than 0")
    return LogUniform(low, high)


def _normal(item: Item, parameter: Parameter) -> Normal:
    section = item.section(("mean", "sigma", "within"), ("mean", "sigma"))
    mean = section["mean"].number(least=-_LARGEST, most=_LARGEST)
    sigma = section["sigma"].number(least=0.0, most=_LARGEST, above_least=True)
    reach = _NEVER_BEYOND * sigma
    if "within" not in section:
        if not parameter.minimum <= mean - reach < mean + reach <= parameter.maximum:
            raise item.refuse(
                f"with the key 'within: [least, greatest]', because '{parameter.name}' is limited: {parameter.allowed}",
                "a normal distribution without limits",
            )
        return Normal(mean, sigma)
    normal = Normal(mean, sigma, *_limits(section["within"], parameter))
    if normal.share < _LEAST_SHARE:
        raise section["within"].refuse(f"limits that contain at least {_LEAST_SHARE:.0%} of the distribution")
    return normal


def _listed(item: Item, parameter: Parameter) -> list[Scalar]:
    values = [checked_value(one, parameter) for one in item.items()]
    if not values or len(set(values)) < len(values):
        raise item.refuse("a list of different values")
    return values


def _choice(item: Item, parameter: Parameter) -> Choice:
    return Choice(_listed(item, parameter))


def _grid(item: Item, parameter: Parameter) -> Grid:
    if item.is_list:
        return Grid(_listed(item, parameter))
    section = item.section(("from", "to", "count"), ("from", "to", "count"))
    kind = parameter.scalar_type
    if kind is not int and kind is not float:
        raise item.refuse(f"for a parameter of the type {parameter.type_name}: a list of values")
    first, last = (_number(section[name], parameter) for name in ("from", "to"))
    count = int(checked_value(section["count"], _COUNT))
    if first == last:
        raise item.refuse("different values of 'from' and 'to'")
    values = [float(value) for value in np.linspace(first, last, count)]
    if kind is int and not all(value.is_integer() for value in values):
        raise item.refuse(f"integer points, because '{parameter.name}' is an integer", f"{count} points")
    return Grid([kind(value) for value in values])


_COUNT = Parameter("count", 2, "Number of points of a grid", minimum=2, maximum=_MOST_POINTS)

_READERS = {
    "uniform": (_uniform, (int, float)),
    "log_uniform": (_log_uniform, (float,)),
    "normal": (_normal, (float,)),
    "choice": (_choice, (bool, int, float, str)),
    "grid": (_grid, (bool, int, float, str)),
}
