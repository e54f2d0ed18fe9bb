"""Base class of dynamics nodes, which advance the true state of the vehicle under a wrench."""

from __future__ import annotations

from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.dynamics import Dynamics


class DynamicsInterface(Dynamics, TruthInterface):
    """A dynamics node of one's own implements the abstract methods of `Dynamics`."""
