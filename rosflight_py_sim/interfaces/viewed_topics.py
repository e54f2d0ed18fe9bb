"""The topics that viewers look at, and where a relay sends the newest of them."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rosflight_msgs.msg import PwmOutput, SimState

from rosflight_py_sim.parameters import Parameter

VIEWED: dict[str, Any] = {
    "truth_state": SimState,
    "truth_wind": Vector3Stamped,
    "pwm_output": PwmOutput,
    "forces_and_moments": WrenchStamped,
}
"""Topics below sim/, with their types."""

RELAYED = Parameter(
    "relayed",
    False,
    "Whether to hear what view_relay says on view/... in the place of the simulation's own sim/...",
    read_only=True,
)


def viewed_topic(name: str, *, relayed: bool) -> str:
    """Where a viewer hears a topic of VIEWED, from the vehicle's namespace."""
    return f"{'view' if relayed else 'sim'}/{name}"
