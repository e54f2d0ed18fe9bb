"""All nodes of the vehicle that `vehicle` names; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share."""
    return launch_description()
