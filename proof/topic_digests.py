"""Hash of every topic of a run."""

from __future__ import annotations

import hashlib
from typing import Any

from rclpy.qos import QoSProfile

from rosflight_py_sim.interfaces.canonical_messages import canonical_form_of_own
from rosflight_py_sim.interfaces.hand_off_ends import Listener

Digests = dict[str, tuple[int, str]]
"""Number of messages and hash, by topic."""


class TopicDigests:
    """Hashes the messages of each topic in the order in which a composed graph publishes them."""

    def __init__(self) -> None:
        self._hashes: dict[str, Any] = {}
        self._counts: dict[str, int] = {}

    def tap(self, topic: str, message_type: Any, _: QoSProfile) -> Listener:
        """Listener to which `ComposedGraph` passes the messages of a publisher."""
        digest = self._hashes.setdefault(topic, hashlib.sha256())
        counts = self._counts
        counts.setdefault(topic, 0)
        canonical = canonical_form_of_own(message_type)

        def take(message: bytes) -> None:
            counts[topic] += 1
            digest.update(canonical(message))

        return Listener(take)

    @property
    def digests(self) -> Digests:
        """Number of messages so far and their hash, by topic."""
        return {topic: (self._counts[topic], digest.hexdigest()) for topic, digest in sorted(self._hashes.items())}


def differing(one: Digests, other: Digests) -> list[str]:
    """Topics that differ, or that only one of the runs has."""
    return sorted(topic for topic in {*one, *other} if one.get(topic) != other.get(topic))
