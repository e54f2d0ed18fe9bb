"""The quality-of-service profiles of the graph, each named once."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

CHAIN = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Topics of the simulation step: nothing may be lost, only the newest counts."""

LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""A state that a node which starts late (or again) must still hear."""

LATCHED_LIST = QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Reports of which a late listener should hear the last few."""
