"""Airframe, surfaces and propeller of a fixed wing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.canned_mixers import MixerChoice, canned_mixer
from rosflight_py_sim.firmware.unmixing import THROTTLE_ROW, unmixer, unmixer_of_parameters
from rosflight_py_sim.interfaces.forces_and_moments_interface import (
    FORCES_AND_MOMENTS_PARAMETERS,
    ForcesAndMomentsInterface,
)
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS, mixer_of_values

DEFAULT_MIXER = Parameter(
    "default_mixer",
    int(MixerChoice.FIXED_WING),
    "Mixer that the aircraft is built for, until the flight controller has told its own: 9 (standard) or 10 (inverted "
    "V-tail), as PRIMARY_MIXER",
    minimum=int(MixerChoice.FIXED_WING),
    maximum=int(MixerChoice.INVERTED_V_TAIL),
    read_only=True,
)


class FixedwingForcesAndMoments(ForcesAndMomentsInterface):
    """Forces and moments of a fixed wing: airframe, servos, propeller, battery (Beard and McLain, chapter 4)."""

    ALIASES: ClassVar[tuple[str, ...]] = ("fixedwing_forces_and_moments",)
    PARAMETERS: ClassVar[ParameterTable] = (
        FORCES_AND_MOMENTS_PARAMETERS + ParameterTable(DEFAULT_MIXER) + SURFACE_MIX_PARAMETERS + FIXEDWING_PARAMETERS
    )

    def __init__(self, **arguments: Any) -> None:
        """Build the vehicle."""
        self._vehicle: FixedWing | None = None
        super().__init__(**arguments)

    def configure(self, values: dict[str, Value]) -> None:
        """Build the vehicle, whose surfaces and propeller go on moving as they did."""
        vehicle = FixedWing(values)
        own = mixer_of_values(values)
        if self._vehicle is not None:
            vehicle.adopt(self._vehicle)
        elif own is not None:
            vehicle.set_mixer(own)
        else:
            mixer = canned_mixer(MixerChoice(int(number(values, "default_mixer"))))
            vehicle.set_mixer(unmixer(mixer.matrix, np.array(mixer.types, dtype=np.float64)))
        self._vehicle, self._has_own_mixer = vehicle, own is not None

    @property
    def vehicle(self) -> FixedWing:
        """The vehicle; there from the first `configure` on."""
        assert self._vehicle is not None
        return self._vehicle

    def update_forces_and_torques(
        self, state: VehicleState, wind_ned: NDArray[np.float64], pwm_us: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Wrench of airframe and propeller."""
        vehicle = self.vehicle
        wrench = vehicle.update(state.truth, wind_ned, pwm_us, dt)
        self.publish_battery(state.time_ns, vehicle.battery_voltage, vehicle.current_a)
        return wrench

    def start_over(self) -> None:
        """Centre the surfaces, stop the propeller and fill the battery; what moves what stays as it is."""
        vehicle = FixedWing(self.values)
        vehicle.set_mixer(self.vehicle.mixer)
        self._vehicle = vehicle

    def get_firmware_parameters(self) -> None:
        """Move the surfaces as the primary mixer asks, where the vehicle's own parameters do not say how."""
        if self._has_own_mixer:
            return
        try:
            mixer = unmixer_of_parameters(self.firmware_parameters)
        except KeyError as error:
            self.get_logger().warning(
                f"the flight controller has no parameter {error}: surfaces keep to the mixer they had"
            )
            return
        if not np.any(mixer[THROTTLE_ROW]):
            choice = int(self.firmware_parameters.get("PRIMARY_MIXER", MixerChoice.NONE))
            self.get_logger().warning(f"PRIMARY_MIXER {choice} gives a fixed wing no throttle (row Fx)")
        self.vehicle.set_mixer(mixer)


def main() -> None:
    """Run the node."""
    run(FixedwingForcesAndMoments)


if __name__ == "__main__":
    main()
