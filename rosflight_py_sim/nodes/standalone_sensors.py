"""Sensor node of a small unmanned vehicle, with sensor errors."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors


class StandaloneSensors(ModelledSensors, PartNode):
    """Sensors with noise, biases and bias walks (Beard and McLain, chapter 7), repeatable by seed."""
