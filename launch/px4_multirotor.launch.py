"""A multirotor flown by PX4; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description
from rosflight_py_sim.vehicles import DEFAULT_VEHICLE


def generate_launch_description() -> LaunchDescription:
    """The shared graph in lockstep, with PX4 as the flight controller."""
    return launch_description(
        defaults={"vehicle": DEFAULT_VEHICLE, "flight_controller": "px4", "time_mode": "lockstep"}
    )
