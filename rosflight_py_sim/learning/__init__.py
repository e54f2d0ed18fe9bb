"""Learning: environments for policies, which fly the same flight in the node graph (docs/learning.md).

The import registers the environments with Gymnasium: `gymnasium.make("rosflight_py_sim/Hover-v0")`.
"""

from __future__ import annotations

from rosflight_py_sim.ground.extras import missing_extra

try:
    from gymnasium.envs.registration import register, registry
except ImportError as error:
    raise ImportError(str(missing_extra("an environment", error, "learn"))) from error

NAMES = {
    "rosflight_py_sim/Hover-v0": "hover",
    "rosflight_py_sim/Waypoints-v0": "waypoints",
    "rosflight_py_sim/Tracking-v0": "tracking",
    "rosflight_py_sim/Landing-v0": "landing",
    "rosflight_py_sim/DepthHeading-v0": "depth_heading",
}
"""Environment files in config/learning by the names of Gymnasium."""

for name, environment in NAMES.items():
    if name not in registry:
        register(
            name,
            entry_point="rosflight_py_sim.learning.environment:PolicyEnv",
            vector_entry_point="rosflight_py_sim.learning.vector_environment:PolicyVectorEnv",
            kwargs={"environment": environment},
        )
