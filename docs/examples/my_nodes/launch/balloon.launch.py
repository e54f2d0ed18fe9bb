"""The simulator's graph with the balloon in place of the multirotor; it takes the arguments of the graph."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rosflight_py_sim.graph.launching import additional_node

from my_nodes import VEHICLES


def generate_launch_description() -> LaunchDescription:
    """All nodes of the simulator but forces_and_moments, which is ours."""
    parameters = str(VEHICLES / "parameters" / "balloon.yaml")
    simulator = get_package_share_path("rosflight_py_sim") / "launch" / "multirotor_standalone.launch.py"
    arguments = {"leave_out": "forces_and_moments", "dynamics_param_file": parameters}
    return LaunchDescription(
        [
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(simulator)), launch_arguments=arguments.items()),
            additional_node(
                package="my_nodes",
                executable="balloon",
                name="forces_and_moments",
                output="screen",
            ),
        ]
    )
