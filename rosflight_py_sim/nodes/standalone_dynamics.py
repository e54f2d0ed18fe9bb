"""Dynamics node: rigid body, gravity, added mass, contact, steered wheels, and wind, or current and waves."""

from __future__ import annotations

from rosflight_py_sim.interfaces.truth_interface import TruthInterface
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics


class StandaloneDynamics(RigidBodyDynamics, TruthInterface):
    """Simulates a rigid body in air or water, with ground, walls and objects, and wind, or current and waves."""
