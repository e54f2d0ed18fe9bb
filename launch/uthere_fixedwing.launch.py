"""Fixed wings flown by programs of uThere Ground Control's protocol; `ros2 launch` with `-s` lists the arguments."""

from pathlib import Path

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from rosflight_py_sim.fleet import fleet
from rosflight_py_sim.time_modes import boolean
from rosflight_py_sim.vehicles import vehicle


def generate_launch_description() -> LaunchDescription:
    """The graph that all vehicles share, with the bridge beside the flight controller."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "vehicle", default_value="anaconda", choices=["anaconda", "aerosonde"], description="Which aircraft."
            ),
            DeclareLaunchArgument(
                "count", default_value="", description="Number of planes, as in standalone.launch.py. Empty: one."
            ),
            DeclareLaunchArgument(
                "namespace", default_value="", description="Namespace of all nodes, as in standalone.launch.py."
            ),
            DeclareLaunchArgument(
                "time_mode", default_value="lockstep", description="Who advances time; see standalone.launch.py."
            ),
            DeclareLaunchArgument(
                "pilot",
                default_value="false",
                description="Whether the planes are armed and handed over by themselves, as by `rosflight_py_sim "
                "hand-over`. Otherwise they wait on the ground until somebody does.",
            ),
            OpaqueFunction(function=_graph),
        ]
    )


def _graph(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = context.launch_configurations
    graph = PythonLaunchDescriptionSource(str(Path(__file__).with_name("standalone.launch.py")))
    chosen = [("vehicle", given["vehicle"]), ("flight_controller", "uthere")]
    included = IncludeLaunchDescription(graph, launch_arguments=chosen)
    if not boolean("pilot", given["pilot"]):
        return [included]
    members = fleet(vehicle(given["vehicle"]), count=yaml.safe_load(given["count"]), seed=0) if given["count"] else []
    names = [member.namespace for member in members] or [""]
    words = ["hand-over"]
    for name in names:
        words += ["--namespace", "/".join(filter(None, (given["namespace"], name)))]
    pilot = Node(package="rosflight_py_sim", executable="rosflight_py_sim", arguments=words, output="screen")
    return [included, pilot]
