"""All nodes of a simulated fixed wing; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The shared graph, with the fixed wing's physics and parameters."""
    return launch_description(defaults={"vehicle": "fixedwing"})
