"""Forces and moments of an underwater vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterTable, Value
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, Taken
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.modelled_forces import ModelledForces
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv
from rosflight_py_sim.shapes.hulls import open_frame, plated_frame
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles.physics_model import Shape, VehicleClass


class AuvForces(ModelledForces[Auv]):
    """Forces and moments of an underwater vehicle: buoyancy, damping, thrusters, tether; the wind is the current."""

    ALIASES: ClassVar[tuple[str, ...]] = ("auv_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = ForcesAndMoments.PARAMETERS + AUV_PARAMETERS
    APPEARANCES: ClassVar[Mapping[str, Shape]] = {
        **ForcesAndMoments.APPEARANCES,
        "open_frame": open_frame,
        "plated_frame": plated_frame,
    }
    SHAPE_PARAMETERS: ClassVar[ParameterTable] = AUV_PARAMETERS
    VEHICLE_CLASS: ClassVar[VehicleClass] = VehicleClass.UNDERWATER

    @classmethod
    def build(cls, values: dict[str, Value]) -> Auv:
        """Build the vehicle, thrusters at rest."""
        return Auv(values)

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Compute the wrench in the waves at the state's position and stamp."""
        waves = self.model.waves
        if waves.exist:
            waves.move_to(state.truth, state.time_ns / NANOSECONDS)
        return super().update_forces_and_torques(state, wind_ned, pwm_us, dt)

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Compute the wrench in the chain; None also with waves."""
        return None if self.model.waves.exist else super().links(time, cells, taken)
