"""All nodes of an aircraft of JSBSim; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, with JSBSim in the place of forces_and_moments and dynamics."""
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    chosen = [("vehicle", "fixedwing"), ("dynamics", "jsbsim")]
    return LaunchDescription([IncludeLaunchDescription(graph, launch_arguments=chosen)])
