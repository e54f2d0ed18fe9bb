"""Detection of nodes of a simulation that run in another time mode."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC, TIME_MODE_KEY

# The reports of a whole fleet may arrive at once.
_QOS = QoSProfile(depth=200)

# Nodes report once a second; a node without a report for this long has ended.
_STALE_S = 5.0

# Within this time, every running node has been discovered (after a lost packet in 3 s) and has reported.
_SETTLED_S = 4.5

_KEY = TIME_MODE_KEY.encode() + b"\x00"

# Nodes in these modes run on /clock at any rate, so they are compatible.
_ON_CLOCK = ("paced", "gated")


class TimeModeWatch:
    """Subscribes to /diagnostics and keeps the nodes of the same simulation with an incompatible time mode.

    A node belongs to the same simulation when one of the two namespaces contains the other.
    """

    def __init__(self, node: Node, time_mode: str) -> None:
        """Start the watch for a node that runs in `time_mode`."""
        self._node, self._time_mode = node, time_mode
        self._namespace = _parts(node.get_namespace())
        self._fitting = [mode.encode() + b"\x00" for mode in (_ON_CLOCK if time_mode in _ON_CLOCK else (time_mode,))]
        self._others: dict[str, tuple[str, float]] = {}
        self._logged: dict[str, str] = {}
        self._settled_s = time.monotonic() + _SETTLED_S
        node.create_subscription(DiagnosticArray, DIAGNOSTICS_TOPIC, self._on_report, _QOS, raw=True)

    @property
    def has_settled(self) -> bool:
        """Whether the watch has lasted long enough to know the time mode of each running node."""
        return time.monotonic() >= self._settled_s

    @property
    def mismatch(self) -> str:
        """Text that lists nodes in other time modes; empty if none."""
        now_s = time.monotonic()
        self._others = {name: one for name, one in self._others.items() if now_s - one[1] < _STALE_S}
        if not self._others:
            return ""
        modes = {name: mode for name, (mode, _) in sorted(self._others.items())}
        others = ", ".join(f"{name} in {mode}" for name, mode in modes.items())
        text = f"nodes run in different time modes: {self._node.get_name()} in {self._time_mode}, {others}"
        # On a busy machine reports may be late: a node that is named again is logged once.
        if not modes.items() <= self._logged.items():
            self._logged |= modes
            self._node.get_logger().warning(f"{text}; start all of them with the same time_mode")
        return text

    def _on_report(self, message: bytes) -> None:
        # Decoding a report costs a hundred times as much as checking that its mode is compatible.
        at = message.find(_KEY)
        if at < 0:
            return
        after = message[at + len(_KEY) : at + len(_KEY) + 24]
        if any(mode in after for mode in self._fitting):
            if self._logged or self._others:
                name = self._owner(message)[0]
                self._others.pop(name, None)
                self._logged.pop(name, None)
            return
        name, mode = self._owner(message)
        if self._is_ours(name):
            self._others[name] = mode, time.monotonic()

    @staticmethod
    def _owner(message: bytes) -> tuple[str, str]:
        status = deserialize_message(message, DiagnosticArray).status[0]
        return status.name, next((v.value for v in status.values if v.key == TIME_MODE_KEY), "")

    def _is_ours(self, name: str) -> bool:
        theirs = _parts(name)[:-1]
        shorter = min(len(theirs), len(self._namespace))
        return theirs[:shorter] == self._namespace[:shorter]


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part]
