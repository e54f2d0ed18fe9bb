"""Rotors and drag of a multirotor."""

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
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor


class MultirotorForcesAndMoments(ForcesAndMomentsInterface):
    """Forces and moments of a multirotor: motors, propellers, drag, ground effect (Beard and McLain, chapter 14)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("multirotor_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = FORCES_AND_MOMENTS_PARAMETERS + MULTIROTOR_PARAMETERS

    def __init__(self, **arguments: Any) -> None:
        """Build the vehicle."""
        self._vehicle: Multirotor | None = None
        super().__init__(**arguments)

    def configure(self, values: dict[str, Value]) -> None:
        """Build the vehicle, whose rotors go on turning as they did."""
        vehicle = Multirotor(values)
        if self._vehicle is not None:
            vehicle.adopt(self._vehicle)
        self._vehicle = vehicle

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Wrench of rotors and drag."""
        vehicle = self._vehicle
        assert vehicle is not None
        wrench = vehicle.update(state.truth, wind_ned, pwm_us, dt)
        self.publish_battery(state.time_ns, vehicle.battery_voltage, vehicle.current_a)
        return wrench

    def start_over(self) -> None:
        """Let rotors stand still and fill the battery."""
        self._vehicle = Multirotor(self.values)

    def get_firmware_parameters(self) -> None:
        """Each output of the flight controller is one motor: the mixer plays no part here."""


def main() -> None:
    """Run the node."""
    run(MultirotorForcesAndMoments)


if __name__ == "__main__":
    main()
