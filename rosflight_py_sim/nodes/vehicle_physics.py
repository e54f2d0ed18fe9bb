"""Physics parameters of a vehicle, for nodes that draw or record it."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.executables import NODE_CLASSES
from rosflight_py_sim.interfaces.parameter_files import values_of_arguments
from rosflight_py_sim.parameters import Value
from rosflight_py_sim.physics.auv import AUV_PARAMETERS
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS

_TABLE = DYNAMICS_PARAMETERS + MULTIROTOR_PARAMETERS + FIXEDWING_PARAMETERS + AUV_PARAMETERS


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
    for place in ("dynamics", "forces_and_moments"):
        aliases = [executable for executable in NODE_CLASSES if executable.endswith(f"_{place}")]
        values |= values_of_arguments(arguments, place, namespace, aliases)
    return {name: value for name, value in values.items() if name in _TABLE}
