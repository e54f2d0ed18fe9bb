"""Messages of a recording at any time, for plots of their fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosflight_py_sim.recording.mcap_file import Recording
from rosflight_py_sim.recording.rosout import decoded

KEPT = 2_000
"""Largest number of messages of a topic to load."""

LARGE = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2")
"""Types whose messages are not plotted."""


class RecordedMessages:
    """Decodes the topics that are plotted, each when it is first read."""

    def __init__(self, recording: Recording, zero_s: float) -> None:
        """Read from a recording; the page shows its times minus `zero_s`, s."""
        self._recording, self._zero_s = recording, zero_s
        self._decoded: dict[str, list[Any]] = {}

    def topics(self) -> list[str]:
        """Names of the topics with messages."""
        return sorted(
            name for name, one in self._recording.topics.items() if one.messages and one.type_name not in LARGE
        )

    def newest(self, topic: str, time_s: float) -> Any:
        """Newest message of a topic at a time, s; None before the first, and if its type cannot be read."""
        messages = self._recording.topics[topic]
        if topic not in self._decoded:
            self._decoded[topic] = decoded(messages)
        found = self._decoded[topic]
        row = int(np.searchsorted(messages.kept_s, time_s + self._zero_s + 1e-9, side="right")) - 1
        return found[row] if 0 <= row < len(found) else None

    def keep(self, topics: set[str]) -> None:
        """Forget the decoded messages of all other topics."""
        for gone in self._decoded.keys() - topics:
            del self._decoded[gone]
