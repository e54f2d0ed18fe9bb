"""Command `rosflight_py_sim status`: shows nodes, rates and health of a running graph in the terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rosflight_py_sim.viewer.graph_drawing import dot_text, draw, mermaid_text
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry

if TYPE_CHECKING:
    from rosflight_py_sim.viewer.graph_watch import GraphWatch

_REDRAW_S = 0.5

# System times, s: without a change before the graph is shown (discovery after a lost packet takes 3 s), time limit for
# this and for the reports of all nodes, and time limit for the first node.
_SETTLE_S, _REPORT_TIMEOUT_S, _DISCOVERY_TIMEOUT_S = 3.5, 10.0, 6.0

_STYLES = {
    Health.OK: "green",
    Health.WARN: "yellow",
    Health.ERROR: "bold red",
    Health.STALE: "magenta",
    Health.UNKNOWN: "dim",
}


def add_status_parser(commands: Any) -> None:
    """Add `status` to the commands."""
    parser = commands.add_parser(
        "status",
        help="show nodes, rates and health of a running graph",
        description="Show the nodes of a running graph with their rates and health, twice a second until Ctrl-C.",
        epilog="Exit code with --once: 0 if all nodes are healthy, 1 if a node reports a problem or there is no node. "
        "Arguments after --ros-args are passed to ROS.",
    )
    parser.add_argument(
        "--once", action="store_true", help="print once and exit (default if the output is not a terminal)"
    )
    parser.add_argument("--json", action="store_true", help="print all data as JSON, one line per update")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw nodes and topics to an SVG file, once")
    parser.add_argument("--dot", type=Path, metavar="FILE", help="write the drawing in Graphviz's DOT language, once")
    parser.add_argument("--mermaid", type=Path, metavar="FILE", help="write the drawing as a Mermaid flowchart, once")
    parser.set_defaults(command=_status)


def _status(options: argparse.Namespace) -> int:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node

    from rosflight_py_sim.nodes.running import deferred_signals, initialise, refusals_of_ros
    from rosflight_py_sim.viewer.graph_watch import GraphWatch

    initialise([sys.argv[0], *options.ros_arguments])
    # ROS tools hide nodes whose name begins with an underscore.
    with refusals_of_ros():
        node = Node("_rosflight_py_sim_status", enable_rosout=False, start_parameter_services=False)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    console = Console()
    once = options.once or bool(_drawings(options)) or not (console.is_terminal or options.json)
    with deferred_signals() as signals:
        try:
            watch = GraphWatch(node)

            def spin_until(end: Callable[[], bool]) -> None:
                while not (signals or end()):
                    executor.spin_once(timeout_sec=0.1)

            code = _show_once(watch, spin_until, options, console) if once else 0
            if not once:
                _show(watch, spin_until, signals, options, console)
        finally:
            executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown()
    if signals:
        raise KeyboardInterrupt
    return code


def _show_once(
    watch: GraphWatch, spin_until: Callable[[Callable[[], bool]], None], options: argparse.Namespace, console: Console
) -> int:
    spin_until(_Settled(watch))
    model = watch.model()
    if not model.nodes:
        print(f"rosflight_py_sim: no nodes in {_domain()}; is a simulation running?", file=sys.stderr)
        return 1
    for path, drawing in _drawings(options).items():
        try:
            path.write_text(drawing(model), encoding="utf-8")
        except OSError as error:
            print(f"rosflight_py_sim: cannot write the drawing: {error}", file=sys.stderr)
            return 1
        print(f"drawing: {path.resolve()}", file=sys.stderr)
    if options.json:
        print(json.dumps(model.as_data()), flush=True)
    elif not _drawings(options):
        console.print(table(model))
    return 0 if model.well else 1


def _drawings(options: argparse.Namespace) -> dict[Path, Callable[[GraphModel], str]]:
    """Files to write, each with the function that creates its text."""
    drawings = ((options.svg, draw), (options.dot, dot_text), (options.mermaid, mermaid_text))
    return {path: drawing for path, drawing in drawings if path is not None}


def _show(
    watch: GraphWatch,
    spin_until: Callable[[Callable[[], bool]], None],
    signals: list[int],
    options: argparse.Namespace,
    console: Console,
) -> None:
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while not signals:
            due_s = time.monotonic() + (1.0 if options.json else _REDRAW_S)
            spin_until(lambda due_s=due_s: time.monotonic() > due_s)  # type: ignore[misc]
            model = watch.model()
            if options.json:
                print(json.dumps(model.as_data()), flush=True)
            else:
                live.update(table(model) if model.nodes else Text(f"no nodes in {_domain()} ..."), refresh=True)


class _Settled:
    """Whether the graph is settled and all reporting nodes have reported, or the time limit is reached."""

    def __init__(self, watch: GraphWatch) -> None:
        self._watch = watch
        self._names: list[str] = []
        now_s = time.monotonic()
        self._end_s, self._settled_s = now_s + _REPORT_TIMEOUT_S, now_s + _DISCOVERY_TIMEOUT_S

    def __call__(self) -> bool:
        now_s = time.monotonic()
        names = [node.name for node in self._watch.model().nodes]
        if names != self._names:
            self._names, self._settled_s = names, now_s + _SETTLE_S
        return now_s > self._end_s or (now_s > self._settled_s and not self._watch.unreported)


def _domain() -> str:
    return f"ROS domain {os.environ.get('ROS_DOMAIN_ID', '0')}"


def table(model: GraphModel) -> Group:
    """Table of the graph, for 80 columns and more."""
    shown = Table(box=None, pad_edge=False, expand=True, header_style="bold")
    for name, justify in (("node", "left"), ("health", "left"), ("in", "right"), ("out", "right"), ("load", "right")):
        shown.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    shown.add_column("message", ratio=1)
    for namespace, nodes in groupby(sorted(model.nodes, key=lambda node: _parts(node.name)), _namespace):
        if namespace != "/":
            shown.add_row(Text(namespace, style="bold"))
        for node in nodes:
            shown.add_row(*_row(node, model, "  " if namespace != "/" else ""))
    return Group(Text(_headline(model), style="bold"), shown)


def _parts(name: str) -> tuple[str, str]:
    namespace, _, alone = name.rpartition("/")
    return namespace, alone


def _namespace(node: NodeEntry) -> str:
    return _parts(node.name)[0] or "/"


def _row(node: NodeEntry, model: GraphModel, indent: str) -> Iterable[Text]:
    style = _STYLES[node.health]
    rates = [_number(node.report.number(key)) for key in ("in (Hz)", "out (Hz)")]
    load = node.report.number("load")
    yield Text(indent + _parts(node.name)[1])
    yield Text("-" if node.health is Health.UNKNOWN else node.health.name, style=style)
    yield from (Text(rate) for rate in rates)
    yield Text("" if load is None else f"{load:.0%}")
    yield Text(node.message or _ends(node, model), style="" if node.health is Health.OK else style)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _ends(node: NodeEntry, model: GraphModel) -> str:
    """Numbers of topics, for a node without a report."""
    published = sum(node.name in topic.publishers for topic in model.topics)
    subscribed = sum(node.name in topic.subscribers for topic in model.topics)
    return f"publishes {published}, subscribes to {_counted(subscribed, 'topic')}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _headline(model: GraphModel) -> str:
    parts = [f"{_counted(len(model.nodes), 'node')}, {_counted(len(model.topics), 'topic')}, {_domain()}"]
    for node in model.nodes:
        steps, step_ms = node.report.number("steps/s"), node.report.number("step median (ms)")
        factor = node.report.number("real-time factor")
        if steps is not None and factor is not None:
            of = f" of {step_ms:.2f} ms" if step_ms is not None else ""
            parts.append(f"{factor:.2f} x real time, {steps:.0f} steps/s{of}")
    return " · ".join(parts)
