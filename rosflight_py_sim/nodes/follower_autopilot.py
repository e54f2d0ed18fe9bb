"""Companion computer of a multirotor: commands attitude and throttle to follow another vehicle in formation."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.formation_autopilot import FormationAutopilot


class FollowerAutopilot(FormationAutopilot, PartNode):
    """Follows the vehicle `leader` at a constant offset, and lands when the leader has landed."""
