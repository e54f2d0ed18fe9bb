"""Shape of each vehicle, for nodes that draw all of them."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.camera import Faces
from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS, physics_of_sources, physics_of_vehicle
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS
from rosflight_py_sim.vehicles import Vehicle
from rosflight_py_sim.viewer.appearance import APPEARANCE, Appearance, appearance
from rosflight_py_sim.viewer.vehicle_faces import faces_of_parts

SHAPE_PARAMETERS = ParameterTable(APPEARANCE) + SURFACE_MIX_PARAMETERS
"""Parameters of a node that draws vehicles."""

VEHICLE_SHAPE_PARAMETERS = SHAPE_PARAMETERS + ParameterTable(PHYSICS)
"""Those that may be given for one vehicle."""


def vehicle_shapes(node: SimulationNode, vehicles: Sequence[str], around: str | None = None) -> dict[str, Appearance]:
    """Appearance of each vehicle, by its namespace.

    Args:
        node: node with APPEARANCE; with SHAPE_PARAMETERS, if the parts are to move.
        vehicles: namespaces, relative to `around`.
        around: namespace of the simulation; None: the node's.

    Raises:
        ParameterError: a physics parameter that a shape needs is missing.
    """
    shapes = {}
    for vehicle in vehicles:
        values = values_of_vehicle(node.values, vehicle)
        namespace = node.get_namespace() if around is None else around
        name = str(values[APPEARANCE.name])
        physics = physics_of_vehicle(node.values, node.sources, name, namespace, vehicle)
        shapes[vehicle] = appearance(name, physics, values)
    return shapes


def shape_of(chosen: Vehicle) -> Appearance:
    """Appearance of a vehicle as its file describes it.

    Raises:
        ParameterError: a physics parameter that the shape needs is missing or invalid.
    """
    return appearance(chosen.appearance, physics_of_sources([chosen.parameter_file], chosen.appearance))


def faces_of_shape(shape: Appearance) -> Faces:
    """Faces of a vehicle for the camera, with all parts at rest."""
    return faces_of_parts(shape.parts)
