"""Several vehicles in one simulation; `ros2 launch` with `-s` after this file's name lists the arguments."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from rosflight_py_sim.fleet import FLEET_PARAMETERS
from rosflight_py_sim.vehicles import VEHICLES


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, several times; by default in lockstep and in one process."""
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    count = str(FLEET_PARAMETERS["count"].default)
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "vehicle", default_value="multirotor", choices=list(VEHICLES), description="Which vehicles to simulate."
            ),
            DeclareLaunchArgument("count", default_value=count, description="Number of vehicles."),
            DeclareLaunchArgument(
                "time_mode", default_value="lockstep", description="Who advances time; see standalone.launch.py."
            ),
            DeclareLaunchArgument(
                "composed", default_value="true", description="Whether all nodes of all vehicles run in one process."
            ),
            IncludeLaunchDescription(graph, launch_arguments=[("vehicle", LaunchConfiguration("vehicle"))]),
        ]
    )
