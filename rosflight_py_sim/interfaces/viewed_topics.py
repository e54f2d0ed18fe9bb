"""The topics that viewers look at, and where a relay sends the newest of them."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.step_topics import (
    FORCES_AND_MOMENTS,
    PWM_OUTPUT,
    TRUTH_STATE,
    TRUTH_WIND,
    M,
    StepTopic,
)
from rosflight_py_sim.parameters import Parameter

VIEWED: tuple[StepTopic[Any], ...] = (TRUTH_STATE, TRUTH_WIND, PWM_OUTPUT, FORCES_AND_MOMENTS)

RELAYED = Parameter(
    "relayed",
    False,
    "Whether to hear what view_relay says on view/... in the place of the simulation's own sim/...",
    read_only=True,
)


def viewed(topic: StepTopic[M], *, relayed: bool) -> StepTopic[M]:
    """The topic of VIEWED as a viewer subscribes to it."""
    if not relayed:
        return topic
    relay = topic.renamed(topic.name.replace("sim/", "view/"), by="view_relay", to="viewers")
    relay.qos = CHAIN
    return relay
