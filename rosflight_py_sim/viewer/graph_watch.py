"""Observation of a running graph: rclpy's graph queries, and the nodes' reports on /diagnostics."""

from __future__ import annotations

import time
from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_TOPIC, PUBLISHED, RECEIVED, TOPIC_RATES, watch_reports
from rosflight_py_sim.viewer.graph_model import SILENT, GraphModel, Health, NodeEntry, Report, TopicEntry, graph_model

STALE_S = 5.0
"""Age (s) above which a report no longer counts: reports are sent once a second, and may be late on a busy machine."""


class GraphWatch:
    """Collects the reports of all nodes from construction on; the caller must spin the given node.

    Hidden nodes and topics (names that begin with an underscore) are left out.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._reports: dict[str, tuple[float, DiagnosticStatus]] = {}
        watch_reports(node, self._take)

    def model(self, *, plumbing: bool = False) -> GraphModel:
        """The current graph; `plumbing`: include the topics that every node has."""
        node = self._node
        names = {absolute_name(space, name) for name, space in node.get_node_names_and_namespaces()}
        shown = sorted(name for name in names if not _hidden(name))
        topics = [
            TopicEntry(topic, ", ".join(types), *self._ends(topic))
            for topic, types in node.get_topic_names_and_types()
            if not _hidden(topic)
        ]
        return graph_model([self._entry(name, shown) for name in shown], topics, plumbing=plumbing)

    def report(self, name: str) -> Report:
        """Report on a node as a whole, by its full name."""
        if (found := self._reports.get(name.lstrip("/"))) is None:
            return SILENT
        received_s, status = found
        return _report(status, time.monotonic() - received_s)

    @property
    def unreported(self) -> set[str]:
        """Full names of the nodes that publish on /diagnostics, but have not reported under their names yet."""
        reporting = self._names(self._node.get_publishers_info_by_topic(DIAGNOSTICS_TOPIC))
        return {name for name in reporting if name.lstrip("/") not in self._reports}

    def _ends(self, topic: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        node = self._node
        publishers = self._names(node.get_publishers_info_by_topic(topic))
        return publishers, self._names(node.get_subscriptions_info_by_topic(topic))

    @staticmethod
    def _names(ends: Iterable[object]) -> tuple[str, ...]:
        found = {absolute_name(end.node_namespace, end.node_name) for end in ends}  # type: ignore[attr-defined]
        return tuple(sorted(name for name in found if not _hidden(name)))

    def _take(self, status: DiagnosticStatus) -> None:
        self._reports[status.name] = time.monotonic(), status

    def _entry(self, name: str, names: list[str]) -> NodeEntry:
        """Reports of a node; other packages' reports may use the node's name without a namespace."""
        owner, alone = name.lstrip("/"), name.rsplit("/", 1)[-1]
        owners = [owner]
        if owner not in self._reports and [n.rsplit("/", 1)[-1] for n in names].count(alone) == 1:
            owners.append(alone)
        subjects: dict[str, Report] = {}
        whole, received_hz, published_hz = SILENT, dict[str, float](), dict[str, float]()
        for key, (received_s, status) in self._reports.items():
            owner_key, _, subject = key.partition(": ")
            if owner_key not in owners:
                continue
            report = _report(status, time.monotonic() - received_s)
            if not subject:
                whole = report
            elif subject == TOPIC_RATES:
                received_hz = _rates(report, RECEIVED)
                published_hz = _rates(report, PUBLISHED)
            else:
                subjects[subject] = report
        return NodeEntry(name, whole, subjects, received_hz, published_hz)


def _hidden(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("/"))


def _report(status: DiagnosticStatus, age_s: float) -> Report:
    values = {value.key: value.value for value in status.values}
    if age_s > STALE_S:
        return Report(Health.STALE, f"no report for {age_s:.0f} s", values)
    return Report(Health(min(status.level[0], Health.STALE)), status.message, values)


def _rates(report: Report, way: str) -> dict[str, float]:
    numbers = {key.removeprefix(way): report.number(key) for key in report.values if key.startswith(way)}
    return {topic: number for topic, number in numbers.items() if number is not None}
