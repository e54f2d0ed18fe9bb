"""Base class of sensor nodes, which turn truth into measurements."""

from __future__ import annotations

from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.sensors import Sensors


class SensorInterface(Sensors, PartNode):
    """A sensor node of one's own implements the eight `..._update` methods."""
