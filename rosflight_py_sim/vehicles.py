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
        dynamics: executable of its dynamics.
    """

    name: str
    forces_and_moments: str
    parameters: str
    firmware: str
    motors: tuple[int, ...]
    dynamics: str = "standalone_dynamics"

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

FLOWN_BY_OTHERS = {
    ("fixedwing", "jsbsim"): Vehicle(
        "fixedwing", "fixedwing_forces_and_moments", "jsbsim.yaml", "jsbsim_firmware.yaml", (4,), "jsbsim_dynamics"
    ),
}
"""Vehicle and dynamics to what takes the vehicle's place then."""

STANDALONE = "standalone"
DYNAMICS = (STANDALONE, *sorted({dynamics for _, dynamics in FLOWN_BY_OTHERS}))
"""Names of the dynamics, as users type them."""


def vehicle(name: str, dynamics: str = STANDALONE) -> Vehicle:
    """The vehicle of that name, moved by the dynamics of that name.

    Raises:
        ParameterError: there is none.
    """
    known = {(name, STANDALONE): one for name, one in VEHICLES.items()} | FLOWN_BY_OTHERS
    try:
        return known[name, dynamics]
    except KeyError:
        given = name if dynamics == STANDALONE else f"{name} by {dynamics}"
        others = [f"{one} by {other}" for one, other in FLOWN_BY_OTHERS]
        raise ParameterError(f"vehicle '{given}' given; allowed: {', '.join([*VEHICLES, *others])}") from None
