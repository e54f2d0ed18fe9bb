"""Node names of a simulation: short ones, or those of ROSflight's launch files."""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import ParameterError

SHORT, ROSFLIGHT = NAMES = ("short", "rosflight")

ROSFLIGHT_NAMES = {
    "sensors": "standalone_sensors",
    "forces_and_moments": "{executable}",
    "dynamics": "standalone_dynamics",
    "time_manager": "standalone_time_manager",
    "visualizer": "standalone_viz_transcriber",
}
"""Short name to ROSflight's, for the nodes whose names differ."""


def node_name(short: str, executable: str, names: str) -> str:
    """Name of a node, given its short name and its executable, under one of NAMES.

    Raises:
        ParameterError: `names` is not one of them.
    """
    if names not in NAMES:
        raise ParameterError(f"'names': '{names}' given; allowed: {', '.join(NAMES)}")
    return ROSFLIGHT_NAMES.get(short, short).format(executable=executable) if names == ROSFLIGHT else short
