"""Prepare the flight controller of a running fixed wing: load parameters, calibrate the IMU, save parameters."""

from launch import LaunchDescription

from rosflight_py_sim.graph.firmware_preparation import firmware_preparation


def generate_launch_description() -> LaunchDescription:
    """Three service calls in sequence, with the fixed wing's parameters."""
    return firmware_preparation("fixedwing")
