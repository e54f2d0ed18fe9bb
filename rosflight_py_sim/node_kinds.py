"""Kinds of nodes, and this package's nodes with their kinds."""

from __future__ import annotations

from enum import Enum, auto


class NodeKind(Enum):
    """Place of a node in a simulation; a vehicle file or an option selects a node of this kind for it."""

    TIME_MANAGER = auto()
    SENSORS = auto()
    FORCES_AND_MOMENTS = auto()
    DYNAMICS = auto()
    TRANSMITTER = auto()
    FLIGHT_CONTROLLER = auto()
    AUTOPILOT = auto()
    FURTHER = auto()
    OBSERVER = auto()


_NODES = {
    "standalone_time_manager": ("StandaloneTimeManager", NodeKind.TIME_MANAGER),
    "gated_time_manager": ("GatedTimeManager", NodeKind.TIME_MANAGER),
    "lockstep_time_manager": ("LockstepTimeManager", NodeKind.TIME_MANAGER),
    "standalone_sensors": ("StandaloneSensors", NodeKind.SENSORS),
    "multirotor_forces_and_moments": ("MultirotorForcesAndMoments", NodeKind.FORCES_AND_MOMENTS),
    "fixedwing_forces_and_moments": ("FixedwingForcesAndMoments", NodeKind.FORCES_AND_MOMENTS),
    "auv_forces_and_moments": ("AuvForcesAndMoments", NodeKind.FORCES_AND_MOMENTS),
    "standalone_dynamics": ("StandaloneDynamics", NodeKind.DYNAMICS),
    "jsbsim_dynamics": ("JsbsimDynamics", NodeKind.DYNAMICS),
    "rc": ("Rc", NodeKind.TRANSMITTER),
    "sil_board": ("SilBoard", NodeKind.FLIGHT_CONTROLLER),
    "autopilot": ("Autopilot", NodeKind.AUTOPILOT),
    "follower_autopilot": ("FollowerAutopilot", NodeKind.AUTOPILOT),
    "fixedwing_autopilot": ("FixedwingAutopilot", NodeKind.AUTOPILOT),
    "auv_autopilot": ("AuvAutopilot", NodeKind.FLIGHT_CONTROLLER),
    "bridge": ("Bridge", NodeKind.FLIGHT_CONTROLLER),
    "camera": ("CameraNode", NodeKind.FURTHER),
    "visualizer": ("Visualizer", NodeKind.OBSERVER),
    "recorder": ("Recorder", NodeKind.OBSERVER),
    "view_relay": ("ViewRelay", NodeKind.OBSERVER),
    "web_viewer": ("WebViewer", NodeKind.OBSERVER),
}
"""Class name and kind of each node of the package, by executable, which is also the name of the module."""

NODE_CLASSES = {executable: name for executable, (name, _) in _NODES.items()}
"""Class name of each node, by executable."""

NODE_KINDS = {executable: kind for executable, (_, kind) in _NODES.items()}
"""Kind of each node, by executable."""
