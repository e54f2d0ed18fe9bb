"""The BlueROV2, driven by ArduSub; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, in lockstep, with ArduPilot in the flight controller's place."""
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    chosen = [("vehicle", "bluerov2"), ("flight_controller", "ardupilot")]
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "time_mode", default_value="lockstep", description="Only lockstep waits for ArduPilot."
            ),
            IncludeLaunchDescription(graph, launch_arguments=chosen),
        ]
    )
