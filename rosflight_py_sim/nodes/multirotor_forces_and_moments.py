"""Forces and moments node of a multirotor."""

from __future__ import annotations

from typing import ClassVar

from rosflight_py_sim.failures.failure import Failure
from rosflight_py_sim.interfaces.forces_and_moments_interface import FORCES_AND_MOMENTS_PARAMETERS
from rosflight_py_sim.interfaces.modelled_forces import ModelledForcesAndMoments
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterError, ParameterTable, Value
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor


class MultirotorForcesAndMoments(ModelledForcesAndMoments[Multirotor]):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("multirotor_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS + MULTIROTOR_PARAMETERS

    def build(self, values: dict[str, Value]) -> Multirotor:
        """Build the vehicle, rotors at rest."""
        return Multirotor(values)

    def check_failure(self, failure: Failure) -> None:
        """Refuse a motor that the vehicle does not have, and servos."""
        motors = len(self.model.rotor_speeds)
        if failure.target == "servo" or failure.number > motors:
            raise ParameterError(
                f"failure '{failure.text}': {failure.target} {failure.number} given; allowed for this vehicle: motor 1 "
                f"to {motors}"
            )


def main() -> None:
    """Run the node."""
    run(MultirotorForcesAndMoments)


if __name__ == "__main__":
    main()
