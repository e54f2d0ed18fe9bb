"""Draws docs/pictures/node_graph.png and writes docs/node_graph.md from the running graph.

Run from the project's folder: `.venv/bin/python tools/draw_node_graph.py`. Which topics there are, of which type, who
publishes and who hears them, and how often, is asked of the live graph; only the places of boxes and arrows are written
down here. A test compares both files with what the graph says.
"""

from __future__ import annotations

import json
import os
import random
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from rclpy.node import Node
from rclpy.qos import QoSProfile

from rosflight_py_sim.composition import ComposedGraph
from rosflight_py_sim.fleet import Member
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.vehicles import vehicle

DOCS = Path(__file__).parents[1] / "docs"
PICTURE = DOCS / "pictures" / "node_graph.png"
PAGE = DOCS / "node_graph.md"

OTHERS = "your programs"
"""Box for what nobody in the graph publishes, or hears."""

# What every node has, and the node that holds the clock of the composed graph.
_PLUMBING = ("/diagnostics", "/parameter_events", "/rosout")
_HOST = "rosflight_py_sim"

# Simulated time after which the graph is complete, and over which messages are counted.
_SETTLED_S, _COUNTED_S = 1.0, 4.0


@dataclass(frozen=True)
class Topic:
    """A topic of the live graph; `rate_hz` is 0 for one that speaks only on change."""

    name: str
    type_name: str
    publishers: tuple[str, ...]
    listeners: tuple[str, ...]
    rate_hz: int


def live_topics() -> list[Topic]:
    """Topics of the composed graph with the autopilot, in lockstep, as fast as the machine allows."""
    members = [Member(vehicle("multirotor"))]
    graph = ComposedGraph(members, settings={"real_time_multiplier": 0.0}, executables=["autopilot"])
    try:
        listener = Node("graph_listener")
        graph.adopt(listener)
        graph.executor.add_node(listener)
        clock = listener.get_clock()
        graph.spin(lambda: clock.now().nanoseconds < _SETTLED_S * NANOSECONDS)
        topics = {n: t[0] for n, t in listener.get_topic_names_and_types() if n not in _PLUMBING}
        by_host = {n.get_name() for n in graph.nodes if isinstance(n, SimulationNode) and not n.follows_stamps}
        ends = {name: _ends(listener, name, by_host) for name in topics}
        counts: Counter[str] = Counter()
        for name, type_name in topics.items():
            _count(listener, name, type_name, counts)
        end_ns = clock.now().nanoseconds + _COUNTED_S * NANOSECONDS
        graph.spin(lambda: clock.now().nanoseconds < end_ns)
    finally:
        graph.close()
    # Two messages in four seconds are the latched one and a chance: no rate.
    rates = {name: round(counts[name] / _COUNTED_S) if counts[name] > 2 else 0 for name in topics}
    return [Topic(name, topics[name], *ends[name], rates[name]) for name in sorted(topics)]


def _ends(listener: Node, topic: str, by_host: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the nodes at both ends; the host's clock stands for the nodes that it serves."""
    publishers = {info.node_name for info in listener.get_publishers_info_by_topic(topic)}
    listeners = {info.node_name for info in listener.get_subscriptions_info_by_topic(topic)} - {"graph_listener"}
    if _HOST in listeners:
        listeners = (listeners - {_HOST}) | by_host
    return tuple(sorted(publishers)), tuple(sorted(listeners))


def _count(listener: Node, topic: str, type_name: str, counts: Counter[str]) -> None:
    package, _, name = type_name.split("/")
    message_type = getattr(import_module(f"{package}.msg"), name)

    def heard(_: bytes) -> None:
        counts[topic] += 1

    listener.create_subscription(message_type, topic, heard, QoSProfile(depth=1000), raw=True)


def page(topics: list[Topic]) -> str:
    """Text of docs/node_graph.md."""
    lines = [
        "# The node graph",
        "",
        "Written by `tools/draw_node_graph.py` from the running graph: all nodes of the multirotor with the autopilot,",
        "in lockstep at 400 steps a second. Rates are per simulated second. Not shown is what every node has:",
        "`/diagnostics`, `/parameter_events` and `/rosout`.",
        "",
        "![The node graph](pictures/node_graph.png)",
        "",
        "| topic | type | from | to | rate |",
        "|---|---|---|---|---|",
    ]
    for topic in topics:
        name = topic.name if topic.name == "/clock" else topic.name[1:]
        ends = (", ".join(topic.publishers) or OTHERS, ", ".join(topic.listeners) or OTHERS)
        rate = f"{topic.rate_hz} Hz" if topic.rate_hz else ("on change" if topic.publishers else "")
        lines.append(f"| `{name}` | {topic.type_name.replace('/msg/', '/')} | {ends[0]} | {ends[1]} | {rate} |")
    return "\n".join(lines) + "\n"


def edges(topics: list[Topic]) -> list[list[str]]:
    """All [topic, from, to]."""
    return [
        [topic.name, publisher, listener]
        for topic in topics
        for publisher in topic.publishers or (OTHERS,)
        for listener in topic.listeners or (OTHERS,)
    ]


# What a step of the simulation consists of: drawn bold between the nodes that answer it.
STEP_TOPICS = {
    "/clock",
    "/sim/sensors/imu/data",
    "/sim/pwm_output",
    "/sim/forces_and_moments",
    "/sim/truth_state",
    "/sim/truth_wind",
}
STEP_NODES = {"time_manager", "sensors", "sil_board", "forces_and_moments", "dynamics"}

_BOLD, _THIN = "#c2410c", "#57606a"
_HALF_WIDTH, _HALF_HEIGHT = 1.35, 0.5

# Centre of each box.
PLACES = {
    "time_manager": (1.7, 6.3),
    "sensors": (6.6, 6.3),
    "sil_board": (13.0, 6.3),
    "forces_and_moments": (13.0, 1.0),
    "dynamics": (2.9, 1.0),
    "rc": (6.6, 8.5),
    "autopilot": (9.4, 3.0),
    OTHERS: (17.5, 3.0),
}

_Point = tuple[float, float]

# From, to, bold: the corners of the arrow, and the middle of its label.
ROUTES: dict[tuple[str, str, bool], tuple[list[_Point], _Point]] = {
    ("time_manager", "sensors", True): ([(3.05, 6.5), (5.25, 6.5)], (4.0, 6.5)),
    ("time_manager", "rc", False): ([(1.7, 6.8), (1.7, 8.5), (5.25, 8.5)], (3.4, 8.5)),
    ("time_manager", "autopilot", False): ([(3.05, 6.05), (4.7, 6.05), (4.7, 3.2), (8.05, 3.2)], (4.7, 4.6)),
    ("time_manager", "dynamics", False): ([(0.65, 5.8), (0.65, 1.0), (1.55, 1.0)], (0.8, 3.0)),
    ("dynamics", "time_manager", False): ([(1.7, 1.5), (1.7, 5.8)], (1.7, 2.1)),
    ("dynamics", "time_manager", True): ([(2.85, 1.5), (2.85, 5.8)], (2.85, 4.0)),
    ("dynamics", "sensors", True): ([(3.8, 1.5), (3.8, 2.3), (6.1, 2.3), (6.1, 5.8)], (6.1, 4.4)),
    ("dynamics", "forces_and_moments", True): ([(4.25, 0.6), (11.65, 0.6)], (7.4, 0.6)),
    ("dynamics", "autopilot", False): ([(4.25, 1.4), (9.4, 1.4), (9.4, 2.5)], (6.3, 1.4)),
    ("forces_and_moments", "dynamics", True): ([(11.65, 1.0), (4.25, 1.0)], (9.6, 1.0)),
    ("forces_and_moments", "sensors", False): ([(12.0, 1.5), (12.0, 2.0), (7.4, 2.0), (7.4, 5.8)], (10.8, 2.0)),
    ("sensors", "sil_board", True): ([(7.95, 6.55), (11.65, 6.55)], (9.7, 6.55)),
    ("sensors", "sil_board", False): ([(7.95, 6.0), (11.65, 6.0)], (9.7, 5.45)),
    ("sensors", OTHERS, False): ([(7.4, 6.8), (7.4, 7.5), (18.6, 7.5), (18.6, 3.5)], (10.3, 7.5)),
    ("sil_board", "forces_and_moments", True): ([(12.9, 5.8), (12.9, 1.5)], (12.9, 4.3)),
    ("sil_board", "forces_and_moments", False): ([(14.0, 5.8), (14.0, 1.5)], (14.15, 2.1)),
    ("sil_board", OTHERS, False): ([(14.35, 6.5), (18.0, 6.5), (18.0, 3.5)], (16.45, 5.3)),
    ("rc", "sil_board", False): ([(7.95, 8.5), (13.0, 8.5), (13.0, 6.8)], (10.3, 8.5)),
    ("autopilot", "sil_board", False): ([(10.75, 3.2), (11.8, 3.2), (11.8, 5.8)], (11.8, 4.9)),
    ("autopilot", OTHERS, False): ([(10.75, 2.8), (16.15, 2.8)], (15.0, 2.65)),
    (OTHERS, "time_manager", False): (
        [(17.5, 2.5), (17.5, 0.15), (-0.2, 0.15), (-0.2, 6.3), (0.35, 6.3)],
        (14.6, 0.15),
    ),
    (OTHERS, "sil_board", False): ([(16.15, 3.25), (14.75, 3.25), (14.75, 6.1), (14.35, 6.1)], (15.65, 3.8)),
}

# A label's width in letters, beyond which names follow one another in lines of this width.
_LABEL_WIDTH = 26


def draw(topics: list[Topic]) -> None:
    """Draw the picture, with its list of edges in the file's metadata."""
    all_edges = edges(topics)
    figure, axes = plt.subplots(figsize=(13.6, 7.2), dpi=110)
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-0.4, 19.1)
    axes.set_ylim(-0.1, 9.9)
    axes.axis("off")
    for (source, target, bold), names in _groups(all_edges):
        _arrow(axes, source, target, bold, names)
    for name, place in PLACES.items():
        _box(axes, name, place)
    axes.plot([0.4, 1.1], [9.5, 9.5], color=_BOLD, lw=2.6)
    axes.text(1.25, 9.5, "one step of the simulation: each message answers the one before", va="center", fontsize=10)
    axes.plot([0.4, 1.1], [9.1, 9.1], color=_THIN, lw=1.0)
    axes.text(1.25, 9.1, "all else", va="center", fontsize=10)
    figure.savefig(PICTURE, metadata={"Software": None, "Edges": json.dumps(all_edges)})
    plt.close(figure)


def _groups(all_edges: list[list[str]]) -> Iterator[tuple[tuple[str, str, bool], list[str]]]:
    """Topics by arrow."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for topic, source, target in all_edges:
        bold = topic in STEP_TOPICS and {source, target} <= STEP_NODES
        found.setdefault((source, target, bold), []).append(topic)
    yield from found.items()


def _arrow(axes: Axes, source: str, target: str, bold: bool, names: list[str]) -> None:
    if (source, target, bold) not in ROUTES:
        raise KeyError(f"ROUTES has no way for {names} from {source} to {target}")
    corners, (x, y) = ROUTES[source, target, bold]
    colour, width = (_BOLD, 2.6) if bold else (_THIN, 1.0)
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs[:-1], ys[:-1], color=colour, lw=width, solid_joinstyle="round", zorder=1)
    style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16}
    axes.annotate("", xy=corners[-1], xytext=corners[-2], arrowprops=style, zorder=1)
    axes.text(
        x,
        y,
        _label(names),
        ha="center",
        va="center",
        fontsize=9.5 if bold else 8.5,
        weight="bold" if bold else "normal",
        color=colour,
        linespacing=1.25,
        zorder=2,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _label(names: list[str]) -> str:
    """Names one below the other; more than three in lines, with what they begin with said once."""
    shown = [name if name == "/clock" else name[1:] for name in names]
    if len(shown) <= 3:
        return "\n".join(shown)
    prefix = "sim/sensors/"
    if not all(name.startswith(prefix) for name in shown):
        return textwrap.fill(", ".join(shown), _LABEL_WIDTH, break_on_hyphens=False)
    listed = textwrap.fill(", ".join(name.removeprefix(prefix) for name in shown), _LABEL_WIDTH, break_on_hyphens=False)
    return f"{prefix} ...\n{listed}"


def _box(axes: Axes, name: str, place: tuple[float, float]) -> None:
    x, y = place
    ours = name != OTHERS
    colour = "#fff1e6" if name in STEP_NODES else "#f3f4f6"
    patch = FancyBboxPatch(
        (x - _HALF_WIDTH, y - _HALF_HEIGHT),
        2 * _HALF_WIDTH,
        2 * _HALF_HEIGHT,
        boxstyle="round,pad=0.0,rounding_size=0.14",
        facecolor=colour if ours else "white",
        edgecolor=_BOLD if name in STEP_NODES else _THIN,
        linestyle="solid" if ours else "dashed",
        lw=1.6,
        zorder=3,
    )
    axes.add_patch(patch)
    axes.text(x, y, name, ha="center", va="center", fontsize=10.5, weight="bold" if ours else "normal", zorder=4)


def main() -> None:
    """Ask the graph, in a domain of its own, and write both files."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 101))
    topics = live_topics()
    PAGE.write_text(page(topics), encoding="utf-8")
    draw(topics)


if __name__ == "__main__":
    main()
