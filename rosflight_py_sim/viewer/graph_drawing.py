"""Draws the node graph as SVG, which stands alone: no script, no font and nothing else from outside.

Nodes are boxes, coloured by what they say of themselves. Topics with the same ends share a box between them, with their
rates. Bold is what a step of the simulation goes through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from rosflight_py_sim.topic_names import CLOCK, FORCES_AND_MOMENTS, IMU, PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.viewer.graph_layout import Point, layout
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry, TopicEntry

_STEP = (CLOCK, *(f"/{name}" for name in (IMU, PWM_OUTPUT, FORCES_AND_MOMENTS, TRUTH_STATE, TRUTH_WIND)))

_MARGIN, _PADDING = 16.0, 9.0
_NODE_HEIGHT, _LINE_HEIGHT = 40.0, 15.0
# Mean width of a letter of the fonts below, px per px of their size; wider than most, so that nothing sticks out.
_LETTER, _BOLD_LETTER = 0.61, 0.69
_NAME_SIZE, _TOPIC_SIZE = 14.0, 11.5

_BOLD, _THIN, _INK, _FAINT = "#c2410c", "#8b949e", "#1f2328", "#57606a"
_COLOURS = {
    Health.OK: ("#dafbe1", "#1a7f37"),
    Health.WARN: ("#fff8c5", "#bf8700"),
    Health.ERROR: ("#ffebe9", "#cf222e"),
    Health.STALE: ("#eaeef2", "#6e40c9"),
    Health.UNKNOWN: ("#f6f8fa", "#57606a"),
}

# More topics of the same ends than this stand in two columns, and in no more lines than these.
_ONE_COLUMN, _MOST_LINES = 6, 12


@dataclass(frozen=True)
class _Bundle:
    """Topics with the same ends.

    Attributes:
        publishers, listeners: numbers of nodes.
        step: whether a step of the simulation goes through them.
    """

    publishers: tuple[str, ...]
    listeners: tuple[str, ...]
    step: bool
    topics: tuple[TopicEntry, ...]


def draw(model: GraphModel) -> str:
    """The SVG document."""
    bundles, nodes = _bundles(model), model.nodes
    number = {node.name: i for i, node in enumerate(nodes)}
    sizes = [(len(node.name) * _NAME_SIZE * _BOLD_LETTER + 2 * _PADDING, _NODE_HEIGHT) for node in nodes]
    arrows: list[tuple[bool, tuple[int, int]]] = []
    steps = {name for bundle in bundles if bundle.step for name in bundle.publishers}
    for i, bundle in enumerate(bundles, start=len(nodes)):
        sizes.append(_bundle_size(bundle))
        for name in bundle.publishers:
            arrows.append((bundle.step, (number[name], i)))
        for name in bundle.listeners:
            arrows.append((bundle.step and name in steps, (i, number[name])))
    # A step's come first: what they lead to comes below.
    arrows.sort(key=lambda arrow: not arrow[0])
    first = [number[name] for bundle in bundles if bundle.topics[0].name == CLOCK for name in bundle.publishers]
    placed = layout(sizes, [edge for _, edge in arrows], first)
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="DejaVu Sans, Verdana, Helvetica, sans-serif">',
        _markers(),
        '<rect width="100%" height="100%" fill="white"/>',
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
    ]
    # Bold ones last, above the others.
    lines += [_path(route, arrow[0]) for route, arrow in zip(placed.routes[::-1], arrows[::-1], strict=True)]
    lines += [_node(node, placed.centres[i], sizes[i][0]) for i, node in enumerate(nodes)]
    for i, bundle in enumerate(bundles, start=len(nodes)):
        lines.append(_bundle(bundle, placed.centres[i], sizes[i]))
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _bundles(model: GraphModel) -> list[_Bundle]:
    known = {node.name for node in model.nodes}
    found: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[TopicEntry]] = {}
    for topic in model.topics:
        # A topic may have been asked for after a node had come that was not there when the nodes were.
        ends = tuple(sorted(known & set(topic.publishers))), tuple(sorted(known & set(topic.listeners)))
        if any(ends):
            found.setdefault((*ends, topic.name.endswith(_STEP)), []).append(topic)
    return [_Bundle(*key, tuple(topics)) for key, topics in found.items()]


# Text.


def _rate_text(topic: TopicEntry) -> str:
    if topic.rate_hz is None or topic.rate_hz == 0.0:
        return ""
    return f"{topic.rate_hz:.0f} Hz" if topic.rate_hz >= 10.0 else f"{topic.rate_hz:.2g} Hz"


def _columns(bundle: _Bundle) -> list[list[tuple[str, str]]]:
    """Name and rate of each topic, in one column or two."""
    rows = [(topic.name, _rate_text(topic)) for topic in bundle.topics]
    if len(rows) <= _ONE_COLUMN:
        return [rows]
    if len(rows) > 2 * _MOST_LINES:
        rows = [*rows[: 2 * _MOST_LINES - 1], (f"and {len(rows) - 2 * _MOST_LINES + 1} more", "")]
    half = (len(rows) + 1) // 2
    return [rows[:half], rows[half:]]


def _column_width(rows: Iterable[tuple[str, str]]) -> float:
    return max(len(f"{name}  {rate}" if rate else name) for name, rate in rows) * _TOPIC_SIZE * _LETTER


def _bundle_size(bundle: _Bundle) -> tuple[float, float]:
    columns = _columns(bundle)
    width = sum(_column_width(rows) for rows in columns) + 2 * _PADDING * len(columns)
    return width, _LINE_HEIGHT * len(columns[0]) + _PADDING


# Shapes.


def _markers() -> str:
    heads = [
        f'<marker id="head-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{size}" markerHeight="{size}" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{colour}"/></marker>'
        for name, colour, size in (("bold", _BOLD, 12), ("thin", _THIN, 9))
    ]
    return f"<defs>{''.join(heads)}</defs>"


def _path(route: Sequence[Point], heavy: bool) -> str:
    (x, y), *_ = route
    words = [f"M{x:.1f} {y:.1f}"]
    for i in range(1, len(route), 2):
        x, y = route[i]
        words.append(f"L{x:.1f} {y:.1f}")
        if i + 1 < len(route):
            to_x, to_y = route[i + 1]
            half = (y + to_y) / 2.0
            words.append(f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}")
    colour, stroke, name = (_BOLD, 2.6, "bold") if heavy else (_THIN, 1.1, "thin")
    return (
        f'<path d="{" ".join(words)}" fill="none" stroke="{colour}" stroke-width="{stroke}" '
        f'marker-end="url(#head-{name})"/>'
    )


def _node(node: NodeEntry, centre: Point, width: float) -> str:
    x, y = centre
    fill, edge = _COLOURS[node.health]
    told = f"{node.name}: {node.message}" if node.message else node.name
    return (
        f'<g class="node" data-name="{escape(node.name)}" data-health="{node.health.name}">'
        f"<title>{escape(told)}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{y - _NODE_HEIGHT / 2:.1f}" width="{width:.1f}" height="{_NODE_HEIGHT:g}" '
        f'rx="8" fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'
        f'<text x="{x:.1f}" y="{y + 5:.1f}" font-size="{_NAME_SIZE:g}" font-weight="bold" fill="{_INK}" '
        f'text-anchor="middle">{escape(node.name)}</text></g>'
    )


def _bundle(bundle: _Bundle, centre: Point, size: tuple[float, float]) -> str:
    x, y = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    colour = _BOLD if bundle.step else _FAINT
    titles = "\n".join(f"{topic.name} ({topic.type_name})" for topic in bundle.topics)
    parts = [
        f'<g class="topics"><title>{escape(titles)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" '
        f'height="{size[1]:.1f}" rx="4" fill="white" stroke="{colour}" stroke-width="{1.2 if bundle.step else 0.7}"/>'
    ]
    left = x + _PADDING
    for rows in _columns(bundle):
        right = left + _column_width(rows)
        for line, (name, rate) in enumerate(rows):
            base = y + _PADDING / 2 + _LINE_HEIGHT * (line + 0.75)
            weight = ' font-weight="bold"' if bundle.step else ""
            parts.append(
                f'<text x="{left:.1f}" y="{base:.1f}" font-size="{_TOPIC_SIZE:g}" fill="{colour}"{weight}>'
                f"{escape(name)}</text>"
            )
            if rate:
                parts.append(
                    f'<text x="{right:.1f}" y="{base:.1f}" font-size="{_TOPIC_SIZE - 1.5:g}" fill="{_FAINT}" '
                    f'text-anchor="end">{rate}</text>'
                )
        left = right + 2 * _PADDING
    return "".join([*parts, "</g>"])
