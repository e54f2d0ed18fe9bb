"""Limits of acceptance: what a mission that was flown to its end must also fulfil to be completed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rosflight_py_sim.ground.parameters import Parameter, Values, number


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


@dataclass(frozen=True)
class Miss:
    """Largest miss of a waypoint in a mission, and the largest that a completed mission may have.

    Attributes:
        distance_m: smallest distance within which the mission passed all its waypoints in order; NaN if it passed none.
        limit: limit of the distance; None for a mission without waypoints.
        height_error_m: largest height error; 0 if the distance includes the height.
        height_limit: limit of the height error; None if the distance includes the height.
    """

    distance_m: float = math.nan
    limit: Limit | None = None
    height_error_m: float = 0.0
    height_limit: Limit | None = None

    @property
    def text(self) -> str:
        """The miss with its limits: '0.11 m (allowed: 1 m)'."""
        if self.limit is None:
            return "no waypoints"
        given, allowed = _metres(self.distance_m), f"{self.limit.value:g} m"
        if self.height_limit is not None:
            given = f"{given} horizontally, {_metres(self.height_error_m)} in height"
            allowed = f"{allowed}, {self.height_limit.value:g} m"
        return f"{given} (allowed: {allowed})"

    @property
    def excess(self) -> str:
        """Text of a miss that exceeds a limit or is unknown; empty if there is none."""
        if self.limit is None:
            return ""
        figure = "the largest miss of a waypoint"
        excesses = [self.limit.excess(figure, self.distance_m)]
        if self.height_limit is not None:
            excesses.append(self.height_limit.excess(f"{figure} in height", self.height_error_m))
        return joined(excesses)


def _metres(value: float) -> str:
    return f"{value:.2f} m" if math.isfinite(value) else "unknown"


def joined(excesses: Iterable[str]) -> str:
    """All excesses in one text; empty if there are none."""
    return "; ".join(filter(None, excesses))
