"""Guidance loops without ROS.

Multirotor: where it shall be (`mission`), and how it must tilt and thrust to be there (`position_controller`).

Fixed wing: which path leads through its waypoints (`waypoints`, `path_planning`, `dubins`), how to follow it
(`path_segments`, `path_manager`), how surfaces and throttle fly course, height and airspeed (`fixedwing_controller`,
with the gains of `gain_design`), and all of that from take-off to loiter (`fixedwing_mission`).
"""
