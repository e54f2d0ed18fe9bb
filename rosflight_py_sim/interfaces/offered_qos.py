"""QoS offered by publishers, in rosbag2's format, which `ros2 bag play` reads."""

from __future__ import annotations

from collections.abc import Iterable

import yaml
from rclpy.duration import Duration
from rclpy.qos import QoSProfile

from rosflight_py_sim.ground.stamps import NANOSECONDS


def offered_qos(profiles: Iterable[QoSProfile]) -> str:
    """YAML of the profiles; policies are numbers, which every version of rosbag2 reads."""
    return str(yaml.safe_dump([_offer(profile) for profile in profiles], sort_keys=False)).strip()


def _offer(profile: QoSProfile) -> dict[str, object]:
    return {
        "history": int(profile.history),
        "depth": profile.depth,
        "reliability": int(profile.reliability),
        "durability": int(profile.durability),
        "deadline": _seconds(profile.deadline),
        "lifespan": _seconds(profile.lifespan),
        "liveliness": int(profile.liveliness),
        "liveliness_lease_duration": _seconds(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _seconds(duration: Duration) -> dict[str, int]:
    # A duration of zero in rclpy means unspecified; DDS then offers no limit.
    whole, rest = divmod(duration.nanoseconds or 2**63 - 1, NANOSECONDS)
    return {"sec": whole, "nsec": rest}
