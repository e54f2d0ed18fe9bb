"""All nodes of an underwater vehicle; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, in lockstep, steered by clients of the AUV protocol or held by `hold`."""
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "vehicle", default_value="auv", choices=["auv", "bluerov2"], description="Which vehicle to simulate."
            ),
            DeclareLaunchArgument(
                "time_mode",
                default_value="lockstep",
                description="Who advances time; only lockstep goes with zeromq, any with flight_controller:=hold.",
            ),
            IncludeLaunchDescription(graph, launch_arguments=[("vehicle", LaunchConfiguration("vehicle"))]),
        ]
    )
