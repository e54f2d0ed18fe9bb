"""Flight controller of an underwater vehicle, as a node."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.auv_controller import AuvController


class AuvAutopilot(AuvController, PartNode):
    """Holds depth and yaw, and follows surge and sway set-points."""
