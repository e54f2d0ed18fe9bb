"""Estimates of parameters, and parameters that logs do not show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rosflight_py_sim.ground.parameters import Parameter

LARGEST_ERROR = 0.25
"""Standard error over the value from which on a parameter counts as not shown by the logs."""


@dataclass(frozen=True)
class Estimated:
    """A parameter and its estimate.

    Attributes:
        parameter: the parameter.
        before: value in the vehicle's file.
        value: estimate.
        standard_error: of the estimate.
    """

    parameter: Parameter
    before: float
    value: float
    standard_error: float

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.parameter.name

    @property
    def share_text(self) -> str:
        """Standard error over the value, in percent; empty for a value of 0."""
        return f"{100.0 * self.standard_error / abs(self.value):.2g} %" if self.value else ""

    @property
    def error_text(self) -> str:
        """Standard error, and that over the value."""
        return f"{self.standard_error:.2g}" + (f" ({self.share_text})" if self.value else "")


@dataclass(frozen=True)
class Refused:
    """A parameter that the logs do not show.

    Attributes:
        name: of the parameter.
        reason: why.
        manoeuvre: that would show it; empty if unknown.
    """

    name: str
    reason: str
    manoeuvre: str

    def __str__(self) -> str:
        text = f"{self.name} is not estimated: {self.reason}"
        return f"{text}; it takes {self.manoeuvre}" if self.manoeuvre else text


def least_between(loss: Callable[[float], float], low: float, high: float) -> float:
    """Positive argument with the least loss between two, by a golden section of its logarithm."""
    a, b = math.log(low), math.log(high)
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(40):
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        if loss(math.exp(c)) < loss(math.exp(d)):
            b = d
        else:
            a = c
    return math.exp(0.5 * (a + b))
