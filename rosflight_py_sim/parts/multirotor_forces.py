"""Forces and moments of a multirotor."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.parameters import ParameterTable, Value
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.modelled_forces import ModelledForces
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor


class MultirotorForces(ModelledForces[Multirotor]):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("multirotor_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = ForcesAndMoments.PARAMETERS + MULTIROTOR_PARAMETERS
    ACTUATORS: ClassVar[tuple[str, ...]] = ("motor",)

    @classmethod
    def build(cls, values: dict[str, Value]) -> Multirotor:
        """Build the vehicle, rotors at rest."""
        return Multirotor(values)
