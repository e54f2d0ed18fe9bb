"""Vehicles of one simulation: kinds, namespaces, flight controllers, start positions and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value
from rosflight_py_sim.ground.shared_parameters import SEED
from rosflight_py_sim.vehicles import SPACING, Vehicle

FLEET_PARAMETERS = ParameterTable(
    Parameter("count", 2, "Number of vehicles", minimum=1, maximum=100),
    Parameter("spacing", SPACING, "Distance from one vehicle's start to the next one's, along east", "m", 0.0, 1e4),
    SEED.overridden("seed of the first vehicle; each further vehicle uses the next number", maximum=2**31 - 101),
)


@dataclass(frozen=True)
class Member:
    """One vehicle of a simulation.

    Attributes:
        vehicle: physics and firmware.
        namespace: namespace of its nodes, relative to the simulation's; empty for a single vehicle.
        settings: parameters of only its nodes.
        flight_controller: name of its flight controller; empty: the vehicle's own.
        files: parameter files of only its nodes.
        executables: executables of further nodes of this package, besides those of the vehicle file.
    """

    vehicle: Vehicle
    namespace: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    flight_controller: str = ""
    files: tuple[Path, ...] = ()
    executables: tuple[str, ...] = ()


def fleet(vehicle: Vehicle, *, count: int, spacing: float | None = None, seed: int) -> list[Member]:
    """Vehicles of one kind in a row to the east, in the namespaces NAME_1, NAME_2 and so on.

    `spacing` (m) defaults to the vehicle's own.

    Raises:
        ParameterError: an argument is outside FLEET_PARAMETERS.
    """
    spacing = vehicle.spacing if spacing is None else spacing
    FLEET_PARAMETERS.checked({"count": count, "spacing": spacing, "seed": seed})
    return [
        Member(vehicle, f"{vehicle.name}_{k + 1}", {"seed": seed + k, "initial_position": [0.0, k * spacing]})
        for k in range(count)
    ]


def seed_of(seed: int, name: str) -> int:
    """Seed of a vehicle, from the simulation's seed and the vehicle's name.

    Other vehicles and their order do not change the seed.
    """
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % int(SEED.maximum + 1)
