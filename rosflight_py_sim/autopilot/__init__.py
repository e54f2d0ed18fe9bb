"""Guidance and control loops, without ROS.

Every vehicle: the target state (`fly_target`), the controller interface (`target_controller`), and routes of numbered
waypoints (`waypoint_route`).

Multirotor: the square mission (`mission`), position control by tilt and thrust (`position_controller`), and target
control (`multirotor_target_controller`).

Fixed wing: path planning (`waypoints`, `path_planning`, `dubins`), path following (`path_segments`, `path_manager`),
target control by surfaces and throttle (`fixedwing_target_controller`, using `longitudinal_loops` and `surface_loops`,
with the gains of `gain_design`), and the mission from take-off to loiter (`fixedwing_mission`).
"""
