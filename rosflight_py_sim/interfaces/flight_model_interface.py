"""Base class of whole flight models: forces, moments and dynamics in one node."""

from __future__ import annotations

from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.flight_model import FlightModel


class FlightModelInterface(FlightModel, TruthInterface):
    """A flight model node of one's own implements the abstract methods of `FlightModel`."""
