"""Appearance of a vehicle, for tools without a node graph."""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import Values
from rosflight_py_sim.nodes.vehicle_physics import physics_of_sources
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.viewer.appearance import Appearance, appearance


def appearance_of(vehicle: Vehicle, values: Values | None = None) -> Appearance:
    """Appearance of the vehicle with the parameters of its vehicle file; `values` as in `appearance`."""
    physics = physics_of_sources([vehicle.parameter_file], vehicle.appearance)
    return appearance(vehicle.appearance, physics, values)
