"""Quality-of-service profiles of the graph, each named once, and the rule that selects them by time mode."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

CHAIN = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Topics of the simulation step: no message may be lost, and only the newest counts."""

LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""States that a node must receive even if it starts late or is restarted."""

LATCHED_LIST = QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reports of which a late subscription should receive the last few."""

LATCHED_LOG = QoSProfile(
    depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Lines of text, many at once, of which a late subscription should receive all."""

FEEDBACK = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Feedback of an action, as clients of actions request it."""

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Only the newest message counts; the publisher neither waits for the subscription nor retransmits."""


LATCHED_QUEUE = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Subscription to the trigger of a step: no message may be lost, not even to one of another publisher."""

QUEUE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Subscription to messages of which each counts."""


def clock_qos(time_mode: str) -> QoSProfile:
    """QoS of a subscription to /clock.

    ROSflight's time manager publishes /clock best effort, which is incompatible with a reliable subscription. Lockstep
    has its own time manager and must not lose a step.
    """
    return CHAIN if time_mode == "lockstep" else NEWEST


def state_qos(time_mode: str) -> QoSProfile:
    """QoS of a subscription to sim/truth_state or sim/truth_wind.

    ROSflight's dynamics publishes both volatile, which is incompatible with a transient-local subscription. In lockstep
    a restarted node needs the last state, because no other is published before the step is complete.
    """
    return LATCHED if time_mode == "lockstep" else CHAIN


def imu_qos(time_mode: str) -> QoSProfile:
    """QoS of a subscription to the IMU, by the rule of `state_qos`; in lockstep no message is published twice."""
    return LATCHED_QUEUE if time_mode == "lockstep" else CHAIN


def stamped_input_qos(time_mode: str) -> QoSProfile:
    """QoS of a subscription to an input that takes effect in the step after its stamp: in lockstep none may be lost."""
    return QUEUE if time_mode == "lockstep" else CHAIN
