"""Forces and moments node of a multirotor."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces


class MultirotorForcesAndMoments(MultirotorForces, PartNode):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14)."""
