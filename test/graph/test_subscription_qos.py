"""Outside lockstep, no node requests a stricter QoS than ROSflight's own nodes offer.

The recorder is not among these nodes: it subscribes to topics as they appear, with the QoS offered (test_recorder.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, QoSCompatibility, QoSProfile, ReliabilityPolicy, qos_check_compatible

pytestmark = pytest.mark.timeout(120)

VOLATILE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# What the C++ nodes of rosflight_sim and rosflight_io offer.
OFFERED = {
    "/clock": QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE),
    **dict.fromkeys(
        (
            "/sim/truth_state",
            "/sim/truth_wind",
            "/sim/forces_and_moments",
            "/sim/pwm_output",
            "/sim/RC",
            *(f"/sim/sensors/{name}" for name in ("imu/data", "imu/temperature", "mag", "baro", "gnss")),
            *(f"/sim/sensors/{name}" for name in ("diff_pressure", "range", "battery")),
            *("/status", "/status/params_changed", "/attitude", "/attitude/euler", "/imu/data", "/imu/temperature"),
            *("/output_raw", "/rc_raw", "/airspeed", "/baro", "/magnetometer", "/range", "/battery", "/gnss"),
        ),
        VOLATILE,
    ),
    **dict.fromkeys(("/version", "/status/unsaved_params", "/status/rosflight_errors"), LATCHED),
}

VEHICLES: dict[str, dict[str, Any]] = {
    "multirotor": {"executables": ("autopilot", "camera", "visualizer", "view_relay", "web_viewer")},
    "fixedwing": {"executables": ("fixedwing_autopilot",)},
    "aircraft of JSBSim": {"vehicle_name": "fixedwing", "dynamics": "jsbsim"},
    "uthere": {},
    "auv": {"flight_controller": "auv_controller"},
}


def subscriptions(graph: Any) -> list[tuple[str, str, QoSProfile]]:
    """(node, topic, QoS) of every subscription to a topic that ROSflight's nodes publish."""
    return [
        (info.node_name, topic, QoSProfile(depth=1, reliability=qos.reliability, durability=qos.durability))
        for topic in OFFERED
        for info in graph.tester.get_subscriptions_info_by_topic(topic)
        for qos in [info.qos_profile]
        if info.node_name != "tester"
    ]


@pytest.mark.parametrize("time_mode", ["wall", "paced", "gated"])
@pytest.mark.parametrize("name", VEHICLES)
def test_every_subscription_is_compatible_with_rosflight_publishers(
    graph: Callable[..., Any], name: str, time_mode: str
) -> None:
    options = {"vehicle_name": name, **VEHICLES[name]}
    running = graph("--ros-args", "-p", "web_viewer.port:=0", time_mode=time_mode, multiplier=1.0, **options)
    found = subscriptions(running)
    refused = [
        (node, topic, reason)
        for node, topic, qos in found
        for compatibility, reason in [qos_check_compatible(OFFERED[topic], qos)]
        if compatibility == QoSCompatibility.ERROR
    ]
    assert refused == []
    # The topics of truth, wind, outputs and time are among them.
    topics = {topic for _, topic, _ in found}
    assert {"/sim/truth_state", "/sim/truth_wind", "/sim/pwm_output"} <= topics
    assert ("/clock" in topics) == (time_mode != "wall")
