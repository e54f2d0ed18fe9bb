"""Guidance loops without ROS.

Every vehicle: in which state it shall fly (`fly_target`), and what flies it so (`target_controller`),
and how numbered waypoints are flown one after the other (`waypoint_route`).

Multirotor: the square (`mission`), how it must tilt and thrust to be where it shall (`position_controller`), or
to fly a target (`multirotor_target_controller`).

Fixed wing: which path leads through its waypoints (`waypoints`, `path_planning`, `dubins`), how to follow it
(`path_segments`, `path_manager`), how surfaces and throttle fly a target (`fixedwing_target_controller`, over
`longitudinal_loops` and `surface_loops`, with the gains of `gain_design`), and all of that from take-off to loiter
(`fixedwing_mission`).
"""
