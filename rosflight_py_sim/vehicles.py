"""The vehicles that come with the package: each is files in config/ and the executable of its physics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.resources import share_directory


@dataclass(frozen=True)
class Vehicle:
    """One vehicle.

    Attributes:
        name: as users type it.
        forces_and_moments: executable of its forces and moments.
        parameters: file in config/ with the parameters of all nodes.
        firmware: file in config/ with the flight controller's parameters.
        motors: outputs of the flight controller that turn motors, counted from 0.
    """

    name: str
    forces_and_moments: str
    parameters: str
    firmware: str
    motors: tuple[int, ...]

    @property
    def parameter_file(self) -> Path:
        """Parameter file of the nodes."""
        return share_directory() / "config" / self.parameters

    @property
    def firmware_file(self) -> Path:
        """Parameter file of the flight controller."""
        return share_directory() / "config" / self.firmware


def _fixedwing(name: str, parameters: str) -> Vehicle:
    return Vehicle(name, "fixedwing_forces_and_moments", parameters, "fixedwing_firmware.yaml", (4,))


VEHICLES = {
    vehicle.name: vehicle
    for vehicle in [
        Vehicle(
            "multirotor", "multirotor_forces_and_moments", "multirotor.yaml", "multirotor_firmware.yaml", (0, 1, 2, 3)
        ),
        _fixedwing("fixedwing", "anaconda.yaml"),
        _fixedwing("anaconda", "anaconda.yaml"),
        _fixedwing("aerosonde", "aerosonde.yaml"),
    ]
}
"""By name; "fixedwing" is the one that ROSflight flies by that name."""


def vehicle(name: str) -> Vehicle:
    """The vehicle of that name.

    Raises:
        ParameterError: there is none.
    """
    try:
        return VEHICLES[name]
    except KeyError:
        raise ParameterError(f"vehicle '{name}' given; allowed: {', '.join(VEHICLES)}") from None
