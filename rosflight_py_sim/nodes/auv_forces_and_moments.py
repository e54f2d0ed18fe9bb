"""Buoyancy, damping and thrusters of an underwater vehicle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.interfaces.forces_and_moments_interface import (
    FORCES_AND_MOMENTS_PARAMETERS,
    ForcesAndMomentsInterface,
)
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Value
from rosflight_py_sim.physics.auv import AUV_PARAMETERS, Auv


class AuvForcesAndMoments(ForcesAndMomentsInterface):
    """Forces and moments of an underwater vehicle: buoyancy, damping, thrusters (Fossen); the wind is the current."""

    ALIASES: ClassVar[tuple[str, ...]] = ("auv_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS + AUV_PARAMETERS

    def __init__(self, **arguments: Any) -> None:
        """Build the vehicle."""
        self._vehicle: Auv | None = None
        super().__init__(**arguments)

    def configure(self, values: dict[str, Value]) -> None:
        """Build the vehicle, whose thrusters go on as they did."""
        vehicle = Auv(values)
        if self._vehicle is not None:
            vehicle.adopt(self._vehicle)
        self._vehicle = vehicle

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Wrench of water and thrusters."""
        vehicle = self._vehicle
        assert vehicle is not None
        wrench = vehicle.update(state.truth, wind_ned, pwm_us, dt)
        self.publish_battery(state.time_ns, vehicle.battery_voltage, vehicle.current_a)
        return wrench

    def start_over(self) -> None:
        """Thrusters at rest, battery full."""
        self._vehicle = Auv(self.values)

    def get_firmware_parameters(self) -> None:
        """Each output of the flight controller is one thruster: the mixer plays no part here."""


def main() -> None:
    """Run the node."""
    run(AuvForcesAndMoments)


if __name__ == "__main__":
    main()
