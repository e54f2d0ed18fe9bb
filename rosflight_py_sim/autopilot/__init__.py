"""Guidance loops without ROS: where a vehicle shall be (`mission`), and how it must tilt and thrust to be there
(`position_controller`).
"""
