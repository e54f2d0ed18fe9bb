"""Companion computer of a fixed wing: flies waypoints by commanding surfaces and throttle."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.waypoint_autopilot import WaypointAutopilot


class FixedwingAutopilot(WaypointAutopilot, PartNode):
    """Flies waypoints: publishes `command` from the true state and wind once autopilot/start has been called."""
