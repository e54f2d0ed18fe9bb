"""Forces and moments node of an underwater vehicle."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.interfaces.forces_and_moments_interface import FORCES_AND_MOMENTS_PARAMETERS
from rosflight_py_sim.interfaces.modelled_forces import ModelledForcesAndMoments
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Value
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv


class AuvForcesAndMoments(ModelledForcesAndMoments[Auv]):
    """Forces and moments of an underwater vehicle: buoyancy, damping, thrusters (Fossen); the wind is the current."""

    ALIASES: ClassVar[tuple[str, ...]] = ("auv_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS + AUV_PARAMETERS

    @classmethod
    def build(cls, values: dict[str, Value]) -> Auv:
        """Build the vehicle, thrusters at rest."""
        return Auv(values)


def main() -> None:
    """Run the node."""
    run(AuvForcesAndMoments)


if __name__ == "__main__":
    main()
