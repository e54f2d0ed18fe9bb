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
    """Subscribes to /diagnostics and keeps the nodes of the same simulation with an incompatible time mode.

    A node belongs to the same simulation when one of the two namespaces contains the other.
    """

    def __init__(self, node: Node, time_mode: str) -> None:
        """Start the watch for a node that runs in `time_mode`."""
        self._node, self._time_mode = node, time_mode
        self._namespace = _parts(node.get_namespace())
        self._fitting = _ON_CLOCK if time_mode in _ON_CLOCK else (time_mode,)
        self._others: dict[str, tuple[str, float]] = {}
        self._logged: dict[str, str] = {}
        self._settled_s = time.monotonic() + _SETTLED_S
        watch_reports(node, self._take, self._is_wanted)

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
        elif mode is not None and self._is_ours(status.name):
            self._others[status.name] = mode, time.monotonic()

    def _is_ours(self, name: str) -> bool:
        theirs = _parts(name)[:-1]
        shorter = min(len(theirs), len(self._namespace))
        return theirs[:shorter] == self._namespace[:shorter]


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part]
