"""All nodes of the vehicle given by `vehicle`; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The shared graph of all launch files."""
    return launch_description()
