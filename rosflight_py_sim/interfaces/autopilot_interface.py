"""Base class of autopilot nodes, which fly a mission by commanding the flight controller."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.autopilot import AutopilotPart


class AutopilotInterface(AutopilotPart, PartNode):
    """An autopilot node of one's own implements `start_mission`, `guide`, `phase` and `progress`."""
