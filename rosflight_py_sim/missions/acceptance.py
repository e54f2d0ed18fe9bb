"""Limits of acceptance: what a mission that was flown to its end must also fulfil to be completed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rosflight_py_sim.parameters import Parameter, Values, number


@dataclass(frozen=True)
class Limit:
    """Largest value of a figure in a completed mission.

    Attributes:
        parameter: declaration of the limit.
        value: the limit.
    """

    parameter: Parameter
    value: float

    @classmethod
    def of(cls, parameter: Parameter, values: Values) -> Limit:
        """The limit that `values` hold under the parameter's name; without one, the default."""
        return cls(parameter, number({parameter.name: parameter.default, **values}, parameter.name))

    @property
    def text(self) -> str:
        """The limit in words: 'at most 50 m'."""
        return f"at most {self.parameter.text_of(self.value)}"

    def excess(self, figure: str, value: float) -> str:
        """Text of a figure whose value is above the limit or unknown; empty if it is not."""
        if value <= self.value:
            return ""
        unit = f" {self.parameter.unit}" if self.parameter.unit else ""
        given = f"{value:.2f}{unit}" if math.isfinite(value) else "unknown"
        return f"{figure} is {given}; allowed: {self.text} ({self.parameter.name})"


def joined(excesses: Iterable[str]) -> str:
    """All excesses in one text; empty if there are none."""
    return "; ".join(filter(None, excesses))
