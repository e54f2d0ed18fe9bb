"""Different vehicles in one simulation, from a scenario file; `ros2 launch` with `-s` lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import scenario_description


def generate_launch_description() -> LaunchDescription:
    """The vehicles of the scenario `file`, by default in one process."""
    return scenario_description()
