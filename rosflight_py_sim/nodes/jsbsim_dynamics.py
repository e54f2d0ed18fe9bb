"""Flight model node: an aircraft of the JSBSim library replaces forces_and_moments and dynamics."""

from __future__ import annotations

from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.jsbsim_flight import JsbsimFlight


class JsbsimDynamics(JsbsimFlight, TruthInterface):
    """Simulates a JSBSim aircraft, with JSBSim's engine, landing gear and round earth and this package's wind."""
