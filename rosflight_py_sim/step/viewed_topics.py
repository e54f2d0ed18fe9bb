"""Topics for viewers, and the names under which `view_relay` publishes them."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.parameters import Parameter
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import (
    FORCES_AND_MOMENTS,
    PWM_OUTPUT,
    TRUTH_STATE,
    TRUTH_WIND,
    M,
    StepTopic,
)

VIEWED: tuple[StepTopic[Any], ...] = (TRUTH_STATE, TRUTH_WIND, PWM_OUTPUT, FORCES_AND_MOMENTS)

RELAYED = Parameter(
    "relayed",
    False,
    "Subscribe to view_relay's topics view/... instead of the simulation's sim/...",
    read_only=True,
)


def viewed(topic: StepTopic[M], *, relayed: bool) -> StepTopic[M]:
    """Row of a topic of VIEWED for a viewer."""
    if not relayed:
        return topic
    relay = topic.renamed(topic.name.replace("sim/", "view/"), by="view_relay", to="viewers")
    relay.qos = CHAIN
    return relay
