"""Disturbances of a flight that the page offers, as parameters of the simulation's nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

DYNAMICS, FORCES, SENSORS = "dynamics", "forces_and_moments", "sensors"
DISTURBED = (DYNAMICS, FORCES, SENSORS)
"""Nodes that the panel disturbs."""

GUST_S = 5
"""Duration of a gust, s; its rise and its fall take two seconds each."""


class Disturbance(Protocol):
    """Interface to the nodes of the selected vehicle. Methods are called from threads of the web server."""

    def set_parameters(self, label: str, node: str, values: Mapping[str, object], done: str) -> None:
        """Set parameters of a node, for an action with this name; `done` reports success."""

    def add_failure(self, label: str, node: str, text: str) -> None:
        """Append a failure in words to those of a node."""

    def end_failures(self, label: str) -> None:
        """End the failures of all nodes."""


def velocity_ned(speed: float, origin_deg: float) -> list[float]:
    """Horizontal velocity (m/s) of air or water that comes from a direction, deg clockwise from north."""
    angle = math.radians(origin_deg)
    return [round(-speed * math.cos(angle), 3) + 0.0, round(-speed * math.sin(angle), 3) + 0.0, 0.0]


def gust(velocity: list[float]) -> str:
    """Failure in words: a front with this velocity, m/s NED."""
    return f"wind front {' '.join(f'{part:g}' for part in velocity)} for {GUST_S}"
