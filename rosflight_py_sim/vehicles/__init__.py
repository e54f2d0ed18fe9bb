"""Vehicles, each defined by a file in config/vehicles/ or in your own folder."""

from rosflight_py_sim.vehicles.catalogue import (
    DEFAULT_VEHICLE,
    STANDALONE,
    all_vehicles,
    dynamics_by_name,
    known_dynamics,
    known_vehicles,
    names_of_vehicles,
    reference,
    vehicle,
    vehicles_and_errors,
)
from rosflight_py_sim.vehicles.vehicle import CAMERA, NODE_KEYS, SPACING, Actuator, ClientMission, Pairing, Vehicle

__all__ = [
    "CAMERA",
    "DEFAULT_VEHICLE",
    "NODE_KEYS",
    "SPACING",
    "STANDALONE",
    "Actuator",
    "ClientMission",
    "Pairing",
    "Vehicle",
    "all_vehicles",
    "dynamics_by_name",
    "known_dynamics",
    "known_vehicles",
    "names_of_vehicles",
    "reference",
    "vehicle",
    "vehicles_and_errors",
]
