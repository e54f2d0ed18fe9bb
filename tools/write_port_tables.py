"""Write the joins into docs/nodes.md, and the ends of topics into docs/reference.md, from the ports of the nodes.

Run from the project's folder: `.venv/bin/python tools/write_port_tables.py`. A test compares the pages with this
output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from inspect import getdoc
from pathlib import Path
from typing import Any

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Input, Kind, Output, Service, examples_of
from rosflight_py_sim.step.topic_ends import nodes_at, parts_of
from rosflight_py_sim.step.topics import STEP_TOPICS, StepTopic

DOCS = Path(__file__).parents[1] / "docs"

OTHERS = "your programs"
"""Entry for topics without a publisher or a subscription in this package."""

HEADER = "| node | trigger | in lockstep waits for | before the first answer | answer | repeated answer |"

_WAITED_FOR = (Kind.SYNCHRONIZED, Kind.EXPECTED, Kind.ADMITTING)


def nodes_page(text: str) -> str:
    """Text of docs/nodes.md with the table of joins from the code."""
    before, _, after = text.partition(HEADER)
    _, rest = re.split(r"^(?!\|)", after.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)
    lines = "".join(f"| {names} | {' | '.join(cells)} |\n" for names, cells in rows())
    return f"{before}{HEADER}\n|---|---|---|---|---|---|\n{lines}{rest}"


def reference_page(text: str) -> str:
    """Text of docs/reference.md with the nodes at both ends of the step's topics from the code."""
    return "".join(map(_with_ends, text.splitlines(keepends=True)))


def _with_ends(line: str) -> str:
    """A line of docs/reference.md; in a row of the step's topics, the nodes are those of the code."""
    cells = line.split(" | ")
    topics = [_STEP_TOPICS.get(name) for name in re.findall(r"`([^`]+)`", cells[0])]
    if len(cells) != len(["topic", "type", "contents", "from", "to", "rate"]) or not topics or None in topics:
        return line
    return " | ".join((*cells[:3], *_ends(topics), cells[5]))


def _ends(topics: Sequence[StepTopic[Any]]) -> tuple[str, str]:
    """Nodes that publish topics, and nodes that receive them."""
    classes = [node_class(name) for name in NODE_CLASSES]
    ends = [nodes_at(topic, classes) for topic in topics]
    publishers, receivers = (dict.fromkeys(name for one in ends for name in one[k] or [OTHERS]) for k in (0, 1))
    return ", ".join(publishers), ", ".join(receivers)


_STEP_TOPICS = {row.name: row for row in STEP_TOPICS}


def rows() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Nodes of the step, and the cells of their row: those whose parts have the same join share one."""
    parts = [
        (name, part)
        for name in NODE_CLASSES
        for part in parts_of(node_class(name))
        if any(port.kind is Kind.TRIGGER for port in _inputs(part))
    ]
    joined = {port.topic for _, part in parts for port in _inputs(part) if port.kind is not Kind.EXPECTED}
    found: dict[tuple[str, ...], list[str]] = {}
    for name, part in parts:
        answer = [port for port in examples_of(part) if isinstance(port, Output) and port.topic in joined]
        if answer:
            found.setdefault(_cells(part, answer), []).append(name)
    for cells, names in found.items():
        name = node_class(names[0]).DEFAULT_NAME
        shared = sum(name == node_class(one[0]).DEFAULT_NAME for one in found.values()) > 1
        yield f"`{name}`" + (f" ({', '.join(names)})" if shared else ""), cells


def _inputs(part: type) -> list[Input[object]]:
    kinds = (Kind.TRIGGER, *_WAITED_FOR)
    return [port for port in examples_of(part) if isinstance(port, Input) and (port.kind in kinds or port.required)]


def _cells(part: type[Part], answer: list[Output[object]]) -> tuple[str, ...]:
    inputs = _inputs(part)
    triggers = [_item(part, port) for port in inputs if port.kind is Kind.TRIGGER]
    waited = [_item(part, port) for port in inputs if port.kind in _WAITED_FOR]
    calls = [_item(part, port) for port in examples_of(part) if isinstance(port, Service) and port.admits]
    required = [f"`{port.topic.name}`" for port in inputs if port.required]
    sent = [_item(part, port) for port in answer]
    again = part.answer_again
    repeated = "none" if again is Part.answer_again else _first(again).removeprefix("Send ").removesuffix(".")
    return (*map("; ".join, (triggers, [*waited, *calls], required, sent)), repeated)


def _item(part: type[Part], port: Input[object] | Output[object] | Service) -> str:
    """Topic or service of a port, and the condition under which it exists or delays the answer."""
    name = port.topic if isinstance(port, Service) else port.topic.name
    notes = []
    if port.when:
        notes.append(f"if {_first(getattr(part, port.when)).removeprefix('Whether ').removesuffix('.')}")
    if isinstance(port, Service):
        text = _first(port).removesuffix(".")
        notes.append(text[0].lower() + text[1:])
    elif isinstance(port, Input) and port.kind is Kind.EXPECTED:
        notes.append("while late")
    elif isinstance(port, Input) and port.rate:
        notes.append("outside of lockstep a timer")
    return f"`{name}`" + (f" ({', '.join(notes)})" if notes else "")


def _first(thing: object) -> str:
    """First line of a docstring."""
    return (getdoc(thing) or "").splitlines()[0]


if __name__ == "__main__":
    for name, page in (("nodes.md", nodes_page), ("reference.md", reference_page)):
        file = DOCS / name
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
