"""Model of a node graph: nodes with their reports, topics with their end points and rates.

Independent of ROS: `graph_watch.py` collects the data and `graph_drawing.py` draws the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any

PLUMBING = ("/diagnostics", "/parameter_events", "/rosout")
"""Topics of every node, which would clutter the drawing."""


class Health(IntEnum):
    """Health of a node; UNKNOWN if it does not report."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3
    UNKNOWN = -1


@dataclass(frozen=True)
class Report:
    """Last report of a node.

    Attributes:
        health: reported level; STALE if the report is old.
        message: summary text.
        values: further values, by name.
    """

    health: Health
    message: str
    values: Mapping[str, str] = field(default_factory=dict)

    def number(self, key: str) -> float | None:
        """A value as a number; None if there is no such value."""
        try:
            return float(self.values[key])
        except (KeyError, ValueError):
            return None


SILENT = Report(Health.UNKNOWN, "")
"""Report of a node that does not publish diagnostics."""


@dataclass(frozen=True)
class NodeEntry:
    """A node of the graph.

    Attributes:
        name: full name, with the leading slash.
        report: report on the node as a whole.
        subjects: reports on parts of the node, by name.
        received_hz, published_hz: reported rates by topic, per second of the node's time.
    """

    name: str
    report: Report = SILENT
    subjects: Mapping[str, Report] = field(default_factory=dict)
    received_hz: Mapping[str, float] = field(default_factory=dict)
    published_hz: Mapping[str, float] = field(default_factory=dict)

    @property
    def health(self) -> Health:
        """Worst level of the node and its parts."""
        return max([self.report.health, *(one.health for one in self.subjects.values())])

    @property
    def message(self) -> str:
        """Summary of the node, and of its parts that are not well."""
        amiss = [f"{name}: {one.message}" for name, one in self.subjects.items() if one.health > Health.OK]
        return "; ".join(filter(None, [self.report.message, *amiss]))


@dataclass(frozen=True)
class TopicEntry:
    """A topic.

    Attributes:
        name: full name.
        type_name: such as `std_msgs/msg/String`; several, separated by commas, if the end points disagree.
        publishers, subscribers: full names of nodes, sorted.
        rate_hz: messages per second of the publisher's time; None if not reported.
    """

    name: str
    type_name: str
    publishers: tuple[str, ...]
    subscribers: tuple[str, ...]
    rate_hz: float | None = None


@dataclass(frozen=True)
class GraphModel:
    """Nodes and topics, each sorted by name."""

    nodes: tuple[NodeEntry, ...]
    topics: tuple[TopicEntry, ...]

    @property
    def well(self) -> bool:
        """Whether no node reports a problem."""
        return all(node.health <= Health.OK for node in self.nodes)

    def as_data(self) -> dict[str, Any]:
        """The model as data for JSON."""
        nodes = [
            asdict(node)
            | {"health": node.health.name, "message": node.message, "report": _report_data(node.report)}
            | {"subjects": {name: _report_data(report) for name, report in node.subjects.items()}}
            for node in self.nodes
        ]
        return {"well": self.well, "nodes": nodes, "topics": [asdict(topic) for topic in self.topics]}


def _report_data(report: Report) -> dict[str, Any]:
    return {"health": report.health.name, "message": report.message, "values": dict(report.values)}


def graph_model(nodes: Iterable[NodeEntry], topics: Iterable[TopicEntry], *, plumbing: bool = False) -> GraphModel:
    """Model of the graph, with reported topic rates; PLUMBING topics are left out unless requested."""
    by_name = {node.name: node for node in nodes}
    shown = [topic for topic in topics if plumbing or topic.name not in PLUMBING]
    rated = [
        TopicEntry(t.name, t.type_name, t.publishers, t.subscribers, _rate(t, by_name))
        for t in sorted(shown, key=lambda topic: topic.name)
    ]
    return GraphModel(tuple(by_name[name] for name in sorted(by_name)), tuple(rated))


def _rate(topic: TopicEntry, nodes: Mapping[str, NodeEntry]) -> float | None:
    """Rate that the publishers report, or, if one does not, the highest that a subscriber reports."""
    published_hz = [nodes[name].published_hz.get(topic.name) if name in nodes else None for name in topic.publishers]
    reported_hz = [rate for rate in published_hz if rate is not None]
    if published_hz and len(reported_hz) == len(published_hz):
        return sum(reported_hz)
    received_hz = [nodes[name].received_hz.get(topic.name) for name in topic.subscribers if name in nodes]
    return max((rate for rate in received_hz if rate is not None), default=None)
