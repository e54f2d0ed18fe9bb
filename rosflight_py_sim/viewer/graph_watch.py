"""Watches a running graph from outside: what rclpy's graph queries tell, and what the nodes say on /diagnostics."""

from __future__ import annotations

import time
from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile

from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC, PUBLISHED, RECEIVED, TOPIC_RATES
from rosflight_py_sim.viewer.graph_model import SILENT, GraphModel, Health, NodeEntry, Report, TopicEntry, graph_model

# A graph of several vehicles reports in a burst.
_QOS = QoSProfile(depth=200)

# Reports come once a second; a machine that is busy may hold one up.
_STALE_S = 5.0


class GraphWatch:
    """Keeps what nodes say, from the moment it is made; the node whose eyes it uses must be spun.

    Nodes and topics that are hidden by ROS's convention (a name that begins with an underscore) are left out.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._reports: dict[str, tuple[float, DiagnosticStatus]] = {}
        node.create_subscription(DiagnosticArray, DIAGNOSTICS_TOPIC, self._on_report, _QOS)

    def model(self, *, plumbing: bool = False) -> GraphModel:
        """The graph as it is now; `plumbing`: with the topics that every node has."""
        node = self._node
        names = {f"{space.rstrip('/')}/{name}" for name, space in node.get_node_names_and_namespaces()}
        shown = sorted(name for name in names if not _hidden(name))
        topics = [
            TopicEntry(topic, ", ".join(types), *self._ends(topic))
            for topic, types in node.get_topic_names_and_types()
            if not _hidden(topic)
        ]
        return graph_model([self._entry(name, shown) for name in shown], topics, plumbing=plumbing)

    @property
    def unheard(self) -> set[str]:
        """Full names of the nodes that publish on /diagnostics, but have said nothing under their names."""
        reporting = self._names(self._node.get_publishers_info_by_topic(DIAGNOSTICS_TOPIC))
        return {name for name in reporting if name.lstrip("/") not in self._reports}

    def _ends(self, topic: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        node = self._node
        publishers = self._names(node.get_publishers_info_by_topic(topic))
        return publishers, self._names(node.get_subscriptions_info_by_topic(topic))

    @staticmethod
    def _names(ends: Iterable[object]) -> tuple[str, ...]:
        found = {f"{end.node_namespace.rstrip('/')}/{end.node_name}" for end in ends}  # type: ignore[attr-defined]
        return tuple(sorted(name for name in found if not _hidden(name)))

    def _on_report(self, message: DiagnosticArray) -> None:
        now_s = time.monotonic()
        for status in message.status:
            self._reports[status.name] = now_s, status

    def _entry(self, name: str, names: list[str]) -> NodeEntry:
        """What a node says; entries of others than this package's may be named after the node alone."""
        owner, alone = name.lstrip("/"), name.rsplit("/", 1)[-1]
        owners = [owner]
        if owner not in self._reports and [n.rsplit("/", 1)[-1] for n in names].count(alone) == 1:
            owners.append(alone)
        subjects: dict[str, Report] = {}
        whole, heard, said = SILENT, dict[str, float](), dict[str, float]()
        for key, (heard_s, status) in self._reports.items():
            who, _, subject = key.partition(": ")
            if who not in owners:
                continue
            report = _report(status, time.monotonic() - heard_s)
            if not subject:
                whole = report
            elif subject == TOPIC_RATES:
                heard = _rates(report, RECEIVED)
                said = _rates(report, PUBLISHED)
            else:
                subjects[subject] = report
        return NodeEntry(name, whole, subjects, heard, said)


def _hidden(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("/"))


def _report(status: DiagnosticStatus, age_s: float) -> Report:
    values = {value.key: value.value for value in status.values}
    if age_s > _STALE_S:
        return Report(Health.STALE, f"has said nothing for {age_s:.0f} s", values)
    return Report(Health(min(status.level[0], Health.STALE)), status.message, values)


def _rates(report: Report, way: str) -> dict[str, float]:
    numbers = {key.removeprefix(way): report.number(key) for key in report.values if key.startswith(way)}
    return {topic: number for topic, number in numbers.items() if number is not None}
