"""Which nodes there are."""

NODE_CLASSES = {
    "standalone_time_manager": "StandaloneTimeManager",
    "gated_time_manager": "GatedTimeManager",
    "lockstep_time_manager": "LockstepTimeManager",
    "standalone_sensors": "StandaloneSensors",
    "multirotor_forces_and_moments": "MultirotorForcesAndMoments",
    "fixedwing_forces_and_moments": "FixedwingForcesAndMoments",
    "auv_forces_and_moments": "AuvForcesAndMoments",
    "standalone_dynamics": "StandaloneDynamics",
    "jsbsim_dynamics": "JsbsimDynamics",
    "rc": "Rc",
    "sil_board": "SilBoard",
    "autopilot": "Autopilot",
    "fixedwing_autopilot": "FixedwingAutopilot",
    "auv_autopilot": "AuvAutopilot",
    "bridge": "Bridge",
    "camera": "CameraNode",
    "visualizer": "Visualizer",
    "recorder": "Recorder",
    "view_relay": "ViewRelay",
    "web_viewer": "WebViewer",
}
"""Executable (and module) to class, for all nodes of the package."""
