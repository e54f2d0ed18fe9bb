"""Forces and moments node of a fixed wing."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.fixedwing_forces import FixedwingForces


class FixedwingForcesAndMoments(FixedwingForces, PartNode):
    """Forces and moments of a fixed wing: airframe, servos, propeller, battery (Beard and McLain, chapter 4)."""
