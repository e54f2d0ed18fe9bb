"""Kinds of nodes, and this package's nodes with their kinds."""

from __future__ import annotations

import sys
from enum import Enum, auto
from functools import cache


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
    "standalone_time_manager": ("nodes.standalone_time_manager:StandaloneTimeManager", NodeKind.TIME_MANAGER),
    "gated_time_manager": ("nodes.gated_time_manager:GatedTimeManager", NodeKind.TIME_MANAGER),
    "lockstep_time_manager": ("nodes.lockstep_time_manager:LockstepTimeManager", NodeKind.TIME_MANAGER),
    "standalone_sensors": ("parts.standalone_sensors:ModelledSensors", NodeKind.SENSORS),
    "multirotor_forces_and_moments": ("parts.multirotor_forces:MultirotorForces", NodeKind.FORCES_AND_MOMENTS),
    "fixedwing_forces_and_moments": ("parts.fixedwing_forces:FixedwingForces", NodeKind.FORCES_AND_MOMENTS),
    "auv_forces_and_moments": ("parts.auv_forces:AuvForces", NodeKind.FORCES_AND_MOMENTS),
    "standalone_dynamics": ("parts.rigid_body_dynamics:RigidBodyDynamics", NodeKind.DYNAMICS),
    "jsbsim_dynamics": ("parts.jsbsim_flight:JsbsimFlight", NodeKind.DYNAMICS),
    "rc": ("nodes.rc:Rc", NodeKind.TRANSMITTER),
    "sil_board": ("nodes.sil_board:SilBoard", NodeKind.FLIGHT_CONTROLLER),
    "autopilot": ("parts.square_autopilot:SquareAutopilot", NodeKind.AUTOPILOT),
    "follower_autopilot": ("parts.formation_autopilot:FormationAutopilot", NodeKind.AUTOPILOT),
    "fixedwing_autopilot": ("parts.waypoint_autopilot:WaypointAutopilot", NodeKind.AUTOPILOT),
    "underwater_autopilot": ("parts.underwater_autopilot:UnderwaterAutopilot", NodeKind.AUTOPILOT),
    "policy_autopilot": ("parts.policy_autopilot:PolicyAutopilot", NodeKind.AUTOPILOT),
    "policy_controller": ("parts.policy_controller:PolicyController", NodeKind.FLIGHT_CONTROLLER),
    "auv_controller": ("parts.auv_controller:AuvController", NodeKind.FLIGHT_CONTROLLER),
    "bridge": ("nodes.bridge:Bridge", NodeKind.FLIGHT_CONTROLLER),
    "camera": ("nodes.camera:CameraNode", NodeKind.FURTHER),
    "rosflight_io": ("nodes.rosflight_io:RosflightIo", NodeKind.FURTHER),
    "visualizer": ("nodes.visualizer:Visualizer", NodeKind.OBSERVER),
    "recorder": ("nodes.recorder:Recorder", NodeKind.OBSERVER),
    "view_relay": ("nodes.view_relay:ViewRelay", NodeKind.OBSERVER),
    "simulation_interfaces": ("nodes.simulation_interfaces:SimulationInterfaces", NodeKind.OBSERVER),
    "encounters": ("nodes.encounters:Encounters", NodeKind.OBSERVER),
    "web_viewer": ("nodes.web_viewer:WebViewer", NodeKind.OBSERVER),
}
"""Class, of a node or a part, and kind of each node of the package, by executable."""

RENAMED = {"auv_autopilot": "auv_controller"}
"""Present name of each node or flight controller that users may still give by its former name."""

NODE_CLASSES = {executable: f"rosflight_py_sim.{place}" for executable, (place, _) in _NODES.items()}
"""Class of each node, as an entry point names it, by executable."""

NODE_KINDS = {executable: kind for executable, (_, kind) in _NODES.items()}
"""Kind of each node, by executable."""


@cache
def present_name(name: str) -> str:
    """Present name of a node or flight controller; a former one causes a note on stderr, once."""
    if name in RENAMED:
        print(f"rosflight_py_sim: '{name}' is the former name of '{RENAMED[name]}': use the new name", file=sys.stderr)
    return RENAMED.get(name, name)
