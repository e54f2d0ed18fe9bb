"""Draw docs/pictures/node_graph.svg and write docs/node_graph.md from a running graph.

Run from the project's folder: `.venv/bin/python tools/draw_node_graph.py`. Topics, their types, publishers, subscribers
and rates are queried from the running graph. A test compares both files with the graph. The table of the step's topics
comes from `step/topics.py`, and the nodes at both ends of each topic from their ports.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.ground.shared_parameters import TIME_MODES
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step import qos, topics
from rosflight_py_sim.step.topic_ends import nodes_at
from rosflight_py_sim.step.topics import CLOCK, STEP_TOPICS, StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.graph_drawing import draw, mermaid_text
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry, Report, TopicEntry
from rosflight_py_sim.viewer.graph_watch import GraphWatch

DOCS = Path(__file__).parents[1] / "docs"
PICTURE = DOCS / "pictures" / "node_graph.svg"

OTHERS = "your programs"
"""Entry for topics without a publisher or a subscriber in the graph."""

PAGE = DOCS / "node_graph.md"

_WELL = Report(Health.OK, "")

# Simulated time after which a graph is complete, and over which messages are counted.
_SETTLED_S, _COUNTED_S = 1.0, 4.0


def live_graph() -> GraphModel:
    """The composed graph with the autopilot, in lockstep, as fast as the machine allows; rates are whole numbers."""
    members = [Member(vehicle("multirotor"), executables=("autopilot",))]
    graph = ComposedGraph(members, settings={"real_time_multiplier": 0.0})
    try:
        listener = Node("_graph_listener")
        graph.include(listener)
        clock = listener.get_clock()
        graph.spin(lambda: clock.now().nanoseconds < _SETTLED_S * NANOSECONDS)
        model = GraphWatch(listener).model()
        foreign = {node.name for node in model.nodes} - {node.get_fully_qualified_name() for node in graph.nodes}
        if foreign:
            sys.exit(f"other nodes in ROS domain {os.environ['ROS_DOMAIN_ID']}: {foreign}; run this again")
        counts: Counter[str] = Counter()
        for topic in model.topics:
            _count(listener, topic, counts)
        # The first period only lets subscriptions and publishers match.
        for seconds in (_SETTLED_S, _COUNTED_S):
            counts.clear()
            end_ns = clock.now().nanoseconds + seconds * NANOSECONDS
            graph.spin(lambda until_ns=end_ns: clock.now().nanoseconds < until_ns)
    finally:
        graph.close()
    # Two messages in four seconds do not make a rate.
    rates = {name: float(round(count / _COUNTED_S)) for name, count in counts.items() if count > 2}
    topics = [TopicEntry(t.name, t.type_name, t.publishers, t.subscribers, rates.get(t.name)) for t in model.topics]
    return GraphModel(tuple(NodeEntry(n.name, _WELL) for n in model.nodes), tuple(topics))


def _count(listener: Node, topic: TopicEntry, counts: Counter[str]) -> None:
    package, _, name = topic.type_name.split("/")
    message_type = getattr(import_module(f"{package}.msg"), name)

    def count_message(_: bytes) -> None:
        counts[topic.name] += 1

    listener.create_subscription(message_type, topic.name, count_message, QoSProfile(depth=1000), raw=True)


def page(model: GraphModel) -> str:
    """Text of docs/node_graph.md."""
    lines = [
        "# The node graph",
        "",
        "Written by `tools/draw_node_graph.py` from the running graph: all nodes of the multirotor with the autopilot,",
        "in lockstep at 400 steps per second. Rates are per simulated second. The topics of every node are left out:",
        "`/diagnostics`, `/parameter_events` and `/rosout`. The drawing has the topics of the step in bold.",
        "[`rosflight_py_sim status --svg FILE`](status.md) draws the running graph. The graph is also",
        "[a Mermaid flowchart](#as-a-mermaid-flowchart).",
        "",
        "![The node graph](pictures/node_graph.svg)",
        "",
        "| topic | type | from | to | rate |",
        "|---|---|---|---|---|",
    ]
    for topic in model.topics:
        name = topic.name if topic.name == CLOCK.name else topic.name[1:]
        ends = (_names(topic.publishers), _names(topic.subscribers))
        rate = f"{topic.rate_hz:.0f} Hz" if topic.rate_hz else ("on change" if topic.publishers else "")
        lines.append(f"| `{name}` | {topic.type_name.replace('/msg/', '/')} | {ends[0]} | {ends[1]} | {rate} |")
    lines += ["", *_step_lines(), "", *_mermaid_lines(model)]
    return "\n".join(lines) + "\n"


def _mermaid_lines(model: GraphModel) -> list[str]:
    return [
        "## As a Mermaid flowchart",
        "",
        "[`rosflight_py_sim status --mermaid FILE`](status.md) writes the running graph in this form, which GitHub and",
        "GitLab draw. Thick lines are the topics of the step.",
        "",
        "```mermaid",
        *mermaid_text(model).splitlines(),
        "```",
    ]


def _step_lines() -> list[str]:
    """Rows of `STEP_TOPICS`, and their messages."""
    lines = [
        "## The topics of the step",
        "",
        "`step/topics.py` declares each topic of the step once, as a row; [parts](nodes.md#parts) name rows as ports.",
        "The table names the nodes of this package that have such a port, with any vehicle, flight controller and time",
        "mode; `recorder`, which records all topics, is left out.",
        "",
        "Publishers offer the QoS given, and subscriptions request the same unless another is given. `CHAIN` is",
        "reliable and volatile, `LATCHED` reliable and transient local, `NEWEST` best effort and volatile; they keep",
        "one message. `LATCHED_QUEUE` is `LATCHED` with ten. The autopilot, the camera and the time managers of",
        "`paced` and `gated` always request `CHAIN`, and `poll` always requests `NEWEST`.",
        "",
        "| row | topic | type | frame_id | message in Python | QoS | from | to |",
        "|---|---|---|---|---|---|---|---|",
    ]
    classes = [node_class(name) for name in NODE_CLASSES]
    names = {id(row): name for name, row in vars(topics).items() if isinstance(row, StepTopic)}
    for row in STEP_TOPICS:
        kind = f"{row.message_type.__module__.split('.')[0]}/{row.message_type.__name__}"
        frame = f"`{row.frame_id}`" if row.frame_id else ""
        ends = (", ".join(end) or OTHERS for end in nodes_at(row, classes))
        cells = (f"`{names[id(row)]}`", f"`{row.name}`", kind, frame, f"`{row.carried.__name__}`", _qos(row), *ends)
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "Messages in Python that are not the ROS message itself; `time_ns` is the stamp, in ns:", ""]
    lines += ["| class | fields | contents |", "|---|---|---|"]
    for carried, fields in {row.carried: row.fields for row in STEP_TOPICS if row.fields}.items():
        names_of_fields = ", ".join(f"`{field}`" for field in fields)
        lines.append(f"| `{carried.__name__}` | {names_of_fields} | {_contents(carried)} |")
    return lines


def _qos(row: StepTopic[Any]) -> str:
    """Names of the offered and requested profiles."""
    profiles = [(name, value) for name, value in vars(qos).items() if isinstance(value, QoSProfile)]

    def name_of(profile: QoSProfile) -> str:
        return next(f"`{name}`" for name, value in profiles if value == profile)

    offered, lockstep = name_of(row.qos), name_of(row.requested_qos("lockstep"))
    (other,) = {name_of(row.requested_qos(mode)) for mode in TIME_MODES if mode != "lockstep"}
    if lockstep != offered:
        return f"{offered}; {lockstep} is requested in lockstep, {other} otherwise"
    return offered if other == offered else f"{offered}; {other} is requested outside of lockstep"


def _contents(carried: type) -> str:
    """Contents of a message's fields, with units."""
    if carried is int:
        return "Simulated time, ns."
    if carried is VehicleState:
        return " ".join(str(getattr(VehicleState, field).__doc__) for field in VehicleState.FIELDS[1:])
    return str(carried.__doc__)


def _names(nodes: tuple[str, ...]) -> str:
    return ", ".join(name[1:] for name in nodes) or OTHERS


def picture(model: GraphModel) -> str:
    """Text of docs/pictures/node_graph.svg."""
    return draw(model)


def main() -> None:
    """Run the graph in a separate ROS domain, and write both files."""
    stay_on_this_machine()
    os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 101))
    model = live_graph()
    PAGE.write_text(page(model), encoding="utf-8")
    PICTURE.write_text(picture(model), encoding="utf-8")


if __name__ == "__main__":
    main()
