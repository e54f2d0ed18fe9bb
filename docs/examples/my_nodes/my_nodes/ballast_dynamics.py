"""Dynamics of a vehicle with ballast, in the place of `standalone_dynamics`."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.physics.rotations import rotate_to_body

BALLAST_PARAMETERS = ParameterTable(
    Parameter("ballast", 0.0, "Weight of the ballast, which acts on the centre of mass; its inertia is left out", "N"),
    Parameter("drop_time", 10.0, "Simulated time at which the ballast is dropped", "s", minimum=0.0),
)


class BallastDynamics(RigidBodyDynamics):
    """A rigid body in air or water with ballast, which is dropped at a time."""

    PARAMETERS: ClassVar[ParameterTable] = RigidBodyDynamics.PARAMETERS + BALLAST_PARAMETERS

    def apply_forces_and_torques(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Add the weight of the ballast until it is dropped."""
        if self.time_ns < 1e9 * number(self.values, "drop_time"):
            attitude = self.compute_truth()[3:7].tolist()
            wrench = wrench.copy()
            wrench[:3] += rotate_to_body(*attitude, 0.0, 0.0, number(self.values, "ballast"))
        super().apply_forces_and_torques(wrench, dt)


def main() -> None:
    """Run the node."""
    run(BallastDynamics)


if __name__ == "__main__":
    main()
