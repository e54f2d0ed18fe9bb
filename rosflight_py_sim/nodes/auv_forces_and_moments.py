"""Forces and moments node of an underwater vehicle."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.auv_forces import AuvForces


class AuvForcesAndMoments(AuvForces, PartNode):
    """Forces and moments of an underwater vehicle: buoyancy, damping, thrusters, tether; the wind is the current."""
