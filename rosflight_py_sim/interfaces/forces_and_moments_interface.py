"""Base class of forces and moments nodes, which turn actuator commands and air flow into a wrench."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments


class ForcesAndMomentsInterface(ForcesAndMoments, PartNode):
    """A forces and moments node of one's own implements `update_forces_and_torques` and `get_firmware_parameters`."""
