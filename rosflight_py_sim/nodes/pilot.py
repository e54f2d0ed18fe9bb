"""Scripted pilot: calibrates, arms, hands over and disarms."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.pilot_script import MissionScript, PilotScript


class Pilot(PilotScript, PartNode):
    """Calls the services of its script."""


class MissionPilot(MissionScript, Pilot):
    """Also starts the autopilot's mission."""
