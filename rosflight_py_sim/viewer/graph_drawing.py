"""The node graph in Graphviz's DOT language and as a Mermaid flowchart, and rendered by Graphviz as SVG.

Nodes are boxes, coloured by their health. Topics with the same publishers and subscribers share a box, which gives
their rates. Bold lines are the topics of a simulation step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from tempfile import TemporaryFile

from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.topic_names import CLOCK, FORCES_AND_MOMENTS, IMU, PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry, TopicEntry

_STEP = (CLOCK, *(f"/{name}" for name in (IMU, PWM_OUTPUT, FORCES_AND_MOMENTS, TRUTH_STATE, TRUTH_WIND)))

_HEAD = """digraph "ROS graph" {
  graph [nodesep=0.3, ranksep=0.35, outputorder=edgesfirst, bgcolor=white]
  node [fontname="DejaVu Sans,Verdana,Helvetica,sans-serif"]
  edge [color="#8b949e", arrowsize=0.7]"""

_BOLD, _FAINT = "#c2410c", "#57606a"
_COLOURS = {
    Health.OK: ("#dafbe1", "#1a7f37"),
    Health.WARN: ("#fff8c5", "#bf8700"),
    Health.ERROR: ("#ffebe9", "#cf222e"),
    Health.STALE: ("#eaeef2", "#6e40c9"),
    Health.UNKNOWN: ("#f6f8fa", "#57606a"),
}

# The text stays dark on a dark page, as the boxes stay light.
_MERMAID_CLASSES = (
    *(
        f"  classDef {health.name} fill:{fill},stroke:{border},color:#1f2328,font-weight:bold"
        for health, (fill, border) in _COLOURS.items()
    ),
    f"  classDef step fill:white,stroke:{_BOLD},color:{_BOLD},font-weight:bold",
    f"  classDef topics fill:white,stroke:{_FAINT},color:{_FAINT}",
)

_GAP = '<td width="6"></td>'

# Number of topics above which a box has two columns, and greatest number of rows.
_ONE_COLUMN, _MOST_ROWS = 6, 12


@dataclass(frozen=True)
class _Bundle:
    """Topics with the same publishers and subscribers.

    Attributes:
        publishers, subscribers: full names of nodes.
        step: whether a simulation step publishes them.
    """

    publishers: tuple[str, ...]
    subscribers: tuple[str, ...]
    step: bool
    topics: tuple[TopicEntry, ...]


def draw(model: GraphModel) -> str:
    """The graph as a self-contained SVG document.

    Raises:
        ParameterError: pygraphviz is not installed or cannot be loaded; the text names what to install.
    """
    try:
        with _filtered_stderr():
            import pygraphviz

            graph = pygraphviz.AGraph(string=dot_text(model))
            picture: str = graph.draw(format="svg", prog="dot").decode()
            graph.close()
    except ModuleNotFoundError as error:
        raise missing_extra("the drawing of the node graph", error, "graph") from error
    except ImportError as error:
        raise ParameterError(
            f"Graphviz, which draws the node graph, cannot be loaded ({error}); on Debian and Ubuntu: sudo apt-get "
            "install libglib2.0-0 libxext6 libxrender1"
        ) from error
    return picture[picture.index("<svg") :]


def dot_text(model: GraphModel) -> str:
    """The graph in DOT."""
    boxes, lines = _boxes_and_lines(model)
    drawn = [_node(box) if isinstance(box, NodeEntry) else _topics(box) for box in boxes.values()]
    return "\n".join([_HEAD, *drawn, *(_line(*line) for line in lines), "}", ""])


def mermaid_text(model: GraphModel) -> str:
    """The graph as a Mermaid flowchart, which forges render in Markdown (https://mermaid.js.org/syntax/flowchart)."""
    boxes, lines = _boxes_and_lines(model)
    names = {name: _identifier(name, box) for name, box in boxes.items()}
    drawn = [
        f'  {names[name]}("{escape(name)}"):::{box.health.name}'
        if isinstance(box, NodeEntry)
        else f'  {names[name]}["{_mermaid_topics(box)}"]:::{"step" if box.step else "topics"}'
        for name, box in boxes.items()
    ]
    drawn += [f"  {names[start]} {'==>' if bold else '-->'} {names[end]}" for bold, start, end in lines]
    return "\n".join(["flowchart TB", *drawn, *_MERMAID_CLASSES, ""])


def _identifier(name: str, box: NodeEntry | _Bundle) -> str:
    """Identifier without slashes, different for every node and topic."""
    kind = "node" if isinstance(box, NodeEntry) else "topic"
    return kind + name.replace("_", "__").replace("/", "_")


def _mermaid_topics(bundle: _Bundle) -> str:
    # Lines break before the rate, not within it.
    return "<br>".join(f"{escape(name)} {rate.replace(' ', '&nbsp;')}".rstrip() for name, rate in _entries(bundle))


def _boxes_and_lines(model: GraphModel) -> tuple[dict[str, NodeEntry | _Bundle], list[tuple[bool, str, str]]]:
    """Boxes by name, in the order in which they are drawn, and lines: bold or not, start, end."""
    bundles = _bundles(model)
    in_step = {name for bundle in bundles if bundle.step for name in bundle.publishers}
    boxes: dict[str, NodeEntry | _Bundle] = {node.name: node for node in model.nodes}
    lines: list[tuple[bool, str, str]] = []
    for bundle in bundles:
        own = bundle.topics[0].name
        boxes[own] = bundle
        lines += [(bundle.step, name, own) for name in bundle.publishers]
        lines += [(bundle.step and name in in_step, own, name) for name in bundle.subscribers]
    lines.sort(key=lambda line: not line[0])
    order = _depth_first([*(start for _, start, end in lines if end == CLOCK), *boxes], lines)
    return {name: boxes[name] for name in order}, lines


def _depth_first(starts: Iterable[str], lines: Sequence[tuple[bool, str, str]]) -> list[str]:
    """All boxes in the order of a depth-first search; Graphviz draws boxes from top to bottom in this order."""
    ends: dict[str, list[str]] = {}
    for _, start, end in lines:
        ends.setdefault(start, []).append(end)
    order: dict[str, None] = {}
    waiting = list(starts)[::-1]
    while waiting:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += reversed(ends.get(name, []))
    return list(order)


def _bundles(model: GraphModel) -> list[_Bundle]:
    known = {node.name for node in model.nodes}
    found: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[TopicEntry]] = {}
    for topic in model.topics:
        # A topic may have an end point that was not listed yet when the nodes were listed.
        ends = tuple(sorted(known & set(topic.publishers))), tuple(sorted(known & set(topic.subscribers)))
        if any(ends):
            found.setdefault((*ends, topic.name.endswith(_STEP)), []).append(topic)
    return [_Bundle(*key, tuple(topics)) for key, topics in found.items()]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _node(node: NodeEntry) -> str:
    fill, border = _COLOURS[node.health]
    tooltip = f"{node.name}: {node.message}" if node.message else node.name
    return (
        f'  {_quoted(node.name)} [shape=box, style="rounded,filled", penwidth=1.6, fillcolor="{fill}", '
        f'color="{border}", label=<<b>{escape(node.name)}</b>>, tooltip={_quoted(tooltip)}]'
    )


def _topics(bundle: _Bundle) -> str:
    colour, width = (_BOLD, 1.2) if bundle.step else (_FAINT, 0.7)
    tooltip = "\n".join(f"{topic.name} ({topic.type_name})" for topic in bundle.topics)
    rows = "".join(f"<tr>{_GAP.join(row)}</tr>" for row in _rows(bundle, colour))
    return (
        f'  {_quoted(bundle.topics[0].name)} [shape=box, style="rounded,filled", fillcolor=white, penwidth={width}, '
        f'color="{colour}", margin=0.06, fontsize=11, tooltip={_quoted(tooltip)}, '
        f'label=<<table border="0" cellspacing="0" cellpadding="1">{rows}</table>>]'
    )


def _rows(bundle: _Bundle, colour: str) -> Iterator[list[str]]:
    cells = [_cells(name, rate, bundle.step, colour) for name, rate in _entries(bundle)]
    if len(cells) <= _ONE_COLUMN:
        yield from ([cell] for cell in cells)
        return
    half = (len(cells) + 1) // 2
    for row in range(half):
        yield cells[row::half]


def _entries(bundle: _Bundle) -> list[tuple[str, str]]:
    """Name and rate of each topic of a box; if there are too many, the last entry counts those left out."""
    entries = [(topic.name, _rate_text(topic)) for topic in bundle.topics]
    if len(entries) <= 2 * _MOST_ROWS:
        return entries
    shown = entries[: 2 * _MOST_ROWS - 1]
    return [*shown, (f"and {len(entries) - len(shown)} more", "")]


def _cells(name: str, rate: str, bold: bool, colour: str) -> str:
    text = f"<b>{escape(name)}</b>" if bold else escape(name)
    number = f'<font color="{_FAINT}" point-size="9.5">{rate}</font>' if rate else ""
    return f'<td align="left"><font color="{colour}">{text}</font></td><td align="right">{number}</td>'


def _rate_text(topic: TopicEntry) -> str:
    if topic.rate_hz is None or topic.rate_hz == 0.0:
        return ""
    return f"{topic.rate_hz:.0f} Hz" if topic.rate_hz >= 10.0 else f"{topic.rate_hz:.2g} Hz"


def _line(bold: bool, start: str, end: str) -> str:
    attributes = f' [color="{_BOLD}", penwidth=2.4, arrowsize=0.9, weight=4]' if bold else ""
    return f"  {_quoted(start)} -> {_quoted(end)}{attributes}"


@contextmanager
def _filtered_stderr() -> Iterator[None]:
    """Leave fontconfig's warnings out of stderr.

    The fontconfig in pygraphviz's wheels is older than that of many systems and warns of each element in
    /usr/share/fontconfig that it does not know.
    """
    with TemporaryFile() as lines, os.fdopen(os.dup(2), "wb") as stderr:
        os.dup2(lines.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr.fileno(), 2)
            lines.seek(0)
            stderr.writelines(line for line in lines if not line.startswith(b"Fontconfig warning"))
