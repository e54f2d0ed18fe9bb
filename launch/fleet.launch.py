"""Several vehicles in one simulation; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.fleet import FLEET_PARAMETERS
from rosflight_py_sim.graph.launch_graph import launch_description
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE


def generate_launch_description() -> LaunchDescription:
    """Several vehicles in the shared graph; by default in lockstep and in one process."""
    count = str(FLEET_PARAMETERS["count"].default)
    return launch_description(
        defaults={"vehicle": DEFAULT_VEHICLE, "count": count, "time_mode": "lockstep", "composed": "true"}
    )
