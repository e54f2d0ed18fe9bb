"""Topics for viewers, and the names under which `view_relay` publishes them."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.ground.parameters import Parameter
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
    """Row of a topic for a viewer: of view_relay's topic, if `relayed` and the topic is one of VIEWED."""
    if not relayed or topic not in VIEWED:
        return topic
    relay = topic.renamed(topic.name.replace("sim/", "view/"))
    relay.qos = CHAIN
    return relay
