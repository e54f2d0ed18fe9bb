"""Forces and moments of a balloon on a string, in the place of the multirotor's."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.physics.rotations import rotate_to_body, rotate_to_inertial
from rosflight_py_sim.shapes.drawn_parts import DrawnPart
from rosflight_py_sim.shapes.meshes import rod, spindle
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles.physics_model import Shape

BALLOON_PARAMETERS = ParameterTable(
    Parameter("buoyancy", 15.0, "Lift of the gas", "N", minimum=0.0),
    Parameter("drag", 2.0, "Drag per speed through the air", "N s/m", minimum=0.0),
    Parameter("spin_drag", 0.1, "Moment against the rotation, per rate", "N m s", minimum=0.0),
    Parameter("string_length", 2.0, "Length of the string, which holds the balloon to the origin", "m", minimum=0.0),
    Parameter("string_stiffness", 100.0, "Force per stretch of the string", "N/m", minimum=0.0),
    Parameter("fan_thrust", 4.0, "Thrust to the front when the first output is at 2000 us", "N", minimum=0.0),
)


def balloon_shape(physics: Values, values: Values) -> list[DrawnPart]:
    """An envelope of the size that lifts the weight of `buoyancy` (N) in air of 1.2 kg/m^3, and its string."""
    radius = (number(physics, "buoyancy") / (1.2 * 9.81) / 4.19) ** (1.0 / 3.0)
    profile = [(0.0, 0.1), (0.15, 0.71), (0.5, 1.0), (0.85, 0.71), (1.0, 0.1)]
    envelope = spindle((0.0, 0.0, radius), (0.0, 0.0, -radius), [(s, r * radius) for s, r in profile])
    string = rod((0.0, 0.0, radius), (0.0, 0.0, 1.5 * radius), 0.01)
    return [DrawnPart("envelope", envelope, (220, 40, 40)), DrawnPart("string", string, (30, 30, 30))]


class Balloon(ForcesAndMoments):
    """A balloon on a string, with a fan on the first output of the flight controller."""

    PARAMETERS: ClassVar[ParameterTable] = ForcesAndMoments.PARAMETERS + BALLOON_PARAMETERS
    APPEARANCES: ClassVar[Mapping[str, Shape]] = {**ForcesAndMoments.APPEARANCES, "balloon": balloon_shape}
    SHAPE_PARAMETERS: ClassVar[ParameterTable] = BALLOON_PARAMETERS

    def configure(self, values: dict[str, Any]) -> None:
        """Take over the parameters, at the start and whenever `ros2 param set` changes one."""
        self._p = {p.name: float(values[p.name]) for p in BALLOON_PARAMETERS}

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Buoyancy, drag, string and fan; gravity and the ground are added by the dynamics node."""
        p, attitude = self._p, state.quaternion.tolist()
        velocity_ned = np.array(rotate_to_inertial(*attitude, *state.velocity_body.tolist()))
        force_ned = np.array([0.0, 0.0, -p["buoyancy"]]) + p["drag"] * (wind_ned - velocity_ned)
        distance = float(np.linalg.norm(state.position_ned))
        if distance > p["string_length"]:
            force_ned -= p["string_stiffness"] * (distance - p["string_length"]) * state.position_ned / distance
        force_body = np.array(rotate_to_body(*attitude, *force_ned.tolist()))
        force_body[0] += p["fan_thrust"] * (pwm_us[0] - 1000.0) / 1000.0
        return np.concatenate([force_body, -p["spin_drag"] * state.angular_velocity])

    def get_firmware_parameters(self) -> None:
        """The balloon does not care how the flight controller mixes."""


def main() -> None:
    """Run the node."""
    run(Balloon)


if __name__ == "__main__":
    main()
