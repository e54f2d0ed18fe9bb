"""The node graph as it is now, as data: nodes with what they say of themselves, topics with their ends and rates.

It knows no ROS: `graph_watch.py` asks for all of this and `graph_drawing.py` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any

PLUMBING = ("/diagnostics", "/parameter_events", "/rosout")
"""Topics that every node has, which would hide the others."""


class Health(IntEnum):
    """How a node is; those that say nothing of themselves are UNKNOWN."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3
    UNKNOWN = -1


@dataclass(frozen=True)
class Report:
    """What a node said last.

    Attributes:
        health: how it is; STALE: it has said nothing for a while.
        message: the same in words.
        values: what else it says, by name.
    """

    health: Health
    message: str
    values: Mapping[str, str] = field(default_factory=dict)

    def number(self, key: str) -> float | None:
        """A value as a number; None: there is none of that name."""
        try:
            return float(self.values[key])
        except (KeyError, ValueError):
            return None


SILENT = Report(Health.UNKNOWN, "")
"""Of a node that does not report."""


@dataclass(frozen=True)
class NodeEntry:
    """A node of the graph.

    Attributes:
        name: with its namespace, from the first slash on.
        report: what it says as a whole.
        subjects: what it says of parts of it, by name.
        heard, said: rates that it tells by topic, Hz of its own time.
    """

    name: str
    report: Report = SILENT
    subjects: Mapping[str, Report] = field(default_factory=dict)
    heard: Mapping[str, float] = field(default_factory=dict)
    said: Mapping[str, float] = field(default_factory=dict)

    @property
    def health(self) -> Health:
        """The worst that it says of itself or of a part."""
        return max([self.report.health, *(one.health for one in self.subjects.values())])

    @property
    def message(self) -> str:
        """What there is to know at a glance: of the node, and of parts that are not well."""
        amiss = [f"{name}: {one.message}" for name, one in self.subjects.items() if one.health > Health.OK]
        return "; ".join(filter(None, [self.report.message, *amiss]))


@dataclass(frozen=True)
class TopicEntry:
    """A topic of the graph.

    Attributes:
        name: full.
        type_name: as `std_msgs/msg/String`; several, where its ends do not agree, with commas.
        publishers, listeners: full names of nodes, sorted.
        rate_hz: messages per second of the publisher's time; None: nobody tells.
    """

    name: str
    type_name: str
    publishers: tuple[str, ...]
    listeners: tuple[str, ...]
    rate_hz: float | None = None


@dataclass(frozen=True)
class GraphModel:
    """Nodes and topics, each sorted by name."""

    nodes: tuple[NodeEntry, ...]
    topics: tuple[TopicEntry, ...]

    @property
    def well(self) -> bool:
        """Whether no node says that something is amiss."""
        return all(node.health <= Health.OK for node in self.nodes)

    def as_data(self) -> dict[str, Any]:
        """All of it as what JSON can hold."""
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
    """The graph, its topics with the rates that nodes tell, and without the plumbing unless it is asked for."""
    by_name = {node.name: node for node in nodes}
    shown = [topic for topic in topics if plumbing or topic.name not in PLUMBING]
    rated = [
        TopicEntry(t.name, t.type_name, t.publishers, t.listeners, _rate(t, by_name))
        for t in sorted(shown, key=lambda topic: topic.name)
    ]
    return GraphModel(tuple(by_name[name] for name in sorted(by_name)), tuple(rated))


def _rate(topic: TopicEntry, nodes: Mapping[str, NodeEntry]) -> float | None:
    """What its publishers tell; if one of them does not, what a listener hears."""
    said = [nodes[name].said.get(topic.name) if name in nodes else None for name in topic.publishers]
    told = [rate for rate in said if rate is not None]
    if said and len(told) == len(said):
        return sum(told)
    heard = [
        nodes[name].heard[topic.name] for name in topic.listeners if name in nodes and topic.name in nodes[name].heard
    ]
    return max(heard, default=None)
