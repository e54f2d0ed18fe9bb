"""Panel with the node graph and the health of its nodes, opened on request."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import viser

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.viewer.graph_drawing import draw
from rosflight_py_sim.viewer.graph_model import GraphModel, Health, NodeEntry

_COLOURS = {
    Health.OK: "#1a7f37",
    Health.WARN: "#9a6700",
    Health.ERROR: "#cf222e",
    Health.STALE: "#6e40c9",
    Health.UNKNOWN: "#57606a",
}

_WAITING = '<p style="padding:1em">Discovering nodes ...</p>'

_WIDTH_PX = 860.0


class GraphPage:
    """Two tabs: the drawing, and a table of nodes.

    Attributes:
        requested: whether the panel is open; the graph is queried only then.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        """Add a checkbox at the current place, and the hidden panel."""
        self.requested = False
        self._box = gui.add_checkbox("Node graph", initial_value=False, hint="nodes, topics, rates and health")
        self._panel = gui.add_panel(visible=False)
        with self._panel.add_tab("Node graph", viser.Icon.TOPOLOGY_STAR_3):
            self._drawing = gui.add_html(_WAITING)
        with self._panel.add_tab("Health", viser.Icon.STETHOSCOPE):
            self._table = gui.add_html(_WAITING)
        self._panel.dock_left()
        self._panel.set_width(_WIDTH_PX)
        self._box.on_update(lambda _: self._request(self._box.value))

    def show(self, model: GraphModel) -> None:
        """Show the graph."""
        try:
            # Scaled to the panel; the drawing has a fixed size.
            drawing = draw(model).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
        except ParameterError as error:
            drawing = escape(str(error))
        self._drawing.content = f'<div style="background:white;padding:0.5em">{drawing}</div>'
        self._table.content = health_table(model)

    def _request(self, requested: bool) -> None:
        self.requested = requested
        self._panel.visible = requested


def health_table(model: GraphModel) -> str:
    """HTML of a table with a row for each node."""
    head = "".join(f"<th>{name}</th>" for name in ("node", "health", "in, Hz", "out, Hz", "load", "message"))
    rows = "".join(f"<tr>{''.join(_cells(node))}</tr>" for node in model.nodes)
    return (
        '<div style="padding:0.8em;font-size:0.85em;overflow-x:auto"><table style="border-spacing:0.9em 0.25em;'
        f'text-align:left">{head}{rows}</table></div>'
    )


def _cells(node: NodeEntry) -> Iterator[str]:
    health = "" if node.health is Health.UNKNOWN else node.health.name
    yield f"<td><b>{escape(node.name)}</b></td>"
    yield f'<td style="color:{_COLOURS[node.health]};font-weight:600">{health}</td>'
    for key, form in (("in (Hz)", "{:.0f}"), ("out (Hz)", "{:.0f}"), ("load", "{:.0%}")):
        number = node.report.number(key)
        yield f'<td style="text-align:right">{"" if number is None else form.format(number)}</td>'
    yield f"<td>{escape(node.message)}</td>"
