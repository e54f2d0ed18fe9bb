"""Forces and moments node of a multirotor."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.interfaces.forces_and_moments_interface import FORCES_AND_MOMENTS_PARAMETERS
from rosflight_py_sim.interfaces.modelled_forces import ModelledForcesAndMoments
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Value
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor


class MultirotorForcesAndMoments(ModelledForcesAndMoments[Multirotor]):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("multirotor_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS + MULTIROTOR_PARAMETERS
    ACTUATORS: ClassVar[tuple[str, ...]] = ("motor",)

    @classmethod
    def build(cls, values: dict[str, Value]) -> Multirotor:
        """Build the vehicle, rotors at rest."""
        return Multirotor(values)


def main() -> None:
    """Run the node."""
    run(MultirotorForcesAndMoments)


if __name__ == "__main__":
    main()
