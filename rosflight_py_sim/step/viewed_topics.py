"""Topics for viewers, and the names under which `view_relay` publishes them."""

from __future__ import annotations

from typing import Any

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import (
    BATTERY,
    FORCES_AND_MOMENTS,
    PWM_OUTPUT,
    RC,
    SETPOINT,
    TRUTH_STATE,
    TRUTH_WIND,
    M,
    StepTopic,
)

VIEWED: tuple[StepTopic[Any], ...] = (TRUTH_STATE, TRUTH_WIND, PWM_OUTPUT, FORCES_AND_MOMENTS)
"""Topics with a message in each step."""

PILOTED: tuple[StepTopic[Any], ...] = (RC, BATTERY, SETPOINT)
"""Topics for the pilot, with fewer messages, but more than a display shows."""

RELAYED = Parameter(
    "relayed",
    False,
    "Subscribe to view_relay's topics view/... instead of the simulation's own",
    read_only=True,
)


def viewed(topic: StepTopic[M], *, relayed: bool) -> StepTopic[M]:
    """Row of a topic for a viewer: of view_relay's topic, if `relayed` and view_relay has the topic."""
    if not relayed or topic not in VIEWED + PILOTED:
        return topic
    relay = topic.renamed(f"view/{topic.name.removeprefix('sim/')}")
    relay.qos = CHAIN
    return relay
