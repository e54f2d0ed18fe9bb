"""The BlueROV2, controlled by ArduSub; `ros2 launch` with `-s` after this file's name lists the arguments."""

from launch import LaunchDescription

from rosflight_py_sim.graph.launch_graph import launch_description


def generate_launch_description() -> LaunchDescription:
    """The shared graph in lockstep, with ArduPilot as the flight controller."""
    return launch_description(
        defaults={"vehicle": "bluerov2", "flight_controller": "ardupilot", "time_mode": "lockstep"}
    )
