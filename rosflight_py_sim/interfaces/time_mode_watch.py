"""Detection of nodes of a simulation that run in another time mode."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from rosflight_py_sim.interfaces.diagnostics import TIME_MODE_KEY, watch_reports

# Nodes report once a second; a node without a report for this long has ended.
_STALE_S = 5.0

# Within this time, every running node has been discovered (after a lost packet in 3 s) and has reported.
_SETTLED_S = 4.5

_KEY = TIME_MODE_KEY.encode() + b"\x00"

# Nodes in these modes run on /clock at any rate, so they are compatible.
_ON_CLOCK = ("paced", "gated")


class TimeModeWatch:
    """Subscribes to /diagnostics and keeps a list of nodes whose time mode is incompatible with a given one.

    The nodes of a process that have the same time mode share a watch. Two nodes belong to the same simulation if one of
    their namespaces contains the other.

    Attributes:
        node: node that has the subscription.
    """

    def __init__(self, node: Node, time_mode: str) -> None:
        """Start the watch for nodes that run in `time_mode`."""
        self.node, self._time_mode = node, time_mode
        self._fitting = _ON_CLOCK if time_mode in _ON_CLOCK else (time_mode,)
        self._others: dict[str, tuple[str, float]] = {}
        self._logged: dict[str, str] = {}
        self._settled_s = time.monotonic() + _SETTLED_S
        watch_reports(node, self._take, self._is_wanted)

    @property
    def has_settled(self) -> bool:
        """Whether the watch has lasted long enough to know the time mode of each running node."""
        return time.monotonic() >= self._settled_s

    def mismatch(self, node: Node) -> str:
        """Text that lists nodes of the node's simulation in other time modes; empty if there are none."""
        now_s = time.monotonic()
        self._others = {name: one for name, one in self._others.items() if now_s - one[1] < _STALE_S}
        if not self._others:
            return ""
        ours = _parts(node.get_namespace())
        modes = {name: mode for name, (mode, _) in sorted(self._others.items()) if _contain(ours, _parts(name)[:-1])}
        if not modes:
            return ""
        others = ", ".join(f"{name} in {mode}" for name, mode in modes.items())
        text = f"nodes run in different time modes: {node.get_name()} in {self._time_mode}, {others}"
        # On a busy machine reports may be late: a node that is named again is logged once.
        if not modes.items() <= self._logged.items():
            self._logged |= modes
            node.get_logger().warning(f"{text}; start all of them with the same time_mode")
        return text

    def _is_wanted(self, report: bytes) -> bool:
        """Whether a report may change the list of nodes in other modes; while that is empty, compatible ones do not."""
        at = report.find(_KEY)
        after = report[at + len(_KEY) : at + len(_KEY) + 24]
        is_fitting = any(mode.encode() + b"\x00" in after for mode in self._fitting)
        return at >= 0 and (not is_fitting or bool(self._logged or self._others))

    def _take(self, status: DiagnosticStatus) -> None:
        mode = next((one.value for one in status.values if one.key == TIME_MODE_KEY), None)
        if mode in self._fitting:
            self._others.pop(status.name, None)
            self._logged.pop(status.name, None)
        elif mode is not None:
            self._others[status.name] = mode, time.monotonic()


def _contain(one: list[str], other: list[str]) -> bool:
    """Whether one of two namespaces contains the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part]
