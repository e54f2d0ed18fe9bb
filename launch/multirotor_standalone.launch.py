"""All nodes of a simulated multirotor; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE


def generate_launch_description() -> LaunchDescription:
    """The shared graph, with the multirotor's physics and parameters."""
    return launch_description(defaults={"vehicle": DEFAULT_VEHICLE})
