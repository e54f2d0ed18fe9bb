"""Shape of each vehicle, for nodes that draw all of them."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS_PARAMETERS, physics_of_vehicle
from rosflight_py_sim.parameters import ParameterTable
from rosflight_py_sim.physics.surface_mix import SURFACE_MIX_PARAMETERS
from rosflight_py_sim.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.viewer.appearance import APPEARANCE, Appearance, appearance

SHAPE_PARAMETERS = ParameterTable(APPEARANCE) + SURFACE_MIX_PARAMETERS
"""Parameters of a node that draws vehicles."""

VEHICLE_SHAPE_PARAMETERS = SHAPE_PARAMETERS + PHYSICS_PARAMETERS
"""Those that may be given for one vehicle."""


def vehicle_shapes(node: SimulationNode, arguments: Sequence[str], vehicles: Sequence[str]) -> dict[str, Appearance]:
    """Appearance of each vehicle, by its namespace.

    Args:
        node: node with SHAPE_PARAMETERS.
        arguments: ROS arguments of the node.
        vehicles: namespaces, relative to the node's.

    Raises:
        ParameterError: a physics parameter that a shape needs is missing.
    """
    shapes = {}
    for vehicle in vehicles:
        values = values_of_vehicle(node.values, vehicle)
        physics = physics_of_vehicle(node.values, arguments, node.get_namespace(), vehicle)
        shapes[vehicle] = appearance(str(values[APPEARANCE.name]), physics, values)
    return shapes
