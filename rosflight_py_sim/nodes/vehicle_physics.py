"""Physics parameters of a vehicle, for nodes that draw or record it."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.interfaces.parameter_files import values_of_arguments
from rosflight_py_sim.node_kinds import NodeKind
from rosflight_py_sim.parameters import ParameterTable, Value, Values
from rosflight_py_sim.physics.auv import AUV_PARAMETERS
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS
from rosflight_py_sim.registry import node_names
from rosflight_py_sim.vehicle_parameters import values_of_vehicle

# They say where a vehicle starts, not what it is.
_START = ("world", "initial_position", "initial_altitude", "initial_heading", "use_world_start", "starts_on_ground")

PHYSICS_PARAMETERS = ParameterTable(
    *(
        one
        for one in DYNAMICS_PARAMETERS + MULTIROTOR_PARAMETERS + FIXEDWING_PARAMETERS + AUV_PARAMETERS
        if one.name not in _START
    )
)
"""Parameters that a node which draws or records all vehicles may be given for one of them."""


def physics_of_arguments(arguments: Sequence[str], *namespaces: str) -> dict[str, Value]:
    """Physics parameters of the nodes dynamics and forces_and_moments, from the ROS arguments of a graph.

    Args:
        arguments: as given to rclpy.init.
        namespaces: parts of the namespace of the vehicle's nodes.

    Raises:
        ParameterError: a parameter file cannot be read or is invalid.
    """
    namespace = "".join(f"/{part.strip('/')}" for part in namespaces if part.strip("/"))
    values: dict[str, Value] = {}
    for place, kind in (("dynamics", NodeKind.DYNAMICS), ("forces_and_moments", NodeKind.FORCES_AND_MOMENTS)):
        values |= values_of_arguments(arguments, place, namespace, node_names(kind))
    return {name: value for name, value in values.items() if name in PHYSICS_PARAMETERS}


def physics_of_vehicle(values: Values, arguments: Sequence[str], namespace: str, vehicle: str) -> dict[str, Value]:
    """Physics parameters of one vehicle, for a node that serves all of them.

    Args:
        values: parameter values of the node, among them those given for the vehicle alone.
        arguments: ROS arguments of the node.
        namespace: namespace of the node.
        vehicle: namespace of the vehicle, relative to it.

    Raises:
        ParameterError: a parameter file cannot be read or is invalid.
    """
    own = values_of_vehicle({name: value for name, value in values.items() if name.startswith(f"{vehicle}.")}, vehicle)
    return physics_of_arguments(arguments, namespace, vehicle) | {
        name: value for name, value in own.items() if name in PHYSICS_PARAMETERS
    }
