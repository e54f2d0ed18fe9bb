"""All nodes of an underwater vehicle; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The shared graph in lockstep, controlled by clients of the AUV protocol."""
    return launch_description(defaults={"vehicle": "auv", "time_mode": "lockstep"})
