"""All nodes of a JSBSim aircraft; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The shared graph, with JSBSim instead of forces_and_moments and dynamics."""
    return launch_description(defaults={"vehicle": "fixedwing", "dynamics": "jsbsim"})
