"""Companion computer of a multirotor: flies a square by commanding attitude and throttle."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.square_autopilot import SquareAutopilot


class Autopilot(SquareAutopilot, PartNode):
    """Flies a square."""
