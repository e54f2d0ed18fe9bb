"""All nodes of an aircraft of JSBSim; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, with JSBSim in the place of forces_and_moments and dynamics."""
    return launch_description(only={"dynamics": ["jsbsim"]}, defaults={"vehicle": "fixedwing"})
