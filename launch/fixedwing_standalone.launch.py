"""All nodes of a simulated fixed wing; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, with the fixed wing's physics and parameters."""
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    return LaunchDescription([IncludeLaunchDescription(graph, launch_arguments=[("vehicle", "fixedwing")])])
